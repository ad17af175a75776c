"""Short ways to talk to a store in a test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from core.conversation import Answer, Conversation, Segment, State, Step, Turn
from core.facts import Action, Change, Fact, Item, Source
from core.messages import ChatKey, Message, Person
from core.store import ConversationStore

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ANN, BOB = Person("telegram", "5000000000"), Person("telegram", "5000000001")
PRIVATE_CHAT = ChatKey("telegram", "5000000000")
GROUP = ChatKey("telegram", "-1002471352452", "17")


def message(text: str, id_: str, chat: ChatKey = PRIVATE_CHAT, sender: Person = ANN, minute: float = 0) -> Message:
    sent_at = START + timedelta(minutes=minute)
    return Message(id_, chat, sender, text, sent_at, name="Ann", private=not chat.chat.startswith("-"))


@dataclass
class Talk:
    """Says things in one chat of a store, one minute after the other."""

    store: ConversationStore
    chat: ChatKey = PRIVATE_CHAT
    said: int = field(default=0)

    async def arrives(self, text: str, sender: Person = ANN) -> Message:
        self.said += 1
        arrived = message(text, str(self.said), self.chat, sender, self.said)
        assert await self.store.receive(arrived)
        return arrived

    async def opens(self, text: str, sender: Person = ANN) -> Turn:
        arrived = await self.arrives(text, sender)
        _, turn = await self.store.open([arrived], tokens=7, at=arrived.sent_at)
        return turn

    async def says(self, text: str, sender: Person = ANN) -> Turn:
        turn = await self.opens(text, sender)
        answered = replace(turn, state=State.DELIVERED, answer=Answer(f"answer to {text}"), tokens=20)
        await self.store.save(answered)
        return answered

    async def loaded(self, person: Person | None = ANN) -> Conversation:
        return await self.store.load(self.chat, person, private=not self.chat.chat.startswith("-"))

    async def folds(self, first: int, last: int, text: str = "gist") -> Segment:
        conversation = await self.loaded()
        covers = conversation.path[first : last + 1]
        return await self.store.add_segment(
            self.chat, segment(covers, text), covers=covers, edition=conversation.edition
        )


def segment(covers: tuple[Step, ...], text: str = "gist") -> Segment:
    first, last = covers[0], covers[-1]
    before = first.before if isinstance(first, Segment) else first.parent
    end = last.last if isinstance(last, Segment) else last.id
    return Segment(0, before, end, text, 5, sum(s.turns if isinstance(s, Segment) else 1 for s in covers))


def fact(key: str, *values: str, turn: Turn | None = None, quote: str = "") -> Fact:
    chat = str(turn.chat) if turn else ""
    source = Source(
        chat, turn.id if turn else None, quote or (turn.message.text if turn else ""), "2026-03-01", "model"
    )
    return Fact(key, tuple(Item(value, source) for value in values), many=len(values) > 1)


def change(call: str, after: Fact | None, before: Fact | None = None, turn: Turn | None = None) -> Change:
    either = after or before
    assert either
    action: Action = "remove" if after is None else "add" if before is None else "change"
    return Change(call, action, either.key, before, after, START, turn.id if turn else None)
