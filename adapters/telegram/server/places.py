"""What a test or the terminal does to people and chats."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.telegram.server.api import Api
from adapters.telegram.server.refusals import Json
from adapters.telegram.server.shapes import member_change
from adapters.telegram.server.world import Chat, Message, User

PRESENT = ("member", "administrator", "creator", "restricted")


class Places:
    """Makes people and chats, and changes who is in them."""

    api: Api

    def person(self, name: str, username: str = "", language: str = "en", started: bool = True, id: int = 0) -> User:
        """Let a person be there, who has or has not started the bot."""
        user = User(id or self.api.world.number("user"), name, "", username, language, started=started)
        self.api.world.add_user(user)
        return user

    def private(self, user: User) -> Chat:
        """Give a person's chat with the bot."""
        return self.api.world.chats[user.id]

    def chat(self, chat: int | str | Chat | User) -> Chat:
        """Find a chat by its id or @name; a person stands for their private chat. Raises KeyError."""
        if isinstance(chat, Chat):
            return chat
        found = self.api.world.find_chat(chat.id if isinstance(chat, User) else chat)
        if found is None:
            raise KeyError(chat)
        return found

    def group(self, title: str, members: Sequence[User] = (), bot: bool = True) -> Chat:
        """Let a basic group be there; the first member created it."""
        return self._gather(Chat(-self.api.world.number("group"), "group", title), members, "member" if bot else "")

    def supergroup(
        self, title: str, members: Sequence[User] = (), bot: bool = True, forum: bool = False, username: str = ""
    ) -> Chat:
        """Let a supergroup be there, with topics if it is a forum; the first member created it."""
        chat = Chat(-self.api.world.number("supergroup"), "supergroup", title, username, is_forum=forum)
        return self._gather(chat, members, "member" if bot else "")

    def channel(
        self, title: str, members: Sequence[User] = (), bot: bool = False, discussion: Chat | None = None
    ) -> Chat:
        """Let a channel be there, its posts perhaps copied to a discussion group; the bot runs it or is absent."""
        chat = Chat(-self.api.world.number("channel"), "channel", title)
        if discussion:
            chat.linked, discussion.linked = discussion, chat
        return self._gather(chat, members, "administrator" if bot else "")

    def _gather(self, chat: Chat, members: Sequence[User], bot: str) -> Chat:
        chat.members = {user.id: "member" for user in members}
        if members:
            chat.members[members[0].id] = "creator"
        if bot:
            chat.members[self.api.world.bot.id] = bot
        return self.api.world.add_chat(chat)

    def topic(self, chat: Chat, name: str, by: User) -> int:
        """Open a topic in a forum; gives its thread id."""
        message = self.api.world.write(chat, by, {"forum_topic_created": {"name": name, "icon_color": 7322096}})
        message.data |= {"message_thread_id": message.id, "is_topic_message": True}
        chat.topics[message.id] = message
        self.deliver(message)
        return message.id

    def close_topic(self, chat: Chat, topic: int) -> None:
        """Close a topic: nobody may write there."""
        chat.closed_topics.add(topic)

    def delete_topic(self, chat: Chat, topic: int) -> None:
        """Delete a topic with what was said in it."""
        del chat.topics[topic]
        chat.by_id = {number: message for number, message in chat.by_id.items() if message.topic != topic}
        self.api.world.changed.ring()

    def set_status(self, chat: Chat, user: User, status: str, by: User | None = None) -> None:
        """Make somebody a member, administrator, restricted, left or kicked; the bot is told."""
        old, chat.members[user.id] = chat.members.get(user.id, "left"), status
        kind = "my_chat_member" if user is self.api.world.bot else "chat_member"
        self.api.updates.put(kind, member_change(chat, by or user, user, old, status, self.now))
        if old not in PRESENT and status in PRESENT:
            self._notice(chat, by or user, {"new_chat_members": [user.shape()]})
        elif status not in PRESENT and user is not self.api.world.bot:
            self._notice(chat, by or user, {"left_chat_member": user.shape()})

    def add_bot(self, chat: Chat, by: User, status: str = "member") -> None:
        """Add the bot to a group."""
        self.set_status(chat, self.api.world.bot, status, by)

    def remove_bot(self, chat: Chat, by: User) -> None:
        """Throw the bot out of a group."""
        self.set_status(chat, self.api.world.bot, "kicked", by)

    def block(self, user: User) -> None:
        """Let a person block the bot."""
        self._block(user, True)

    def unblock(self, user: User) -> None:
        """Let a person take the bot back."""
        self._block(user, False)

    def _block(self, user: User, blocked: bool) -> None:
        if user.blocked != blocked:
            user.blocked = blocked
            states = ("member", "kicked") if blocked else ("kicked", "member")
            change = member_change(self.private(user), user, self.api.world.bot, *states, self.now)
            self.api.updates.put("my_chat_member", change)

    def migrate(self, chat: Chat, by: User, notices: Sequence[str] = ("to", "from")) -> Chat:
        """Let a group become a supergroup, which is a new chat; the bot gets these notices, in this order."""
        upgraded = Chat(-self.api.world.number("supergroup"), "supergroup", chat.title, members=dict(chat.members))
        self.api.world.add_chat(upgraded)
        for notice in notices:
            place, other = (chat, upgraded) if notice == "to" else (upgraded, chat)
            self._notice(place, by, {f"migrate_{notice}_chat_id": other.id})
        chat.migrated_to = upgraded.id
        return upgraded

    def menu(self, user: User, chat: Chat | User) -> list[Json]:
        """Give the commands a person sees, found as the Bot API says: the narrowest scope, first in their language."""
        place = self.chat(chat)
        found = self.api.world.commands
        for scope in _scopes(user, place):
            for language in (user.language.partition("-")[0], ""):
                if commands := found.get((scope, language)):
                    return commands
        return []

    @property
    def now(self) -> int:
        """The time in whole seconds, as Telegram writes it."""
        return int(self.api.world.clock())

    def _notice(self, chat: Chat, by: User, content: Json) -> None:
        self.deliver(self.api.world.write(chat, by, content))

    def deliver(self, message: Message, edited: bool = False) -> Message:
        """Let the bot know of a message, if Telegram would."""
        if self._is_told(message):
            kind = "channel_post" if message.chat.type == "channel" else "message"
            self.api.updates.put(f"edited_{kind}" if edited else kind, message.data)
        return message

    def _is_told(self, message: Message) -> bool:
        chat, bot = message.chat, self.api.world.bot
        if chat.user:
            return not chat.user.blocked
        status = chat.members.get(bot.id, "left")
        if status not in PRESENT:
            return "left_chat_member" in message.data
        return not self.api.world.privacy or status == "administrator" or self._is_addressed(message)

    def _is_addressed(self, message: Message) -> bool:
        """Tell whether the bot sees it in privacy mode: https://core.telegram.org/bots/features#privacy-mode."""
        replied = message.data.get("reply_to_message", {}).get("from", {}).get("id")
        name = f"@{self.api.world.bot.username}".lower()
        is_service = "text" not in message.data and "caption" not in message.data and "from" in message.data
        is_command = message.text.startswith("/") and (
            "@" not in message.text.split()[0] or name in message.text.lower()
        )
        return is_service or is_command or replied == self.api.world.bot.id or name in message.text.lower()


def _scopes(user: User, chat: Chat) -> list[str]:
    if chat.is_private:
        return [f'["chat", {chat.id}]', '["all_private_chats"]', '["default"]']
    is_admin = chat.members.get(user.id) in ("administrator", "creator")
    admins = [f'["chat_administrators", {chat.id}]'] if is_admin else []
    all_admins = ['["all_chat_administrators"]'] if is_admin else []
    member = f'["chat_member", {chat.id}, {user.id}]'
    return [member, *admins, f'["chat", {chat.id}]', *all_admins, '["all_group_chats"]', '["default"]']
