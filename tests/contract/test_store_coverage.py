"""The coverage invariant under thousands of random operations, against a model that is a list of texts a chat."""

from __future__ import annotations

from random import Random

import pytest

from core.conversation import Segment, Step
from core.errors import StaleBase
from core.messages import ChatKey
from core.store import ConversationStore
from tests.contract.talk import Talk, segment

OPERATIONS, FEWER = 400, 100
"""Fewer where each statement goes to a server."""


class Model:
    """Chats as lists of [turn id, message id, text], oldest first."""

    def __init__(self, store: ConversationStore, seed: int) -> None:
        self.store = store
        self.random = Random(seed)
        self.talks = [Talk(store, ChatKey("telegram", str(n))) for n in range(2)]
        self.turns: dict[ChatKey, list[tuple[int, str, str]]] = {talk.chat: [] for talk in self.talks}
        self.editions = {talk.chat: 0 for talk in self.talks}

    async def step(self) -> None:
        talk = self.random.choice(self.talks)
        acts = [self.say, self.say, self.say, self.fold, self.fold, self.fold_the_past, self.erase, self.edit]
        await self.random.choice(acts)(talk)
        await self.check(talk)

    async def say(self, talk: Talk) -> None:
        turn = await talk.says(f"text {talk.said}")
        self.turns[talk.chat].append((turn.id, turn.message.id, turn.message.text))

    async def fold(self, talk: Talk) -> None:
        covers, edition = await self.some_range(talk)
        if covers:
            await self.store.add_segment(talk.chat, segment(covers), covers=covers, edition=edition)

    async def fold_the_past(self, talk: Talk) -> None:
        """Fold what was seen before something happened: it is refused, or still right."""
        covers, edition = await self.some_range(talk)
        await self.random.choice([self.say, self.fold, self.edit, self.erase])(talk)
        if covers:
            try:
                await self.store.add_segment(talk.chat, segment(covers), covers=covers, edition=edition)
            except StaleBase:
                return

    async def some_range(self, talk: Talk) -> tuple[tuple[Step, ...], int]:
        conversation = await self.store.load(talk.chat)
        first = self.random.randrange(len(conversation.path) + 1)
        last = min(len(conversation.path), first + self.random.randint(1, 6))
        return conversation.path[first:last], conversation.edition

    async def erase(self, talk: Talk) -> None:
        turns = self.turns[talk.chat]
        if turns and self.random.random() < 0.5:
            id_, _, _ = turns.pop(self.random.randrange(len(turns)))
            assert (await self.store.erase_turn(talk.chat, id_)).counts["turns"] == 1
            self.editions[talk.chat] += 1

    async def edit(self, talk: Talk) -> None:
        turns = self.turns[talk.chat]
        if turns:
            place = self.random.randrange(len(turns))
            id_, message, text = turns[place]
            turns[place] = (id_, message, f"{text}!")
            assert await self.store.edit(talk.chat, message, f"{text}!")
            self.editions[talk.chat] += 1

    async def check(self, talk: Talk) -> None:
        conversation = await self.store.load(talk.chat)
        shown: list[tuple[int, str, str]] = []
        for step in conversation.path:
            beneath = await self.store.covered(step) if isinstance(step, Segment) else [step]
            assert not isinstance(step, Segment) or len(beneath) == step.turns
            shown += [(turn.id, turn.message.id, turn.message.text) for turn in beneath]
        assert shown == self.turns[talk.chat]
        assert conversation.edition == self.editions[talk.chat]


@pytest.mark.parametrize("seed", range(4))
async def test_every_turn_is_shown_or_folded_exactly_once(
    store: ConversationStore, seed: int, request: pytest.FixtureRequest
) -> None:
    model = Model(store, seed)
    for n in range(FEWER if "postgresql" in request.node.name else OPERATIONS):
        await model.step()
        assert n % 50 or await store.verify() == []


async def test_the_checks_of_this_file_notice_a_lost_turn(store: ConversationStore) -> None:
    model = Model(store, 0)
    await model.say(model.talks[0])
    model.turns[model.talks[0].chat] *= 2
    with pytest.raises(AssertionError):
        await model.check(model.talks[0])
