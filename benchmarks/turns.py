"""What memory costs: CPU of one turn (load, compose, save) in one long chat on SQLite, beside other libraries.

    python -m benchmarks.turns                 # ours and the floor
    pip install -e . -r benchmarks/peers.txt   # in an environment of its own
    python -m benchmarks.turns --peers         # and the others, in the same run

The work is the same for all: a person's message and an answer of 25 words each, a model that answers at once. CPU is
`time.process_time`, so every thread counts; given is the median of the 20 turns before turn 100, 1,000 and 10,000.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import sqlite3
import statistics
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapters.sql import open_store
from adapters.tiktoken import TiktokenCounter
from benchmarks.replay import Nowhere, Replay, with_server
from bots.memories import chosen_memories
from config.persona import load_persona
from core.bot import Bot, Ports, build
from core.clock import SystemClock
from core.conversation import Answer, State
from core.engine import Engine
from core.llm import Usage
from core.messages import ChatKey, Message, Person
from core.prompt import turn_cost
from core.store import ConversationStore

Step = Callable[[int], Awaitable[None]]


async def nothing(i: int) -> None:
    """Do nothing."""


@dataclass
class Steps:
    """A turn to measure, with what comes before and after it and is not counted."""

    turn: Step
    before: Step = nothing
    after: Step = nothing


MARKS = (100, 1_000, 10_000)
SUMMARY = "A fixed summary of two hundred characters. " * 5
CHAT, PERSON = ChatKey("replay", "1"), Person("replay", "1")


def asked(i: int) -> str:
    return (
        f"turn {i}: the user writes a message of about twenty five words about some topic so that sizes look like a "
        "real chat message here"
    )


def answered(i: int) -> str:
    return (
        f"turn {i}: the assistant answers with about twenty five words on the same topic, as short as bots usually are "
        "in a chat like this one"
    )


def message(i: int) -> Message:
    return Message(str(i), CHAT, PERSON, asked(i), datetime.now(UTC))


@dataclass
class Ours:
    """The parts of one of our turns, so that the same work as elsewhere can be told from what only we do."""

    store: ConversationStore
    engine: Engine

    async def inbox(self, i: int) -> None:
        """Make the message durable before anything else: what the others do not do."""
        await self.store.receive(message(i))

    async def turn(self, i: int) -> None:
        """Load, compose and save."""
        composer, counter = self.engine.shared.composers.usual, self.engine.shared.counter
        said = message(i)
        tokens = counter.count(said.text)
        conversation, turn = await self.store.open([said], tokens=tokens, at=datetime.now(UTC))
        prompt = await composer.compose(conversation, turn)
        prompt.messages()
        bill = self.engine.shared.ledger.bill_of(turn)
        bill.add("answer", "gpt-4o-mini", Usage(prompt.tokens, 30), memory=prompt.remembered)
        turn = turn.changed(state=State.ANSWERED, answer=Answer(answered(i)))
        self.last = turn.changed(tokens=turn_cost(turn, counter))
        await self.store.save(self.last, spent=bill.spent)

    async def delivered(self, i: int) -> None:  # noqa: ARG002 -- as every step
        """Note that it was delivered, and compact when that is due."""
        await self.store.progress(self.last.id, chunk=1, preview="", state=State.DELIVERED)
        work = self.engine.shared.composers.usual.work()
        conversation = await self.store.load(CHAT, PERSON)
        if any(m.due(conversation, work.budget) for m in self.engine.shared.composers.usual.memories):
            await self.engine.compactor.compact(CHAT)


@asynccontextmanager
async def ours(path: Path) -> AsyncIterator[Ours]:
    """Our bot with the default memories, real tokens and compaction."""
    counter, settings = TiktokenCounter("gpt-4o-mini"), with_server()
    model = Replay(counter)
    store = await open_store(f"sqlite:///{path}", indexing=settings.memory.searches)
    bot = Bot(load_persona("default").text, memory=chosen_memories(settings, model))
    yield Ours(store, build(bot, Ports(store, model, counter, SystemClock(), [Nowhere()]), allowed=["*"]))
    await store.aclose()


@asynccontextmanager
async def same_work(path: Path) -> AsyncIterator[Steps]:
    """Ours, the same work as the others: load, compose, save."""
    async with ours(path) as bot:
        yield Steps(bot.turn, before=bot.inbox, after=bot.delivered)


@asynccontextmanager
async def whole_turn(path: Path) -> AsyncIterator[Steps]:
    """Ours, with what makes it durable: inbox, delivery, compaction."""

    async with ours(path) as bot:

        async def step(i: int) -> None:
            await bot.inbox(i)
            await bot.turn(i)
            await bot.delivered(i)

        yield Steps(step)


@asynccontextmanager
async def whole_engine(path: Path) -> AsyncIterator[Steps]:
    """Ours through the front door: access, commands, lanes, tasks and delivery as well."""
    async with ours(path) as bot:

        async def step(i: int) -> None:
            await bot.engine.handle(message(i))

        yield Steps(step)
        await bot.engine.compactor.finish_due()


@asynccontextmanager
async def floor(path: Path) -> AsyncIterator[Steps]:
    """The least that could be done: bare sqlite3, rows appended, the last forty read."""
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript(
        "pragma journal_mode=wal; pragma synchronous=normal;"
        "create table message(id integer primary key, chat text, role text, content text);"
        "create index by_chat on message(chat, id)"
    )

    async def step(i: int) -> None:
        db.execute("select role, content from message where chat = 'c' order by id desc limit 40").fetchall()
        db.execute("begin immediate")
        rows = [("c", "user", asked(i)), ("c", "assistant", answered(i))]
        db.executemany("insert into message(chat, role, content) values (?, ?, ?)", rows)
        db.execute("commit")

    yield Steps(step)
    db.close()


@asynccontextmanager
async def openai_agents(path: Path) -> AsyncIterator[Steps]:
    """openai-agents, SQLiteSession, the newest 40 items."""
    session = importlib.import_module("agents").SQLiteSession("c", path)

    async def step(i: int) -> None:
        await session.get_items(limit=40)
        await session.add_items([{"role": "user", "content": asked(i)}, {"role": "assistant", "content": answered(i)}])

    yield Steps(step)
    session.close()


@asynccontextmanager
async def llama_index(path: Path) -> AsyncIterator[Steps]:
    """LlamaIndex, Memory of 3,000 tokens on aiosqlite, an estimate for a tokenizer."""
    memory_class = importlib.import_module("llama_index.core.memory").Memory
    chat_message = importlib.import_module("llama_index.core.llms").ChatMessage
    memory = memory_class.from_defaults(
        session_id="c",
        token_limit=3000,
        tokenizer_fn=lambda text: [0] * (len(text) // 4),
        async_database_uri=f"sqlite+aiosqlite:///{path}",
    )

    async def step(i: int) -> None:
        await memory.aget()
        pair = [chat_message(role="user", content=asked(i)), chat_message(role="assistant", content=answered(i))]
        await memory.aput_messages(pair)

    yield Steps(step)


def _langchain_model() -> Any:
    base = importlib.import_module("langchain_core.language_models.llms").LLM

    class Model(base):  # type: ignore[misc, valid-type] # imported when it is there
        @property
        def _llm_type(self) -> str:
            return "fixed"

        def _call(self, prompt: str, stop: Any = None, **more: Any) -> str:  # noqa: ARG002 -- the library's port
            return SUMMARY

        def get_num_tokens(self, text: str) -> int:
            return len(text) // 4

    return Model()


def _langchain(kind: str) -> Callable[[Path], Any]:
    @asynccontextmanager
    async def run(path: Path) -> AsyncIterator[Steps]:
        classes = importlib.import_module("langchain_classic.memory")
        histories = importlib.import_module("langchain_community.chat_message_histories")
        history = histories.SQLChatMessageHistory("c", connection=f"sqlite:///{path}")
        if kind == "window":
            memory = classes.ConversationBufferWindowMemory(k=20, return_messages=True, chat_memory=history)
        else:
            memory = classes.ConversationSummaryBufferMemory(
                llm=_langchain_model(), max_token_limit=3000, return_messages=True, chat_memory=history
            )

        async def step(i: int) -> None:
            memory.load_memory_variables({})
            memory.save_context({"input": asked(i)}, {"output": answered(i)})

        yield Steps(step)

    return run


@asynccontextmanager
async def langgraph(path: Path) -> AsyncIterator[Steps]:
    """LangGraph, MessagesState with its SQLite saver, nothing trimmed."""
    graphs = importlib.import_module("langgraph.graph")
    saver = importlib.import_module("langgraph.checkpoint.sqlite.aio").AsyncSqliteSaver
    messages = importlib.import_module("langchain_core.messages")
    async with saver.from_conn_string(str(path)) as checkpointer:
        graph = graphs.StateGraph(graphs.MessagesState)
        graph.add_node("model", lambda state: {"messages": [messages.AIMessage(answered(len(state["messages"])))]})
        graph.add_edge(graphs.START, "model")
        graph.add_edge("model", graphs.END)
        app = graph.compile(checkpointer=checkpointer)

        async def step(i: int) -> None:
            await app.ainvoke({"messages": [messages.HumanMessage(asked(i))]}, {"configurable": {"thread_id": "c"}})

        yield Steps(step)


OURS: dict[str, Callable[[Path], Any]] = {
    "floor: bare sqlite3, last 40 rows": floor,
    "Keepmind: load, compose, save": same_work,
    "Keepmind: inbox, delivery, compaction too": whole_turn,
    "Keepmind: the whole engine": whole_engine,
}
PEERS: dict[str, Callable[[Path], Any]] = {
    "openai-agents SQLiteSession, last 40 items": openai_agents,
    "LangChain window (k=20), SQL history": _langchain("window"),
    "LangChain summary buffer (3,000), SQL history": _langchain("summary"),
    "LlamaIndex Memory (3,000), aiosqlite": llama_index,
    "LangGraph, SQLite saver": langgraph,
}


async def measure(make: Callable[[Path], Any], turns: int, seconds: float) -> list[float]:
    """Run turns until there are enough or the time is up; give the CPU of each in milliseconds."""
    spent: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with make(Path(folder) / "bench.db") as steps:
            ends = time.monotonic() + seconds
            while len(spent) < turns and time.monotonic() < ends:
                await steps.before(len(spent))
                began = time.process_time()
                await steps.turn(len(spent))
                taken = time.process_time() - began
                await steps.after(len(spent))
                spent.append(taken * 1000)
    return spent


def medians(spent: list[float]) -> Iterator[str]:
    for mark in MARKS:
        before = spent[mark - 20 : mark]
        yield f"{statistics.median(before):8.3f}" if len(before) == 20 else "       –"


async def main(options: argparse.Namespace) -> None:
    """Print a table of milliseconds of CPU a turn."""
    warnings.filterwarnings("ignore")
    print(f"{'ms of CPU a turn, at turn':46s}" + "".join(f"{mark:8,d}" for mark in MARKS) + "   turns run")
    for name, make in {**OURS, **(PEERS if options.peers else {})}.items():
        try:
            spent = await measure(make, options.turns, options.seconds)
        except ImportError as error:
            print(f"{name:46s} not installed: {error}")
            continue
        print(f"{name:46s}" + "".join(medians(spent)) + f"   {len(spent):,d}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="measure the other libraries too")
    parser.add_argument("--turns", type=int, default=10_000, help="turns of each")
    parser.add_argument("--seconds", type=float, default=150, help="longest time for each")
    asyncio.run(main(parser.parse_args()))
