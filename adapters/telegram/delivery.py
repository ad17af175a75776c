"""Showing messages on Telegram: formatted, streamed, once."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from telegram import (
    Bot,
    InlineKeyboardMarkup,
    InputFile,
    LinkPreviewOptions,
    ReplyParameters,
)
from telegram.error import BadRequest, ChatMigrated, TelegramError

from adapters.telegram import sentences
from adapters.telegram.buttons import Buttons, link
from adapters.telegram.formatting import CAPTION, LIMIT, Formatted, clean, clipped, formatted
from adapters.telegram.moves import Moves
from adapters.telegram.trouble import says, trouble
from core.adapter import Outgoing
from core.errors import Refused, Unreachable
from core.messages import Attachment, ChatKey
from core.text.splitting import utf16_length
from core.translation import spoken

logger = logging.getLogger("keepmind.telegram")
T = TypeVar("T")
DRAFT = "draft "
_CHATS = 10_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message goes: chat, topic, and the message it answers."""

    chat: int
    topic: int | None = None
    reply_to: int | None = None

    @property
    def private(self) -> bool:
        """Whether it is one person's own chat, whose id is theirs."""
        return self.chat > 0

    @property
    def reply(self) -> ReplyParameters | None:
        """The reply link, left out by Telegram when the message has been deleted."""
        return ReplyParameters(self.reply_to, allow_sending_without_reply=True) if self.reply_to else None


def place_of(chat: ChatKey, reply_to: str = "") -> Place:
    """Read a chat's key; what is answered is linked only when it is a message."""
    topic = int(chat.topic) if chat.topic else None
    return Place(int(chat.chat), topic, int(reply_to) if reply_to.isdecimal() else None)


class Sender:
    """Sends and edits. Every error it raises is one of core's.

    In private chats previews are drafts while the platform takes them: a draft is no message, so its end is sent.
    `group_pace` is the least number of seconds between two changes of a preview in a group.
    """

    def __init__(
        self,
        bot: Bot,
        moves: Moves,
        buttons: Buttons,
        group_pace: float = 4.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.username = ""
        self._bot, self._moves, self._buttons, self._now = bot, moves, buttons, now
        self._group_pace = group_pace
        self._drafts = True
        self._last: dict[int, float] = {}

    async def send(self, out: Outgoing) -> str:
        """Send a message; give its id."""
        place = place_of(out.chat, out.reply_to)
        if not out.final:
            return await self._begin(place, out)
        if _is_private_elsewhere(place, out):
            return await self._send_privately(place, out)
        return await self._send(place, out)

    async def edit(self, message_id: str, out: Outgoing) -> None:
        """Put a message in the place of one sent before."""
        place = place_of(out.chat)
        if message_id.startswith(DRAFT):
            if out.final:
                raise Refused("a draft gives way to the message itself")
            await self._draft(place, int(message_id.removeprefix(DRAFT)), out.text)
        elif out.final:
            away = out.only_for if _is_private_elsewhere(place, out) else None
            await self._edit(Place(int(away.user)) if away else place, int(message_id), out)
        elif self._is_due(place):
            await self._put(place, int(message_id), Formatted(clipped(out.text)), None)

    async def typing(self, chat: ChatKey) -> None:
        """Show that the bot is typing, in the topic; a failure is passed over."""
        place = place_of(chat)
        with suppress(TelegramError):
            await self._bot.send_chat_action(self._moves.now(place.chat), "typing", message_thread_id=place.topic)

    async def _begin(self, place: Place, out: Outgoing) -> str:
        draft = int(out.nonce.partition(".")[0] or 0)
        if place.private and self._drafts and draft:
            try:
                await self._draft(place, draft, out.text)
            except Refused:  # an older server, or not for this bot
                self._drafts = False
            else:
                return f"{DRAFT}{draft}"
        return await self._say(place, Formatted(clipped(out.text)))

    async def _draft(self, place: Place, draft: int, text: str) -> None:
        shown = clipped(text)
        await self._call(
            place, lambda chat: self._bot.send_message_draft(chat, draft, shown, message_thread_id=place.topic)
        )

    async def _send(self, place: Place, out: Outgoing) -> str:
        markup = await self._buttons.keyboard(out, place.chat)
        if out.file is not None:
            return await self._send_file(place, out.file, out.text, markup)
        return await self._shown(out.text, lambda shown: self._say(place, shown, markup))

    async def _send_privately(self, place: Place, out: Outgoing) -> str:
        """Send to the one person who may see it; one who has not started the bot gets a link in the group."""
        assert out.only_for is not None
        try:
            return await self._send(Place(int(out.only_for.user)), out)
        except Unreachable:
            url = f"https://t.me/{self.username}?start=private"
            await self._say(place, Formatted(spoken(sentences.IN_PRIVATE)), link(spoken(sentences.OPEN_PRIVATE), url))
            raise

    async def _send_file(self, place: Place, file: Attachment, text: str, markup: InlineKeyboardMarkup | None) -> str:
        shown = formatted(text) if text.strip() else Formatted("")
        if utf16_length(shown.text) > CAPTION:
            await self._shown(text, lambda one: self._say(place, one))
            shown = Formatted("")
        document = InputFile(file.data or file.text.encode("utf-8", "replace"), filename=file.name or "file.txt")
        sent = await self._call(
            place,
            lambda chat: self._bot.send_document(
                chat,
                document,
                caption=shown.text or None,
                caption_entities=shown.entities,
                message_thread_id=place.topic,
                reply_parameters=place.reply,
                reply_markup=markup,
            ),
        )
        return str(sent.message_id)

    async def _edit(self, place: Place, message_id: int, out: Outgoing) -> None:
        markup = await self._buttons.keyboard(out, place.chat)
        await self._shown(out.text, lambda shown: self._put(place, message_id, shown, markup))

    async def _shown(self, text: str, show: Callable[[Formatted], Awaitable[T]]) -> T:
        """Show a text formatted, and when that is refused once more plain."""
        shown = formatted(text)
        try:
            return await show(shown)
        except Refused as error:
            plain = unformatted(text, shown)
            if plain == shown or "edit" in str(error).lower():
                raise
            return await show(plain)

    async def _say(self, place: Place, shown: Formatted, markup: InlineKeyboardMarkup | None = None) -> str:
        sent = await self._call(
            place,
            lambda chat: self._bot.send_message(
                chat,
                shown.text,
                entities=shown.entities,
                message_thread_id=place.topic,
                reply_parameters=place.reply,
                reply_markup=markup,
                link_preview_options=_NO_PREVIEW,
            ),
        )
        return str(sent.message_id)

    async def _put(self, place: Place, message_id: int, shown: Formatted, markup: InlineKeyboardMarkup | None) -> None:
        async def put(chat: int) -> None:
            try:
                await self._bot.edit_message_text(
                    shown.text,
                    chat,
                    message_id,
                    entities=shown.entities,
                    reply_markup=markup,
                    link_preview_options=_NO_PREVIEW,
                )
            except BadRequest as error:
                if not says(error, "message is not modified"):
                    raise

        await self._call(place, put)

    async def _call(self, place: Place, call: Callable[[int], Awaitable[T]]) -> T:
        """Call Telegram. Raises core's errors only."""
        self._note(place)
        try:
            return await self._follow(place.chat, call)
        except TelegramError as error:
            raise trouble(error) from error

    async def _follow(self, chat: int, call: Callable[[int], Awaitable[T]]) -> T:
        """Call Telegram about a chat, and once more about the supergroup that it turns out to have become."""
        try:
            return await call(self._moves.now(chat))
        except ChatMigrated as error:
            self._moves.found(chat, error.new_chat_id)
            return await call(error.new_chat_id)

    def _note(self, place: Place) -> None:
        if not place.private:
            self._last.pop(place.chat, None)
            self._last[place.chat] = self._now()
            if len(self._last) > _CHATS:
                del self._last[next(iter(self._last))]

    def _is_due(self, place: Place) -> bool:
        """Tell whether a preview may change again; the next change will show what this one would have."""
        last = self._last.get(place.chat)
        return place.private or last is None or self._now() - last >= self._group_pace


def _is_private_elsewhere(place: Place, out: Outgoing) -> bool:
    """Tell whether a message goes to one person's own chat instead of the place it belongs to."""
    return out.only_for is not None and str(place.chat) != out.only_for.user


def unformatted(text: str, shown: Formatted) -> Formatted:
    """Give a text as it was written if that fits, else as it would be shown, with nothing formatted."""
    written = clean(text)
    return Formatted(written if utf16_length(written) <= LIMIT else shown.text)


_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
