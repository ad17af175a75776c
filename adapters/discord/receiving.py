"""What each event does: a message is taken, an edit replaces, a deletion forgets, a server is greeted."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import discord

from adapters.discord.away import Absence, Away
from adapters.discord.conversion import PLATFORM, is_private, to_message, words
from adapters.discord.greeting import Greeting, channel_for
from adapters.discord.groups import Groups
from adapters.discord.languages import Languages
from adapters.discord.media import Files, is_unreadable, wanted
from adapters.discord.places import Places
from adapters.discord.threads import thread_for
from core import messages
from core.engine import Engine
from core.errors import StoreError
from core.intake import Intake
from core.messages import ChatKey
from core.modes import Hearing
from core.reading import Unread, with_files
from core.sentences import UNREADABLE

logger = logging.getLogger("keepmind.discord")
_LONGEST_PAUSE = 30.0


class Receiver:
    """Takes events, each chat's in order. Whatever is said again is known by its key in the store, and passed over."""

    def __init__(
        self,
        client: discord.Client,
        engine: Engine,
        groups: Groups,
        files: Files,
        languages: Languages,
        *,
        absence: Absence,
        threads: bool = False,
        pause: float = 1.0,
    ) -> None:
        self._client, self._engine, self._groups, self._files = client, engine, groups, files
        self._aside: set[asyncio.Task[None]] = set()
        self._languages, self._threads, self._pause = languages, threads, pause
        self._places = Places(client, pause)
        self._intake = Intake()
        self._greeting = Greeting(engine, groups, absence.seconds)
        self._away = Away(client, self._places, engine.shared.store, self._intake, absence, pause, threads=threads)

    async def connected(self, shard: int) -> None:
        """Take what was said before a new session began."""
        await self._away.catch_up(shard, partial(self._insist, self._said), self._engine.shared.clock.now())

    async def said(self, message: discord.Message) -> None:
        """Take a message."""
        await self._line_up(message.channel.id, partial(self._said, message))

    async def edited(self, message: discord.Message) -> None:
        """Take a message as it is worded now; what the bot itself says grows by edits."""
        own = self._client.user is not None and message.author.id == self._client.user.id
        if message.edited_at is not None and not own:
            await self._line_up(message.channel.id, partial(self._edited, message))

    async def deleted(self, channel_id: int, guild_id: int | None, ids: set[int]) -> None:
        """Forget messages that are no longer there."""
        await self._line_up(channel_id, partial(self._deleted, channel_id, guild_id, ids))

    async def closed(self, channel_id: int, of: int | None = None) -> None:
        """Forget what was said in a channel, or in a thread of one, that is no longer there."""
        chat = ChatKey(PLATFORM, str(of or channel_id), str(channel_id) if of else None)
        await self._line_up(channel_id, partial(self._closed, chat))

    async def joined(self, guild: discord.Guild, *, now: bool) -> None:
        """Greet a server that the bot was added to: just `now`, or perhaps shortly before it came."""
        channel = channel_for(guild)
        if channel is not None and (now or self._greeting.is_due(guild)):
            await self._line_up(channel.id, partial(self._greet, guild, channel))

    async def aclose(self, seconds: float = 5) -> None:
        """Let what was begun come to its end."""
        await self._intake.aclose(seconds)
        if self._aside:
            await asyncio.wait(self._aside, timeout=seconds)

    async def _line_up(self, channel_id: int, work: Callable[[], Awaitable[None]]) -> None:
        async with self._away.door:
            self._intake.line_up(channel_id, partial(self._insist, work))

    async def _insist(self, work: Callable[..., Awaitable[None]], *given: object) -> None:
        """Do work until it is stored: Discord gives nothing again."""
        pause = self._pause
        while True:
            try:
                return await work(*given)
            except StoreError as error:
                logger.error("something could not be stored and is tried again: %s", error)
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    async def _said(self, message: discord.Message) -> None:
        me = self._client.user
        await self._places.settle(message)
        hearing = self._groups.hearing(message, me) if me is not None else Hearing.NOTHING
        if me is None or hearing is Hearing.NOTHING:
            return
        ours = to_message(message, me, addressed=hearing is Hearing.ADDRESSED)
        ours = replace(ours, language=self._languages.of(ours.sender, message.guild))
        if await self._engine.access.may_speak(ours):
            ours, problem = await self._with_files(ours, message)
            if problem is not None:
                await self._engine.decline(ours, problem.sentence, **problem.values)
                return
            ours = await self._in_a_thread(ours, message)
        await self._engine.accept(ours)

    async def _with_files(
        self, ours: messages.Message, message: discord.Message
    ) -> tuple[messages.Message, Unread | None]:
        """Add what was sent beside the words; or tell why it is nothing the bot could answer."""
        files = wanted(message)
        if not files:
            return ours, Unread(UNREADABLE) if is_unreadable(message) and ours.private and not ours.text else None
        if not ours.addressed or self._engine.is_over(ours):
            return replace(ours, attachments=tuple(file.unread for file in files)), None
        return await with_files(ours, files, self._files)

    async def _in_a_thread(self, ours: messages.Message, message: discord.Message) -> messages.Message:
        """Give what is addressed to the bot a thread of its own, where it is set so; commands need none."""
        if not self._threads or not ours.addressed or self._engine.commands.find(ours.text) is not None:
            return ours
        thread = await thread_for(message, ours.text)
        return replace(ours, chat=replace(ours.chat, topic=str(thread))) if thread is not None else ours

    async def _edited(self, message: discord.Message) -> None:
        me = self._client.user
        if me is None or not self._sees(message):
            return
        await self._places.settle(message)
        for chat in self._chats(await self._key(message), message.id):
            if await self._engine.shared.store.edit(chat, str(message.id), words(message, me)):
                return

    def _sees(self, message: discord.Message) -> bool:
        """Tell whether its words are really none, if it has none: without the intent Discord leaves them out."""
        return bool(message.content) or self._client.intents.message_content or is_private(message.channel)

    async def _key(self, message: discord.Message) -> ChatKey:
        return await self._places.key(message.channel.id, message.guild.id if message.guild else None)

    async def _deleted(self, channel_id: int, guild_id: int | None, ids: set[int]) -> None:
        key = await self._places.key(channel_id, guild_id)
        for id_ in sorted(ids):
            for chat in self._chats(key, id_):
                if await self._engine.retract(chat, str(id_)):
                    break

    async def _closed(self, chat: ChatKey) -> None:
        store = self._engine.shared.store
        known = {info.chat for info in await store.chats() if chat.topic is None and info.chat.scope == chat.scope}
        for gone in sorted({chat, *known}, key=str):
            async with self._engine.interrupted(gone, drop=True):
                await store.erase_chat(gone)

    def _chats(self, chat: ChatKey, message_id: int) -> list[ChatKey]:
        """Name where a message may be kept: one that a thread was opened on is kept in the thread."""
        opened = replace(chat, topic=str(message_id))
        return [chat, opened] if self._threads and chat.topic is None else [chat]

    async def _greet(self, guild: discord.Guild, channel: discord.TextChannel) -> None:
        if (out := await self._greeting.said(guild, channel)) is not None:
            task = asyncio.create_task(self._engine.shared.deliveries[PLATFORM].say(out))  # it may have to wait
            self._aside.add(task)
            task.add_done_callback(self._aside.discard)
