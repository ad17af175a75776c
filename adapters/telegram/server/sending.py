"""The methods that show something in a chat."""

from __future__ import annotations

from adapters.telegram.server.api import Api, Method
from adapters.telegram.server.arguments import Arguments
from adapters.telegram.server.checks import MOST_CAPTION, keyboard_of, text_of
from adapters.telegram.server.refusals import Json, Refusal, bad_request
from adapters.telegram.server.world import Chat, Draft, File

MOST_UPLOAD = 50 * 2**20
MOST_PHOTO = 10 * 2**20
ACTIONS = frozenset(
    [
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
    ]
)
NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same as a current content "
    "and reply markup of the message"
)


def _send(api: Api, arguments: Arguments, content: Json) -> Json:
    chat = api.open_chat(arguments)
    topic, reply_to = api.topic(chat, arguments), api.replied(chat, arguments)
    if (keyboard := keyboard_of(arguments)) is not None:
        content["reply_markup"] = keyboard
    if arguments.flag("protect_content"):
        content["has_protected_content"] = True
    return api.world.write(chat, api.world.bot, content, reply_to, topic).data


def _worded(text: str, entities: list[Json], prefix: str = "") -> Json:
    key = prefix or "text"
    return ({key: text} if text else {}) | (
        {f"{prefix}_entities" if prefix else "entities": entities} if entities else {}
    )


def send_message(api: Api, arguments: Arguments) -> Json:
    """Show a text."""
    return _send(api, arguments, _worded(*text_of(arguments)))


def _uploaded(api: Api, arguments: Arguments, field: str, most: int) -> File:
    value = arguments.text(field)
    upload = arguments.files.get(value.removeprefix("attach://") if value else field)
    if upload is None:
        if not value:
            raise bad_request(f"there is no {field} in the request")
        if value not in api.world.files:
            raise bad_request("wrong file identifier/HTTP URL specified")
        return api.world.files[value]
    if len(upload.data) > most:
        raise Refusal(413, "Request Entity Too Large")
    if not upload.data:
        raise bad_request("file must be non-empty")
    return api.world.add_file(upload.name, upload.media_type, upload.data)


def send_document(api: Api, arguments: Arguments) -> Json:
    """Show a file."""
    caption = _worded(*text_of(arguments, "caption", MOST_CAPTION), "caption")
    api.open_chat(arguments)
    file = _uploaded(api, arguments, "document", MOST_UPLOAD)
    named = {"file_name": file.name, "mime_type": file.media_type}
    return _send(api, arguments, {"document": file.shape() | named} | caption)


def send_photo(api: Api, arguments: Arguments) -> Json:
    """Show a picture."""
    caption = _worded(*text_of(arguments, "caption", MOST_CAPTION), "caption")
    api.open_chat(arguments)
    file = _uploaded(api, arguments, "photo", MOST_PHOTO)
    return _send(api, arguments, {"photo": [file.shape() | {"width": 90, "height": 90}]} | caption)


def send_chat_action(api: Api, arguments: Arguments) -> bool:
    """Show that the bot is typing, or the like."""
    action = arguments.text("action")
    if action not in ACTIONS:
        raise bad_request("wrong parameter action in request")
    chat = api.open_chat(arguments)
    api.world.actions.append((chat, action, api.topic(chat, arguments)))
    api.world.changed.ring()
    return True


def send_message_draft(api: Api, arguments: Arguments) -> bool:
    """Show a message that is still being made; for private chats, and gone when the message is sent."""
    draft_id = arguments.integer("draft_id")
    text, _ = text_of(arguments) if arguments.text("text") else ("", [])
    chat = api.open_chat(arguments)
    if not chat.is_private:
        raise bad_request("TEXTDRAFT_PEER_INVALID")
    if not draft_id:
        raise bad_request("TEXTDRAFT_ID_INVALID")
    api.topic(chat, arguments)
    chat.draft = Draft(draft_id, text, api.world.clock())
    chat.drafts.append(chat.draft)
    api.world.changed.ring()
    return True


def edit_message_text(api: Api, arguments: Arguments) -> Json:
    """Put another text into the bot's own message; without buttons in the call its buttons go."""
    text, entities = text_of(arguments)
    chat = api.open_chat(arguments)
    message = api.own_message(chat, arguments, "edit")
    if "text" not in message.data:
        raise bad_request("there is no text in the message to edit")
    content = _worded(text, entities) | _keyboard(arguments)
    names = ("text", "entities", "reply_markup")
    if content == {name: message.data[name] for name in names if name in message.data}:
        raise bad_request(NOT_MODIFIED)
    api.world.rewrite(message, content, drop=names)
    return message.data


def edit_message_caption(api: Api, arguments: Arguments) -> Json:
    """Put other words under the bot's own file."""
    content = _worded(*text_of(arguments, "caption", MOST_CAPTION), "caption") | _keyboard(arguments)
    message = api.own_message(api.open_chat(arguments), arguments, "edit")
    names = ("caption", "caption_entities", "reply_markup")
    if content == {name: message.data[name] for name in names if name in message.data}:
        raise bad_request(NOT_MODIFIED)
    api.world.rewrite(message, content, drop=names)
    return message.data


def edit_message_reply_markup(api: Api, arguments: Arguments) -> Json:
    """Put other buttons under the bot's own message."""
    message = api.own_message(api.open_chat(arguments), arguments, "edit")
    content = _keyboard(arguments)
    if content.get("reply_markup") == message.data.get("reply_markup"):
        raise bad_request(NOT_MODIFIED)
    api.world.rewrite(message, content, drop=["reply_markup"])
    return message.data


def _keyboard(arguments: Arguments) -> Json:
    keyboard = keyboard_of(arguments)
    return {} if keyboard is None else {"reply_markup": keyboard}


def delete_message(api: Api, arguments: Arguments) -> bool:
    """Take a message away: the bot's own, in a private chat also the person's, in a group as an administrator."""
    chat = api.chat(arguments)
    message = chat.by_id.get(arguments.integer("message_id"))
    if message is None:
        raise bad_request("message to delete not found")
    if not (message.by_bot or _may_delete(api, chat)):
        raise bad_request("message can't be deleted")
    del chat.by_id[message.id]
    api.world.changed.ring()
    return True


def _may_delete(api: Api, chat: Chat) -> bool:
    return chat.is_private or chat.members.get(api.world.bot.id) == "administrator"


def answer_callback_query(api: Api, arguments: Arguments) -> bool:
    """Answer the press of a button; once, and in time."""
    query = arguments.text("callback_query_id")
    if query not in api.world.queries or api.world.queries[query] is not None:
        raise bad_request("query is too old and response timeout expired or query ID is invalid")
    if len(arguments.text("text")) > 200:
        raise bad_request("MESSAGE_TOO_LONG")
    api.world.queries[query] = dict(arguments.values)
    api.world.changed.ring()
    return True


METHODS: dict[str, Method] = {
    "sendMessage": send_message,
    "sendDocument": send_document,
    "sendPhoto": send_photo,
    "sendChatAction": send_chat_action,
    "sendMessageDraft": send_message_draft,
    "editMessageText": edit_message_text,
    "editMessageCaption": edit_message_caption,
    "editMessageReplyMarkup": edit_message_reply_markup,
    "deleteMessage": delete_message,
    "answerCallbackQuery": answer_callback_query,
}
LIMITED = frozenset(name for name in METHODS if name.startswith(("sendMessage", "sendD", "sendP", "edit"))) - {
    "sendMessageDraft"
}
