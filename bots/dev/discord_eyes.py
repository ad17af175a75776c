"""What the people of the terminal see on the Discord test server: what is new, each time it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from adapters.discord.server import Channel, DiscordServer, File, Message, Using
from bots.dev.eyes import News


class Eyes:
    """Looks at every channel the bot writes to, and at the forms that it opens."""

    def __init__(self, server: DiscordServer) -> None:
        self._server = server
        self._news = News()

    def news(self) -> list[str]:
        """Tell each new or changed message of the bot, each form, and each use that it did not answer."""
        told = [self._told(message) for channel in self._channels() for message in channel.from_bot]
        return [text for text in [*told, *map(self._told_use, self._server.api.uses.values())] if text]

    def growing(self) -> str:
        """Give the words the bot is writing just now, as far as they can be seen."""
        unseen = (m.text for c in self._channels() for m in c.from_bot if not self._news.knows((c.id, m.id)))
        return next(unseen, "")

    def with_buttons(self) -> Message:
        """Find the bot's last message with buttons. Raises LookupError."""
        return self._last("a button", lambda message: bool(message.buttons))

    def with_choices(self) -> Message:
        """Find the bot's last message with something to choose from. Raises LookupError."""
        return self._last("something to choose from", lambda message: bool(message.selects))

    def file(self) -> File:
        """Find the file of the bot's last message with one. Raises LookupError."""
        return self._last("a file", lambda message: bool(message.files)).files[-1]

    def form(self) -> Using:
        """Find the form that the bot opened last. Raises LookupError."""
        opened = [using for using in self._server.api.uses.values() if using.modal]
        if not opened:
            raise LookupError("the bot has opened no form")
        return opened[-1]

    def _last(self, what: str, fits: Callable[[Message], bool]) -> Message:
        found = [message for channel in self._channels() for message in channel.from_bot if fits(message)]
        if not found:
            raise LookupError(f"no message of the bot has {what}")
        return max(found, key=lambda message: (message.edited_at or message.at, message.id))

    def _channels(self) -> list[Channel]:
        return list(self._server.api.world.channels.values())

    def _told(self, message: Message) -> str:
        if message.is_loading:
            return ""
        who = f"{self._server.bot.name}{self._where(message)}"
        return self._news.told((message.channel.id, message.id), who, _lines(message))

    def _where(self, message: Message) -> str:
        """Say where a message went, where there are several places, and who alone sees it."""
        person = message.seen_by or message.channel.recipient
        if person is not None and (message.seen_by or self._server.api.world.guilds):
            return f" (to {person.display_name} alone)"
        return f" (in {message.channel.name})" if message.channel.is_thread else ""

    def _told_use(self, using: Using) -> str:
        if using.modal:
            return self._news.told(using.id, f"A form, {using.modal['title']}", _fields(using.modal["components"]))
        if using.is_late(self._server.api.world.clock()):
            return self._news.told(using.id, "Discord", ["The application did not respond."])
        return ""


def _lines(message: Message) -> Iterator[str]:
    if message.text:
        yield message.text
    for file in message.files:
        yield f"[file {file.name}, {file.size} bytes; :save keeps it]"
    for number, button in enumerate(message.buttons, 1):
        yield f"  [{number}] {button.get('label', '')}{' ' + button['url'] if 'url' in button else ''}"
    options = (option for select in message.selects for option in select.get("options", []))
    for number, option in enumerate(options, 1):
        yield f"  ({number}) {option['label']}"


def _fields(parts: list[dict[str, object]]) -> Iterator[str]:
    for label, field in fields_of(parts):
        yield f"  {label}: {field.get('value') or ''}".rstrip()
    yield "  :fill WORDS sends it, with | between its fields"


def fields_of(parts: list[dict[str, object]]) -> Iterator[tuple[str, dict[str, object]]]:
    """Give the fields of a form, with what stands before each."""
    for part in parts:
        inside = part.get("components") or [part.get("component")]
        for field in inside if isinstance(inside, list) else []:
            if field:
                yield str(part.get("label") or field.get("label") or field["custom_id"]), field
