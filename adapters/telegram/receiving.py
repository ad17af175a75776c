"""What each kind of update does: a message is taken, an edit replaces, a button runs its command, a group moves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from telegram import Bot, CallbackQuery, ChatMember, ChatMemberUpdated, Message, Update, User
from telegram.constants import ChatType
from telegram.error import TelegramError

from adapters.telegram import sentences
from adapters.telegram.buttons import Buttons
from adapters.telegram.commands import Names
from adapters.telegram.conversion import (
    PLATFORM,
    is_private,
    language_of,
    replied,
    to_key,
    to_message,
    to_press,
    words,
)
from adapters.telegram.groups import Groups, is_command
from adapters.telegram.media import Files, is_unreadable, unreadable, wanted
from adapters.telegram.moves import Moves
from core import messages
from core.adapter import Outgoing
from core.engine import Engine
from core.messages import ChatKey, Person
from core.modes import MENTION, OFF, Hearing
from core.reading import Unread, with_files
from core.sentences import UNREADABLE
from core.translation import speaking, spoken

logger = logging.getLogger("keepmind.telegram")
KINDS = [
    Update.MESSAGE,
    Update.EDITED_MESSAGE,
    Update.CHANNEL_POST,
    Update.EDITED_CHANNEL_POST,
    Update.CALLBACK_QUERY,
    Update.MY_CHAT_MEMBER,
]
"""The updates that are asked for."""
_OUTSIDE = (ChatMember.LEFT, ChatMember.BANNED)


class Receiver:
    """Takes updates. Whatever is said again (a repeat, a restart) is known by its key in the store, and passed over."""

    def __init__(
        self, bot: Bot, me: User, engine: Engine, groups: Groups, files: Files, moves: Moves, buttons: Buttons
    ) -> None:
        self._bot, self._me, self._engine = bot, me, engine
        self._groups, self._files, self._moves, self._buttons = groups, files, moves, buttons
        self._names = Names(engine.commands, me.username or "")
        self._aside: set[asyncio.Task[None]] = set()

    async def take(self, update: Update) -> None:
        """Take an update; once this returns it need not come again. Raises StoreError when it must."""
        if message := update.message or update.channel_post:
            await self._message(message)
        elif edited := update.edited_message or update.edited_channel_post:
            await self._edited(edited)
        elif query := update.callback_query:
            await self._pressed(query)
        elif change := update.my_chat_member:
            await self._member(change, update.update_id)

    async def aclose(self, seconds: float = 5) -> None:
        """Let what was begun aside come to its end."""
        if self._aside:
            await asyncio.wait(self._aside, timeout=seconds)

    async def _message(self, message: Message) -> None:
        if message.migrate_to_chat_id:
            await self._moves.moved(message.chat.id, message.migrate_to_chat_id)
        elif message.migrate_from_chat_id:
            await self._moves.moved(message.migrate_from_chat_id, message.chat.id)
        else:
            await self._said(message)

    async def _said(self, message: Message) -> None:
        hearing = self._groups.hearing(message, self._me)
        text = self._words(message)
        if hearing is Hearing.NOTHING or text is None:
            return
        ours = to_message(message, self._me, text, addressed=hearing is Hearing.ADDRESSED)
        with self._engine.reading(ours):
            await self._read(ours, message)

    async def _read(self, ours: messages.Message, message: Message) -> None:
        if await self._engine.access.may_speak(ours):
            ours, problem = await self._with_file(ours, message)
            if problem is not None:
                await self._decline(ours, message, problem)
                return
        await self._engine.accept(ours)

    def _words(self, message: Message) -> str | None:
        if not is_command(message):
            return words(message)
        return self._names.read(words(message), private=is_private(message.chat))

    async def _with_file(self, ours: messages.Message, message: Message) -> tuple[messages.Message, Unread | None]:
        """Add what was sent beside the words; or tell why it is nothing the bot could answer."""
        if self._engine.commands.takes_file(ours.text) and not ours.forwarded:
            return await self._with_argument(ours, message)
        file = wanted(message)
        if file is None:
            return self._without_file(ours, message)
        if not ours.addressed or self._engine.is_over(ours):
            return replace(ours, attachments=(file.unread,)), None
        return await with_files(ours, [file], self._files)

    async def _with_argument(self, ours: messages.Message, message: Message) -> tuple[messages.Message, Unread | None]:
        """Add the file that a command takes: sent with it, or in the message that it answers."""
        earlier = replied(message)
        file = wanted(message) or (wanted(earlier) if earlier is not None else None)
        if file is None or self._engine.is_over(ours):
            return ours, None
        try:
            return replace(ours, attachments=(await self._files.whole(file),)), None
        except Unread as problem:
            return ours, problem

    def _without_file(self, ours: messages.Message, message: Message) -> tuple[messages.Message, Unread | None]:
        if not is_unreadable(message):
            return ours, None
        if message.caption:
            return replace(ours, attachments=(unreadable(message),)), None
        return ours, Unread(UNREADABLE) if ours.private and not ours.text else None

    async def _decline(self, ours: messages.Message, message: Message, problem: Unread) -> None:
        """Say once why something can't be read, also of an album."""
        album = message.media_group_id
        said = replace(ours, id=f"album {album}") if album else ours
        await self._engine.decline(said, problem.sentence, **problem.values)

    async def _tell(self, ours: messages.Message, sentence: str) -> None:
        if await self._engine.shared.store.receive(ours, keep=False):
            self._spawn(self._say(ours.chat, sentence, ours.id))

    async def _say(self, chat: ChatKey, sentence: str, reply_to: str = "") -> None:
        await self._engine.shared.deliveries[PLATFORM].say(Outgoing(chat, sentence, reply_to=reply_to))

    async def _edited(self, message: Message) -> None:
        await self._engine.shared.store.edit(to_key(message), str(message.message_id), words(message))

    async def _pressed(self, query: CallbackQuery) -> None:
        pressed = await self._buttons.pressed(query.data or "", query.from_user.id)
        self._spawn(self._hush(query, known=pressed is not None))
        if pressed is None:
            return
        press = to_press(query, pressed.command, datetime.now(UTC), pressed.chat)
        if press is not None:
            await self._engine.accept(press)

    async def _hush(self, query: CallbackQuery, *, known: bool) -> None:
        """Let the app stop waiting for the button; who may not press it is shown so, for a moment."""
        with suppress(TelegramError), speaking(language_of(query.from_user) or self._engine.language):
            await self._bot.answer_callback_query(query.id, None if known else spoken(sentences.NO_BUTTON))

    async def _member(self, change: ChatMemberUpdated, update_id: int) -> None:
        came = change.old_chat_member.status in _OUTSIDE and change.new_chat_member.status not in _OUTSIDE
        if not came or change.chat.type not in (ChatType.GROUP, ChatType.SUPERGROUP):
            return
        chat = ChatKey(PLATFORM, str(change.chat.id))
        by, mode = Person(PLATFORM, str(change.from_user.id)), self._groups.of(chat)
        joined = messages.Message(
            f"joined {update_id}",
            chat,
            by,
            "",
            change.date.astimezone(UTC),
            private=False,
            language=language_of(change.from_user),
        )
        if mode == OFF or not await self._engine.access.may_speak(joined):
            return
        kept = sentences.JOINED_MENTION if mode == MENTION else sentences.JOINED_ALL
        with self._engine.speaking_to(joined):
            await self._tell(joined, spoken(sentences.JOINED, what=spoken(kept)))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)
