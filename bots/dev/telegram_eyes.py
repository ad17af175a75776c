"""What the people of the terminal see on the Telegram test server: what is new, each time it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from adapters.telegram.server import Chat, Message, TelegramServer
from adapters.telegram.server.world import File
from bots.dev.eyes import News


class Eyes:
    """Looks at every chat the bot writes to. What was seen is told again only when it has changed."""

    def __init__(self, server: TelegramServer) -> None:
        self._server = server
        self._news = News()

    def news(self) -> list[str]:
        """Tell each new or changed message of the bot, oldest first."""
        return [told for chat in self._chats() for message in chat.from_bot if (told := self._told(message))]

    def growing(self) -> str:
        """Give the words the bot is writing just now, as far as they can be seen."""
        drafts = (chat.draft.text for chat in self._chats() if chat.draft)
        unseen = (m.text for chat in self._chats() for m in chat.from_bot if not self._news.knows((chat.id, m.id)))
        return next(drafts, "") or next(unseen, "")

    def with_buttons(self) -> Message:
        """Find the bot's last message with buttons. Raises LookupError."""
        return self._last("a button", lambda message: bool(message.buttons))

    def file(self) -> File:
        """Find the file of the bot's last message with one. Raises LookupError."""
        message = self._last("a file", lambda message: "document" in message.data)
        return self._server.api.world.files[message.data["document"]["file_id"]]

    def _last(self, what: str, fits: Callable[[Message], bool]) -> Message:
        found = [message for chat in self._chats() for message in chat.from_bot if fits(message)]
        if not found:
            raise LookupError(f"no message of the bot has {what}")
        return max(found, key=lambda message: message.at)

    def _chats(self) -> list[Chat]:
        return list(self._server.api.world.chats.values())

    def _told(self, message: Message) -> str:
        who = f"{self._server.bot.first_name}{self._where(message)}"
        return self._news.told((message.chat.id, message.id), who, _lines(message))

    def _where(self, message: Message) -> str:
        """Say to whom a message went, where there is a group beside the private chats."""
        has_group = any(not chat.is_private for chat in self._chats())
        return f" (to {message.chat.user.first_name} alone)" if message.chat.user and has_group else ""


def _lines(message: Message) -> Iterator[str]:
    if message.text:
        yield message.text
    if document := message.data.get("document"):
        yield f"[file {document['file_name']}, {document['file_size']} bytes; :save keeps it]"
    for number, button in enumerate(message.buttons, 1):
        yield f"  [{number}] {button['text']}{' ' + button['url'] if 'url' in button else ''}"
