"""The methods that ask or set how the bot and its chats are, and those that bring updates."""

from __future__ import annotations

from urllib.parse import urlsplit

from adapters.telegram.server.api import Api, Method
from adapters.telegram.server.arguments import Arguments
from adapters.telegram.server.checks import commands_of, language_of, scope_of
from adapters.telegram.server.refusals import Json, bad_request, conflict
from adapters.telegram.server.shapes import member_shape
from adapters.telegram.server.world import Chat

MOST_DOWNLOAD = 20 * 2**20
FULL_CHAT = {
    "accent_color_id": 0,
    "max_reaction_count": 11,
    "accepted_gift_types": dict.fromkeys(
        ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels"), False
    ),
}


def get_me(api: Api, _: Arguments) -> Json:
    """Tell who the bot is."""
    return api.world.bot.shape() | {
        "can_join_groups": True,
        "can_read_all_group_messages": not api.world.privacy,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
    }


async def get_updates(api: Api, arguments: Arguments) -> list[Json]:
    """Give updates, waiting for them."""
    if api.webhook.url:
        raise conflict(
            "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
        )
    api.updates.allow(arguments.json("allowed_updates"))
    limit = min(max(arguments.integer("limit", 100), 1), 100)
    return await api.updates.poll(arguments.integer("offset"), limit, min(arguments.integer("timeout"), 50))


async def set_webhook(api: Api, arguments: Arguments) -> bool:
    """Have updates posted to an address."""
    url = arguments.text("url")
    if url and not urlsplit(url).netloc:
        raise bad_request("bad webhook: invalid webhook URL specified")
    _drop_pending(api, arguments)
    api.updates.allow(arguments.json("allowed_updates"))
    await api.webhook.set(url, arguments.text("secret_token"), arguments.integer("max_connections", 40))
    return True


async def delete_webhook(api: Api, arguments: Arguments) -> bool:
    """Stop posting."""
    await api.webhook.stop()
    _drop_pending(api, arguments)
    return True


def _drop_pending(api: Api, arguments: Arguments) -> None:
    if arguments.flag("drop_pending_updates"):
        api.updates.forget_all()


def get_webhook_info(api: Api, _: Arguments) -> Json:
    """Tell how posting goes."""
    info: Json = {
        "url": api.webhook.url,
        "has_custom_certificate": False,
        "pending_update_count": len(api.updates.pending),
    }
    if api.webhook.last_error:
        info |= {"last_error_date": int(api.world.clock()), "last_error_message": api.webhook.last_error}
    return info


def get_file(api: Api, arguments: Arguments) -> Json:
    """Tell where a file can be fetched."""
    file = api.world.files.get(arguments.text("file_id"))
    if file is None:
        raise bad_request("wrong file_id or the file is temporarily unavailable")
    if file.size > MOST_DOWNLOAD:
        raise bad_request("file is too big")
    return file.shape() | {"file_path": f"documents/{file.id}"}


def get_chat(api: Api, arguments: Arguments) -> Json:
    """Tell about a chat."""
    chat = api.chat(arguments)
    if chat.user and not chat.user.started:
        raise bad_request("chat not found")
    linked = {"linked_chat_id": chat.linked.id} if chat.linked else {}
    return chat.shape() | FULL_CHAT | linked


def get_chat_member(api: Api, arguments: Arguments) -> Json:
    """Tell what somebody is in a chat."""
    chat, user = api.chat(arguments), api.world.users.get(arguments.integer("user_id"))
    if user is None:
        raise bad_request("invalid user_id specified")
    return member_shape(user, _status(chat, user.id))


def _status(chat: Chat, user_id: int) -> str:
    return "member" if chat.user and chat.user.id == user_id else chat.members.get(user_id, "left")


def get_chat_administrators(api: Api, arguments: Arguments) -> list[Json]:
    """Tell who runs a group."""
    chat = api.chat(arguments)
    if chat.is_private:
        raise bad_request("there are no administrators in the private chat")
    found = [(api.world.users[number], status) for number, status in chat.members.items()]
    return [member_shape(user, status) for user, status in found if status in ("creator", "administrator")]


def leave_chat(api: Api, arguments: Arguments) -> bool:
    """Leave a group."""
    api.chat(arguments).members[api.world.bot.id] = "left"
    return True


def set_my_commands(api: Api, arguments: Arguments) -> bool:
    """Set the menu of a scope and language."""
    api.world.commands[scope_of(arguments), language_of(arguments)] = commands_of(arguments)
    return True


def get_my_commands(api: Api, arguments: Arguments) -> list[Json]:
    """Tell the menu of exactly a scope and language."""
    return api.world.commands.get((scope_of(arguments), language_of(arguments)), [])


def delete_my_commands(api: Api, arguments: Arguments) -> bool:
    """Take the menu of a scope and language away."""
    api.world.commands.pop((scope_of(arguments), language_of(arguments)), None)
    return True


def _setter(field: str, most: int) -> Method:
    def set_text(api: Api, arguments: Arguments) -> bool:
        if len(arguments.text(field)) > most:
            raise bad_request(f"{field.upper()}_TOO_LONG")
        api.world.texts[field, language_of(arguments)] = arguments.text(field)
        return True

    return set_text


def _getter(field: str) -> Method:
    def get_text(api: Api, arguments: Arguments) -> Json:
        language, texts = language_of(arguments), api.world.texts
        return {field: texts.get((field, language)) or texts.get((field, ""), "")}

    return get_text


def _done(_: Api, __: Arguments) -> bool:
    return True


METHODS: dict[str, Method] = {
    "getMe": get_me,
    "getUpdates": get_updates,
    "setWebhook": set_webhook,
    "deleteWebhook": delete_webhook,
    "getWebhookInfo": get_webhook_info,
    "getFile": get_file,
    "getChat": get_chat,
    "getChatMember": get_chat_member,
    "getChatAdministrators": get_chat_administrators,
    "leaveChat": leave_chat,
    "setMyCommands": set_my_commands,
    "getMyCommands": get_my_commands,
    "deleteMyCommands": delete_my_commands,
    "setMyName": _setter("name", 64),
    "getMyName": _getter("name"),
    "setMyDescription": _setter("description", 512),
    "getMyDescription": _getter("description"),
    "setMyShortDescription": _setter("short_description", 120),
    "getMyShortDescription": _getter("short_description"),
    "setChatMenuButton": _done,
    "setMessageReaction": _done,
    "logOut": _done,
    "close": _done,
}
