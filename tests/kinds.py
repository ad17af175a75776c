"""Each kind of history, small enough that a short talk reaches its limits, and a summariser that names all."""

from __future__ import annotations

import re
from collections.abc import Callable

from core import memory as kinds
from core.bot import Bot
from core.conversation import Segment
from core.llm import Completion, Request
from core.memory.buffer import Buffer
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.none import NoHistory
from core.memory.profile import Profile
from core.memory.recent import TokenWindow, Window
from core.memory.summary_buffer import BufferLimits, SummaryBuffer
from core.memory.tree import Tree
from core.memory.window import WindowLimits
from core.messages import ChatKey
from tests.driving import ANNA
from tests.fakes import World

NUMBER = re.compile(r"number \d+")
KINDS: dict[str, Callable[[], kinds.memory.Memory]] = {
    "none": NoHistory,
    "buffer": Buffer,
    "window": lambda: Window(4),
    "token_window": lambda: TokenWindow(60),
    "summary": lambda: kinds.summary_buffer.Summary(),
    "summary_buffer": lambda: SummaryBuffer(limits=BufferLimits(tokens=10_000, turns=5, keep=2)),
    "tree": lambda: Tree(60),
    "keepmind": lambda: Keepmind(WindowLimits(8, 4, 100_000, 50_000, 2), SummaryLimits(60, 300)),
}
REMEMBERS_ALL = ("buffer", "summary", "summary_buffer", "keepmind")
"""The kinds that show all that was said, raw or in a summary."""


def lines_of(request: Request) -> str:
    """The new lines that a summary was asked for."""
    return request.messages[-1].content.partition("<conversation>\n")[2]


def earlier_in(request: Request) -> str:
    """The old summary that a summary was asked for."""
    return request.messages[-1].content.partition("<summary_so_far>\n")[2].partition("</summary_so_far>")[0]


def gist(request: Request) -> Completion:
    """Name all that was said, in the old summary and in the new lines."""
    told = NUMBER.findall(earlier_in(request)) + NUMBER.findall(lines_of(request))
    return Completion("they said " + ", ".join(dict.fromkeys(told)))


def a_world(kind: str, **more: object) -> World:
    """A bot with a kind of history."""
    world = World(bot=Bot(memory=[KINDS[kind](), Profile()]), **more)  # type: ignore[arg-type]
    world.llm.summary = gist
    return world


def become(world: World, kind: str) -> None:
    """Start anew with another kind of history."""
    world.bot = Bot(memory=[KINDS[kind](), Profile()])
    world.restart()


def said(first: int, last: int) -> list[str]:
    """What is said in a talk."""
    return [f"number {n}" for n in range(first, last + 1)]


async def talk(world: World, first: int, last: int, who: str = "anna") -> None:
    """Say numbers, and let what is due be done after each."""
    for text in said(first, last):
        await world.say(text, who)
        await world.settle()


async def covered(world: World, chat: ChatKey = ANNA) -> list[str]:
    """What was said in the turns from root to head, each shown raw or by its segment."""
    found: list[str] = []
    for step in (await world.store.load(chat)).path:
        beneath = await world.store.covered(step) if isinstance(step, Segment) else [step]
        found += [turn.message.text for turn in beneath]
    return found


def remembered(world: World) -> list[str]:
    """What the last prompt shows of what was said before, raw or in a summary."""
    *before, _ = world.llm.of("answer")[-1].messages
    text = "\n".join(m.content for m in before if m.role == "user")
    return list(dict.fromkeys(NUMBER.findall(text)))
