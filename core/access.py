"""Who may speak with the bot, and who is an admin: closed by default."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime

from core.messages import ChatKey, Message, Person
from core.store import ConversationStore


class Access:
    """Answers from the configuration and the allow table; both hold `platform:id`, `platform:*` or `*`.

    Admins come from the configuration alone and may always speak. A chat's id lets everyone in that chat speak, and the
    id of a server everyone in all its chats. A sender that stands for nobody is known by the chat alone. Who is
    blocked, or writes in a chat that is, may not speak, whatever allows it; blocks are made here, and read from the
    store once.
    """

    def __init__(self, admins: Collection[str], allowed: Collection[str], store: ConversationStore) -> None:
        self._admins = frozenset(admins)
        self._allowed = frozenset(allowed)
        self._store = store
        self._blocked: frozenset[str] | None = None
        self._reading = asyncio.Lock()

    def is_admin(self, person: Person, *, anonymous: bool = False) -> bool:
        """Say whether a person is an admin; a sender that stands for nobody never is, and `*` makes nobody one."""
        return not anonymous and not self._admins.isdisjoint((str(person), f"{person.platform}:*"))

    async def may_speak(self, message: Message) -> bool:
        """Say whether a message is to be heard at all."""
        if self.is_admin(message.sender, anonymous=message.anonymous):
            return True
        if await self.is_blocked(message):
            return False
        names = {"*", f"{message.chat.platform}:*", *_names(message)}
        return not self._allowed.isdisjoint(names) or not names.isdisjoint(await self._store.allowed())

    async def is_blocked(self, message: Message) -> bool:
        """Say whether its sender, its chat or its server is blocked."""
        async with self._reading:
            if self._blocked is None:
                self._blocked = frozenset(await self._store.blocked())
        return not self._blocked.isdisjoint(_names(message))

    async def block(self, entry: str, by: str, at: datetime) -> None:
        """Block a person or a chat."""
        async with self._reading:
            await self._store.block(entry, by, at)
            self._blocked = None

    async def unblock(self, entry: str) -> bool:
        """Take a block back; False when there was none."""
        async with self._reading:
            self._blocked = None
            return await self._store.unblock(entry)

    async def move(self, old: ChatKey, new: ChatKey, at: datetime) -> None:
        """Let what a chat has become speak as the chat did."""
        self._blocked = None
        if str(old) in self._allowed:
            await self._store.allow(str(new), "moved", at)


def _names(message: Message) -> set[str]:
    places = {message.chat.scope, *([str(Person(message.chat.platform, message.server))] if message.server else [])}
    return places if message.anonymous else {*places, str(message.sender)}
