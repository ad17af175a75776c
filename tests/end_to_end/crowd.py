"""Many chats with a bot that three processes share, of which the one that serves is killed again and again."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from adapters.sql import open_store
from adapters.telegram.server import TelegramServer, User
from core.conversation import State, Turn
from core.messages import ChatKey
from core.store import ConversationStore
from tests.end_to_end.bot import Bot
from tests.end_to_end.forks import Fork, Forks

LATEST = 300
"""Seconds after which a crowd is given up."""


@dataclass
class Figures:
    """What came of it. `gaps` are the seconds from a kill to the next message of the bot."""

    chats: int = 0
    messages: int = 0
    kills: int = 0
    stored: int = 0
    turns: int = 0
    lost: int = 0
    double: int = 0
    ambiguous: int = 0
    summaries: int = 0
    asked_again: int = 0
    seconds: float = 0
    gaps: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        gaps, told = sorted(self.gaps), {name: value for name, value in vars(self).items() if name != "gaps"}
        figures = ", ".join(f"{name.replace('_', ' ')} {value:.6g}" for name, value in told.items())
        return f"{figures}, seconds to take over {gaps[len(gaps) // 2]:.2f} (most {gaps[-1]:.2f})"


class Crowd:
    """People who each say so many things in private, one after the other, whether they are answered or not."""

    def __init__(self, bot: Bot, forks: Forks, telegram: TelegramServer, *, people: int, each: int) -> None:
        self.bot, self.forks, self.telegram = bot, forks, telegram
        self.people = [telegram.person(f"Person {n}") for n in range(people)]
        self.said: dict[int, list[str]] = {person.id: [] for person in self.people}
        self.each = each
        self.figures = Figures(chats=people, messages=people * each)
        self._chance = random.Random(people)
        self._standing: list[Fork] = []

    async def lives(self, *, kills: int, seconds: float) -> Figures:
        """Let everybody speak for so many seconds while who serves is killed so often; check what came of it."""
        began = time.perf_counter()
        self._standing = [await self.forks.start() for _ in range(3)]
        await (await self._serving()).serves()
        async with asyncio.timeout(LATEST), asyncio.TaskGroup() as living:
            for person in self.people:
                living.create_task(self._speaks(person, seconds))
            living.create_task(self._kills(kills, seconds))
        store = await open_store(self.bot.settings["KEEPMIND_DATABASE_URL"])
        async with aclosing(store):
            await self._settled(store)
            self.figures.seconds = time.perf_counter() - began
            await self._check(store)
        return self.figures

    async def _speaks(self, person: User, seconds: float) -> None:
        for number in range(self.each):
            await asyncio.sleep(self._chance.uniform(0, 2 * seconds / self.each))
            text = f"message {number} of {person.id}"
            self.said[person.id].append(text)
            self.telegram.say(person, person, text)

    async def _kills(self, kills: int, seconds: float) -> None:
        """Kill who serves, and start another that stands by."""
        for _ in range(kills):
            await asyncio.sleep(seconds / (kills + 1))
            serving = await self._serving()
            self._standing.remove(serving)
            await serving.killed()
            killed, sent = time.perf_counter(), self._sent
            self._standing.append(await self.forks.start())
            await self.telegram.wait_for(lambda sent=sent: self._sent > sent, timeout=60)  # type: ignore[misc]
            self.figures.gaps.append(time.perf_counter() - killed)
            self.figures.kills += 1

    @property
    def _sent(self) -> int:
        return self.telegram.journal.counts["sendMessage"]

    async def _serving(self) -> Fork:
        waiting = {asyncio.create_task(fork.serving.wait()): fork for fork in self._standing}
        done, late = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in late:
            task.cancel()
        return waiting[done.pop()]

    async def _settled(self, store: ConversationStore) -> None:
        async with asyncio.timeout(LATEST):
            while await self._unsettled(store):  # noqa: ASYNC110 -- a database rings no bell
                await asyncio.sleep(0.2)

    async def _unsettled(self, store: ConversationStore) -> bool:
        if await store.waiting() or await store.open_turns():
            return True
        infos = {info.chat.chat: info for info in await store.chats()}
        return any(str(person) not in infos for person in self.said) or not await self._all_stored(store)

    async def _all_stored(self, store: ConversationStore) -> bool:
        for person, said in self.said.items():
            turns = await self._line(store, person)
            if not turns or turns[-1].messages[-1].text != said[-1]:
                return False
        return True

    async def _line(self, store: ConversationStore, person: int) -> Sequence[Turn]:
        chat = ChatKey("telegram", str(person))
        head = (await store.load(chat)).head
        return await store.line(chat, head) if head else []

    async def _check(self, store: ConversationStore) -> None:
        assert list(await store.verify()) == []
        ranges: Counter[tuple[int, int | None, int]] = Counter()
        for person, said in self.said.items():
            turns = await self._line(store, person)
            self._check_chat(person, said, turns)
            for segment in (await store.load(ChatKey("telegram", str(person)))).segments:
                ranges[person, segment.before, segment.last] += 1
        self._check_summaries((await store.stats()).segments, ranges)
        assert self.bot.server.faults == []
        assert self.figures.lost == self.figures.double == 0

    def _check_chat(self, person: int, said: list[str], turns: Sequence[Turn]) -> None:
        stored = [message.text for turn in turns for message in turn.messages]
        assert stored == said, "order within a chat is kept, each message is there once"
        assert all(turn.state is State.DELIVERED and turn.answer for turn in turns)
        shown = Counter(message.text for message in self.telegram.chat(self._who(person)).from_bot)
        answers = {turn.answer.text for turn in turns if turn.answer}
        self.figures.stored += len(stored)
        self.figures.turns += len(turns)
        self.figures.lost += len({*said} - {*stored})
        self.figures.double += sum(count - 1 for count in shown.values()) + len(stored) - len({*stored})
        self.figures.ambiguous += len(answers - {*shown})
        assert {*shown} <= answers, "only answers are shown"

    def _who(self, person: int) -> User:
        return next(one for one in self.people if one.id == person)

    def _check_summaries(self, segments: int, ranges: Counter[tuple[int, int | None, int]]) -> None:
        """Check that no range was asked for and committed twice; one that was cut by a kill is asked for again."""
        assert all(count == 1 for count in ranges.values())
        asked = Counter(
            json.dumps(entry["request"]["messages"])
            for entry in self.bot.server.journal
            if entry["purpose"] == "summary"
        )
        self.figures.summaries = segments
        self.figures.asked_again = asked.total() - len(asked)
        assert asked.total() >= segments
