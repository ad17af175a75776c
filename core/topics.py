"""Topics inside topics: the turns of one chat as a tree that a program reads and writes, in any store."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from uuid import uuid4

from pydantic import ConfigDict, TypeAdapter
from pydantic_core import to_jsonable_python

from core.clock import Clock
from core.conversation import State, Turn
from core.llm import TokenCounter
from core.messages import Attachment, ChatKey, Message, Person
from core.prompt import turn_cost
from core.records import Branch
from core.store import ConversationStore

Content = str | Sequence[str | Attachment]
"""What a node holds: a text, or several parts, each a text or an attachment."""
_BYTES = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
_TURNS = TypeAdapter(tuple[Turn, ...], config=_BYTES)
SCHEMA = "keepmind/topics/1"


class Place(NamedTuple):
    """A node met on a walk: how deep it lies, from zero, and its id."""

    level: int
    node: int


@dataclass(frozen=True)
class Topics:
    """The tree of a chat. A node is a turn, named by its id; `None` stands for the root, which holds nothing.

    A node comes after another, at the same level, or inside it, a level deeper. What is added here is no part of the
    talk until the head of the chat is moved to it. The work of adding, `related` and `level` depends on how deep a node
    lies, that of the others on the size of the tree; none of it on Python's stack. With an in-memory store nothing
    lasts. `person` is whose the nodes are. A node that does not exist raises StaleBase where it is written to, and
    has nothing related.
    """

    store: ConversationStore
    chat: ChatKey
    person: Person
    clock: Clock
    counter: TokenCounter

    async def add_after(self, node: int | None, content: Content) -> int:
        """Add a node after another (None: as a first one), and give its id.

        What came after that one before is not moved: the two are branches, and neither is related to the other.
        """
        return await self._add(node, content, inside=False)

    async def add_inside(self, node: int | None, content: Content) -> int:
        """Add a node inside another, and give its id. A later one inside the same is best added after the first."""
        return await self._add(node, content, inside=True)

    async def _add(self, node: int | None, content: Content, *, inside: bool) -> int:
        now = self.clock.now()
        turn = Turn(0, None, self.chat, State.DELIVERED, self._messages(content), at=now, inside=inside)
        turn = replace(turn, tokens=turn_cost(turn, self.counter))
        (added,) = await self.store.add_turns(self.chat, [turn], under=node)
        return added.id

    def _messages(self, content: Content) -> tuple[Message, ...]:
        parts = [content] if isinstance(content, str) else list(content) or [""]
        return tuple(self._message(part, f"topic:{uuid4().hex}") for part in parts)

    def _message(self, part: str | Attachment, id_: str) -> Message:
        bare = Message(id_, self.chat, self.person, "", self.clock.now())
        return replace(bare, text=part) if isinstance(part, str) else replace(bare, attachments=(part,))

    async def content(self, node: int) -> Content:
        """Give what a node holds; a blank text when there is no such node."""
        turn = await self.store.turn(node)
        parts = _parts(turn) if turn is not None and turn.chat == self.chat else [""]
        return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts

    async def related(self, node: int) -> Sequence[Turn]:
        """Give what a node is to be understood with: the nodes it lies in, and those before it and before each of
        them, the oldest first; not itself."""
        return (await self.store.line(self.chat, node))[:-1]

    async def level(self, node: int) -> int:
        """Say how deep a node lies: 0 for one that lies in no other."""
        return sum(turn.inside for turn in await self.store.line(self.chat, node))

    async def children(self, node: int | None) -> Sequence[int]:
        """Give the nodes directly inside a node (None: those that lie in no other), the oldest first."""
        return _by_topic(await self.store.branches(self.chat)).get(node, [])

    async def walk(self, node: int | None = None) -> AsyncIterator[Place]:
        """Meet a node (None: each that lies in no other) and all inside it: each before what lies in it."""
        by_topic = _by_topic(await self.store.branches(self.chat))
        start = by_topic.get(None, []) if node is None else [node]
        left = [Place(0, one) for one in reversed(start)]
        while left:
            place = left.pop()
            yield place
            left += [Place(place.level + 1, inner) for inner in reversed(by_topic.get(place.node, []))]

    async def update(self, node: int, content: Content) -> bool:
        """Put other content into a node; False when there is no such node."""
        return await self.store.reword(self.chat, node, self._messages(content))

    async def delete(self, node: int) -> int:
        """Erase a node with all inside it; how many nodes. Those after it then come after the one before it."""
        return (await self.store.erase_branch(self.chat, node)).counts.get("turns", 0)

    async def exported(self) -> dict[str, Any]:
        """Give the whole tree as plain JSON data."""
        turns = [await self.store.turn(branch.turn) for branch in await self.store.branches(self.chat)]
        return {"schema": SCHEMA, "nodes": to_jsonable_python([t for t in turns if t], bytes_mode="base64")}

    async def imported(self, data: Mapping[str, Any], *, under: int | None = None) -> Sequence[int]:
        """Add what `exported` gave, of this chat or another, after a node; give the ids, in the same order.

        Raises ValueError when it is no such data.
        """
        if data.get("schema") != SCHEMA:
            raise ValueError(f"it is no {SCHEMA}")
        turns = [self._here(turn) for turn in _TURNS.validate_json(json.dumps(data.get("nodes")))]
        return [turn.id for turn in await self.store.add_turns(self.chat, turns, under=under)]

    def _here(self, turn: Turn) -> Turn:
        """Give a turn as it stands in this chat: it is told and done, by the person whose tree this is."""
        messages = tuple(replace(m, id=f"topic:{uuid4().hex}", sender=self.person) for m in turn.messages)
        return replace(turn, messages=messages, state=State.DELIVERED, preview="")


def _parts(turn: Turn) -> list[str | Attachment]:
    parts: list[str | Attachment] = []
    for message in turn.messages:
        parts += [message.text] if message.text or not message.attachments else []
        parts += message.attachments
    return parts


def _by_topic(branches: Sequence[Branch]) -> Mapping[int | None, list[int]]:
    """Put each node under the one that it lies in."""
    topics: dict[int | None, int | None] = {}
    nodes: dict[int | None, list[int]] = {}
    for turn, parent, inside in branches:  # a parent is older than its child
        topics[turn] = parent if inside else topics.get(parent)
        nodes.setdefault(topics[turn], []).append(turn)
    return nodes
