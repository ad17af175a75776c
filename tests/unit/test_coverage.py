"""Nothing falls between window and summary, whatever people, models and machines do: random operations, seeded."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import timedelta
from itertools import count

import pytest

from adapters.inmemory import InMemoryStore
from core.bot import Bot
from core.compose import budget
from core.conversation import Segment
from core.errors import Ambiguous, ContextOverflow, LLMUnavailable, Refused, RetryLater
from core.llm import Completion, Finish, Request
from core.memory.buffer import Buffer
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.memory import Memory
from core.memory.none import NoHistory
from core.memory.profile import Profile
from core.memory.recent import TokenWindow, Window
from core.memory.summary_buffer import BufferLimits, Summary, SummaryBuffer
from core.memory.tree import Tree
from core.memory.window import WindowLimits
from core.messages import ChatKey, Message
from core.prompt import cost, tools_cost
from tests.driving import Life, alive, kill, until
from tests.fakes import FakeAdapter, ScriptedLLM, WordCounter, World, calling, check_request

PEOPLE = ("anna", "bob", "cleo")
FINISHES: Sequence[Finish] = ("stop", "stop", "stop", "stop", "stop", "length", "interrupted", "declined")
CONTEXTS = (400, 700, 1500, 4000, 20_000)
COMMANDS = ("/stop", "/forget last", "/memory", "/memory undo", "/memory explain", "/help")
BRANCHES = ("/undo", "/retry", "/aside", "/back", "/back keep") * 3
SMALL = Keepmind(WindowLimits(8, 4, 400, 200, 2), SummaryLimits(40, 160))
KINDS: tuple[Memory, ...] = (
    SMALL,
    NoHistory(),
    Buffer(),
    Window(4),
    TokenWindow(100),
    Tree(100),
    Summary(size=60),
    SummaryBuffer(limits=BufferLimits(200, 6, 2), size=60),
)


class Storm:
    """A world in which everything goes wrong at random, and the account of what must still be there."""

    def __init__(self, seed: int, kinds: Sequence[Memory] = (SMALL,), *, branching: bool = False) -> None:
        self.kinds, self.branching = kinds, branching
        self.random = random.Random(seed)
        self.store = InMemoryStore()
        self.adapter = FakeAdapter(limit=200)
        self.llm = ScriptedLLM(self.answer)
        self.llm.summary, self.llm.extract = self.summary, self.extract
        self.world = World(llm=self.llm, store=self.store, adapter=self.adapter, bot=Bot(memory=[kinds[0], Profile()]))
        self.ids = count(1)
        self.said: dict[str, Message] = {}
        self.erased: set[str] = set()
        self.running: set[asyncio.Task[object]] = set()
        self.checked = self.operations = 0
        self.calm = False
        self.oversized: list[tuple[int, int]] = []

    # -- what the model does --------------------------------------------------------------------------------------

    def answer(self, request: Request) -> Completion | Exception:
        self.check_size(request)
        if self.calm:
            return Completion("So it is.")
        dice = self.random.random()
        if dice < 0.05:
            return LLMUnavailable("down")
        if dice < 0.07:
            return ContextOverflow("too long")
        if dice < 0.09:
            return RuntimeError("a bug")
        if dice < 0.25 and request.tools:
            fact = f'{{"action":"add","key":"k{self.random.randrange(9)}","value":"v{self.random.randrange(9)}"}}'
            name = self.random.choice(["update_memory", "update_memory", "nonsense"])
            return calling((name, fact), text=self.random.choice(["", "Noted."]))
        text = self.random.choice(["", " ", *["word " * self.random.randrange(1, 60)] * 9])
        return Completion(text, (), self.random.choice(FINISHES))

    def summary(self, request: Request) -> Completion | Exception:
        dice = self.random.random()
        if dice < 0.15:
            return LLMUnavailable("down")
        if dice < 0.2:
            return Completion(" ")
        if dice < 0.25:
            return Completion("half a", (), "length")
        return Completion("gist " * self.random.randrange(1, 80))

    def extract(self, request: Request) -> Completion | Exception:
        return Completion("no JSON") if self.random.random() < 0.5 else LLMUnavailable("down")

    # -- what people and machines do ------------------------------------------------------------------------------

    async def step(self) -> None:
        """Do one thing; each message said is an operation of its own."""
        act, before = self.random.choices(*zip(*self.acts(), strict=True))[0], self.operations
        await act()
        self.operations = max(self.operations, before + 1)

    def acts(self) -> list[tuple[Callable[[], Awaitable[None]], float]]:
        return [
            (self.say, 40),
            (self.say_at_once, 8),
            (self.say_and_go_on, 12),
            (self.command, 8),
            (self.edit, 5),
            (self.tick, 10),
            (self.rest_a_while, 4),
            (self.change_context, 3 if len(self.kinds) == 1 else 8),
            (self.trouble, 4),
            (self.restart, 2),
            (self.die, 3),
            (self.settle, 5),
        ]

    def message(self) -> Message:
        self.operations += 1
        who, number = self.random.choice(PEOPLE), next(self.ids)
        where: dict[str, object] = {}
        if self.random.random() < 0.3:
            where = {"chat": "group", "group": True, "addressed": self.random.random() < 0.7}
        long = self.random.random() < 0.06
        text = f"m{number}." + " talk" * (self.random.randrange(200, 900) if long else self.random.randrange(20))
        message = self.world.message(text, who, **where)  # type: ignore[arg-type]
        self.said[message.id] = message
        return message

    async def say(self) -> None:
        await self.world.engine.handle(self.message())

    async def say_at_once(self) -> None:
        messages = [self.message() for _ in range(self.random.randrange(2, 6))]
        again = [self.random.choice(messages)]
        await asyncio.gather(*(self.world.engine.handle(m) for m in messages + again))

    async def say_and_go_on(self) -> None:
        self.background(self.world.engine.handle(self.message()))
        for _ in range(self.random.randrange(40)):
            await asyncio.sleep(0)

    def background(self, work: Awaitable[object]) -> None:
        task = asyncio.ensure_future(work)
        self.running.add(task)
        task.add_done_callback(self.running.discard)

    async def command(self) -> None:
        who = self.random.choice(PEOPLE)
        text = self.random.choice([*COMMANDS, *(BRANCHES if self.branching else ())])
        if text == "/forget last":
            await self.forget_last(who)
        else:
            await self.world.say(text, who)

    async def forget_last(self, who: str) -> None:
        await self.world.say("/forget last", who)
        own = [m for m in self.said.values() if m.sender.user == who]
        self.erased |= {m.id for m in own if self.is_erased(m)}

    def is_erased(self, message: Message) -> bool:
        """Say whether of a message only the bare key is left."""
        received = self.store._inbox.get((message.chat, message.id))
        return received is not None and received.message is None and received.turn is None

    async def edit(self) -> None:
        if not self.said:
            return
        message = self.random.choice(list(self.said.values()))
        more = " edited" * self.random.choice([1, 5, 300])
        await self.store.edit(message.chat, message.id, message.text.partition(".")[0] + "." + more)

    async def tick(self) -> None:
        await self.world.engine.compactor.tick()

    async def rest_a_while(self) -> None:
        self.world.clock.time += timedelta(minutes=self.random.choice([1, 31, 31, 90]))
        await self.tick()

    async def change_context(self) -> None:
        """Start anew with another model and kind of history: a prompt being answered was composed for the old ones."""
        await self.close()
        self.llm.context = self.random.choice(CONTEXTS)
        self.world.bot = Bot(memory=[self.random.choice(self.kinds), Profile()])
        self.world.restart()
        await self.world.engine.recover()

    async def trouble(self) -> None:
        kinds = [Refused("no"), Ambiguous("?"), RetryLater(3), None]
        self.adapter.troubles = [self.random.choice(kinds) for _ in range(3)]
        self.adapter.pace = self.random.choice([None, 0.0])

    async def settle(self) -> None:
        await asyncio.gather(*self.running)
        await self.world.settle()

    async def close(self) -> None:
        await self.world.engine.aclose(0)
        await self.world.engine.compactor.aclose(0)
        await asyncio.gather(*self.running)

    async def restart(self) -> None:
        await self.close()
        self.world.restart()
        await self.world.engine.recover()

    async def die(self) -> None:
        """Let the process die at some call of the store, the model or the platform, and start it again."""
        life = Life(self.random.randrange(1, 25))
        await self.close()
        self.world.store = alive(self.store, life)
        self.world.adapter = life.within(self.adapter, "split", "serves")
        self.world.llm = life.within(self.llm)
        self.world.restart()
        self.background(self.world.engine.recover())
        self.background(self.world.engine.compactor.tick())
        for _ in range(self.random.randrange(1, 4)):
            self.background(self.world.engine.handle(self.message()))
        for _ in range(self.random.randrange(200)):
            await asyncio.sleep(0)
        life.dead.set()
        await kill()
        self.running.clear()
        self.world.store, self.world.adapter, self.world.llm = self.store, self.adapter, self.llm
        self.world.restart()
        await self.world.engine.recover()

    # -- what must hold -------------------------------------------------------------------------------------------

    async def check_stored(self) -> None:
        assert await self.store.verify() == []
        for info in await self.store.chats():
            await self.check_covered(info.chat)

    def check_size(self, request: Request) -> None:
        size = cost(request.messages, WordCounter()) + tools_cost(request.tools, WordCounter())
        if size > budget(self.llm, 1024):
            self.oversized.append((self.llm.context, size))

    def check_requests(self) -> None:
        assert self.oversized == []
        for request in self.llm.requests[self.checked :]:
            check_request(request)
        self.checked = len(self.llm.requests)

    async def check_covered(self, chat: ChatKey) -> None:
        here = await self.store.load(chat)
        shown: list[int] = []
        for step in here.path:
            shown += [t.id for t in await self.store.covered(step)] if isinstance(step, Segment) else [step.id]
        expected, turn = [], here.head
        while turn is not None:
            expected.append(turn)
            turn = self.store._turns[turn].parent
        assert shown == expected[::-1], "every turn from the root to the head is raw or in one segment, once"

    async def check_end(self) -> None:
        """Check what is left once the model is back for good."""
        self.calm = True
        await self.settle()
        await self.restart()
        engine = self.world.engine
        await until(lambda: not engine.busy and not list(engine.shared.outage))  # the model may be down once more
        await engine.aclose()
        await self.settle()
        await self.check_stored()
        kept = Counter(m.id for t in self.store._turns.values() for m in t.messages if t.retry_of is None)
        assert set(kept.values()) <= {1}, "what a person said is stored once"
        assert await self.store.waiting() == []
        assert await self.store.open_turns() == []
        missing = self.said.keys() - kept.keys() - self.erased
        assert [i for i in missing if self.was_received(i)] == []
        self.check_answered_once()

    def was_received(self, message_id: str) -> bool:
        """Say whether a message was stored; one that was being taken in when the process died may not be."""
        return (self.said[message_id].chat, message_id) in self.store._inbox

    def check_answered_once(self) -> None:
        chunks = Counter(s.out.nonce for s in self.adapter.shown if s.out.final and s.out.nonce)
        assert set(chunks.values()) <= {1}, "no chunk is shown twice"


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Leave unsaid in the log what goes wrong thousands of times."""
    logger = logging.getLogger("keepmind")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    yield
    logger.setLevel(before)


async def storm(seed: int, operations: int, kinds: Sequence[Memory] = (SMALL,), *, branching: bool = False) -> None:
    it = Storm(seed, kinds, branching=branching)
    for number in count():
        await it.step()
        it.check_requests()
        if number % 10 == 0:
            await it.check_stored()
        if it.operations >= operations:
            break
    await it.check_end()


@pytest.mark.parametrize("seed", range(50))
async def test_no_turn_is_lost_or_uncovered_in_200_random_operations(seed: int) -> None:
    await storm(seed, 200)


@pytest.mark.parametrize("seed", range(100, 120))
async def test_no_turn_is_lost_or_uncovered_with_each_kind_of_history_after_another(seed: int) -> None:
    await storm(seed, 200, KINDS[seed % len(KINDS) :] + KINDS[: seed % len(KINDS)])


@pytest.mark.parametrize("seed", range(200, 220))
async def test_no_turn_is_lost_or_uncovered_where_people_go_back_and_aside(seed: int) -> None:
    await storm(seed, 200, KINDS if seed % 2 else (SMALL,), branching=True)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1200))
async def test_no_turn_is_lost_or_uncovered_in_500_random_operations(seed: int) -> None:
    await storm(seed, 500)
