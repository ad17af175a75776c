"""What the tests share that kill the bot: what is said to it, when it dies, and what must hold in the end."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from adapters.discord.server import DiscordServer
from adapters.sql import SqlStore, open_store
from adapters.telegram.server import TelegramServer
from core.conversation import State, Turn
from core.messages import ChatKey, Person
from core.store import ConversationStore
from tests.end_to_end.bot import Bot
from tests.end_to_end.forks import Forks

HELLO, STORY, TALE, ROME = "hello", "a story", "a tale", "I live in Rome"
PARTS = "\n\n".join(", ".join(f"\\1 {part} {n}" for n in range(120)) for part in ("one", "two", "three"))
RULES: list[dict[str, Any]] = [
    {
        "match": r"I live in (Rome number \d+)$",
        "reply": r"Noted: I live in \1",
        "calls": [{"name": "update_memory", "arguments": {"action": "add", "key": "city", "value": r"\1"}}],
    },
    {"match": rf"({STORY} number \d+)$", "reply": PARTS},
    {"match": rf"({TALE} number \d+)$", "reply": r"This is \1 " + "and so on " * 12 + "to its end.", "pace": 0.015},
]
SETTINGS = {
    "KEEPMIND_WINDOW__HIGH_TURNS": "6",
    "KEEPMIND_WINDOW__LOW_TURNS": "2",
}
NUMBER = re.compile(r"number (\d+)")


@dataclass(frozen=True)
class Kill:
    """Where the process dies: so many seconds after a step is reached for the given time; and what was said then."""

    step: str
    what: str = HELLO
    times: int = 1
    later: float = 0


SHORT = [
    Kill("before receive"),
    Kill("after receive"),
    Kill("after open", ROME),
    Kill("after apply", ROME),
    Kill("before save"),
    Kill("after save"),
    Kill("before send"),
]
LONG = [
    Kill("after preview", STORY),
    Kill("after send", STORY, 2),
    Kill("after progress", TALE),
    Kill("before edit", TALE),
    Kill("after edit", TALE),
    Kill("before add_segment"),
    Kill("after add_segment"),
]
UNNOTED = ("after preview", "before progress")
"""The steps between the sending of a preview and the storing of its id, where a preview may be left over."""


def seeded(kills: int, seed: int) -> Iterator[Kill]:
    """Choose moments to die at, the same for the same seed: from the start, or the arrival of a message, onwards."""
    chance = random.Random(seed)
    for _ in range(kills):
        what = chance.choice([HELLO, ROME, STORY, TALE])
        step = chance.choice(["after receive", "after open", "after save", "after preview", "after unfinished"])
        yield Kill(
            step if what in (STORY, TALE) or "preview" not in step else "after open", what, 1, chance.random() / 2
        )


@dataclass(frozen=True)
class Place:
    """Where somebody talks with the bot. `sender` is the platform's id of who does."""

    chat: ChatKey
    sender: str
    group: bool = False

    @property
    def person(self) -> Person:
        return Person(self.chat.platform, self.sender)


@dataclass
class Figures:
    """What came of it all. `ambiguous` are parts that were on their way at a kill and are not there."""

    kills: int = 0
    messages: int = 0
    answered: int = 0
    lost: int = 0
    double: int = 0
    ambiguous: int = 0
    left_over: int = 0
    segments: int = 0
    recovered: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        times = sorted(self.recovered) or [0.0]
        told = {name: value for name, value in vars(self).items() if name != "recovered"}
        seconds = f"{times[len(times) // 2]:.2f} (most {times[-1]:.2f})"
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in told.items()) + f", seconds {seconds}"


class Talk(ABC):
    """Two persons in private and in a group, with a bot that keeps dying.

    Each text is said once and names where it comes from by its number. `finds` says whether the platform finds a
    preview again that was sent just before a death.
    """

    platform: str
    server: TelegramServer | DiscordServer
    finds = False
    places: Sequence[Place]

    def __init__(self, bot: Bot, forks: Forks) -> None:
        self.bot, self.forks = bot, forks
        self.said: list[tuple[str, Place]] = []
        self.figures = Figures()
        self.unnoted = 0
        self._turns = cycle((0, 1))

    async def connected(self) -> None:
        """Wait until what is said is heard at once, where that takes a connection."""
        await asyncio.sleep(0)

    @abstractmethod
    def tell(self, place: Place, text: str) -> None:
        """Say something; in the group the bot is called."""

    @abstractmethod
    def shown(self, place: Place) -> list[str]:
        """Give what the bot has said, as it is seen now."""

    @abstractmethod
    async def watch(self, condition: Callable[[], Any]) -> None:
        """Wait until a condition holds of what is seen."""

    @property
    @abstractmethod
    def edited(self) -> int:
        """How often messages were edited."""

    @abstractmethod
    def parts(self, answer: str) -> Sequence[str]:
        """Give the parts in which an answer is shown."""

    def say(self, what: str) -> None:
        """Say something new; tales are told in the group, where they grow by edits, all else in private."""
        place = self.places[2] if what == TALE else self.places[next(self._turns)]
        text = f"{what} number {len(self.said)}"
        self.said.append((text, place))
        self.tell(place, text)

    async def begun(self) -> None:
        """Speak in every place once: where nobody has ever spoken to it, a bot on Discord does not look."""
        fork = await self.forks.start()
        await fork.serves()
        await self.connected()
        for what in (HELLO, HELLO, TALE):
            self.say(what)
        async with self.opened() as store:
            await self.settled(store)
        await fork.killed()

    async def dies(self, kill: Kill) -> None:
        """Say things to a process until it dies, as often as the step needs it."""
        async with self.opened() as store:
            fork = await self.forks.start(kill.step, kill.times, kill.later)
            async with asyncio.timeout(120):
                while not fork.ended.done():
                    self.say(kill.what)
                    settling = asyncio.create_task(self.settled(store))
                    either: list[asyncio.Future[Any]] = [fork.ended, settling]
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                    settling.cancel()
                    await asyncio.gather(settling, return_exceptions=True)
        assert fork.ended.result() == -9
        self.figures.kills += 1
        self.unnoted += not self.finds and (kill.step in UNNOTED or kill.later > 0)

    async def recovers(self) -> None:
        """Measure how long a process takes from its start to the end of what was left open, and kill it."""
        async with self.opened() as store:
            began = time.perf_counter()
            fork = await self.forks.start()
            await fork.serves()
            await self.settled(store)
            self.figures.recovered.append(time.perf_counter() - began)
        await fork.killed()
        self.figures.kills += 1

    async def settled(self, store: ConversationStore) -> None:
        """Wait until all that was said is stored, and nothing is left open."""
        async with asyncio.timeout(120):
            while await self._unsettled(store):  # noqa: ASYNC110 -- a database rings no bell
                await asyncio.sleep(0.05)

    async def _unsettled(self, store: ConversationStore) -> bool:
        texts = {text for place in self.places for turn in await self.line(store, place) for text in _texts(turn)}
        wanting = {text for text, _ in self.said} - texts
        return bool(wanting or await store.waiting() or await store.open_turns())

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[SqlStore]:
        """Look into the database meanwhile."""
        self.bot.database.parent.mkdir(exist_ok=True)
        async with aclosing(await open_store(self.database)) as store:
            yield store

    @property
    def database(self) -> str:
        """The address of the database."""
        return self.bot.settings.get("KEEPMIND_DATABASE_URL", f"sqlite:///{self.bot.database}")

    async def line(self, store: ConversationStore, place: Place) -> Sequence[Turn]:
        """Give the turns of a place, oldest first."""
        head = (await store.load(place.chat, private=not place.group)).head
        return await store.line(place.chat, head) if head else []

    async def ended(self) -> Figures:
        """Start the command itself, let it end what is open, and check all that is stored and seen."""
        async with self.opened() as store:
            async with self.bot.served(self.platform):
                for what in (HELLO, HELLO, TALE):
                    self.say(what)
                await self.settled(store)
            assert list(await store.verify()) == []
            lines = {place: await self.line(store, place) for place in self.places}
            for place, turns in lines.items():
                self._check_stored(place, turns)
                self._check_shown(place, turns)
                await self._check_facts(store, place, turns)
            self.figures.segments = (await store.stats()).segments
        self._check_isolation()
        assert self.bot.server.faults == []
        assert self.figures.lost == self.figures.double == 0
        allowed = self.unnoted + self.figures.ambiguous  # a part on its way may have been that of a preview not noted
        assert self.figures.left_over <= allowed, f"a preview becomes its answer: {self.figures}"
        assert self.figures.ambiguous <= self.figures.kills
        return self.figures

    def _check_stored(self, place: Place, turns: Sequence[Turn]) -> None:
        said = [text for text, where in self.said if where == place]
        stored = [text for turn in turns for text in _texts(turn)]
        assert stored == said, "each message is stored once, in order, and none is lost"
        assert all(turn.state is State.DELIVERED and turn.answer for turn in turns)
        self.figures.messages += len(said)
        self.figures.answered += len(stored)
        self.figures.lost += len({*said} - {*stored})
        self.figures.double += len(stored) - len({*stored})

    def _check_shown(self, place: Place, turns: Sequence[Turn]) -> None:
        """Check that each part of an answer is shown at most once; what else is shown is a preview left over."""
        shown = [text.strip() for text in self.shown(place)]
        parts = {part.strip() for turn in turns if turn.answer for part in self.parts(turn.answer.text)}
        answers = [text for text in shown if text in parts]
        assert len(answers) == len({*answers}), "nothing is shown twice"
        self.figures.double += len(answers) - len({*answers})
        self.figures.ambiguous += len(parts - {*answers})
        self.figures.left_over += len(shown) - len(answers)

    async def _check_facts(self, store: ConversationStore, place: Place, turns: Sequence[Turn]) -> None:
        told = [turn.answer.text for turn in turns if turn.answer and "Noted" in turn.answer.text]
        known = dict((await store.load(place.chat, place.person, private=not place.group)).profile)
        assert known == ({"city": told[-1].removeprefix("Noted: I live in ")} if told else {}), "what looks saved is"

    def _check_isolation(self) -> None:
        """Check that no request to the model holds what was said in two places."""
        for entry in self.bot.server.journal:
            numbers = {int(n) for n in NUMBER.findall(json.dumps(entry["request"]["messages"]))}
            assert len({self.said[n][1] for n in numbers}) <= 1, "what was said in one place stays there"


def _texts(turn: Turn) -> list[str]:
    return [re.sub(r"^(@keepmind_bot|<@\d+>) ", "", message.text) for message in turn.messages]
