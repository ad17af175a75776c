"""What else is known of a person where they talk: by accounts linked with theirs, and what is shared with groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce

from core.conversation import Conversation, Elsewhere
from core.facts import Fact, Facts
from core.kept import merged
from core.messages import PRIVATE, Person
from core.store import ConversationStore

Dated = tuple[str, datetime, Fact]
"""A fact, after the day its newest value was told and the time it was last changed."""
_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


async def viewed(store: ConversationStore, conversation: Conversation) -> Conversation:
    """Give a conversation with all that may be used in it of what is known about its person elsewhere. Only reads."""
    if conversation.person is None or conversation.settings.memory == "off":
        return conversation
    elsewhere = [place for place in await _elsewhere(store, conversation) if place.facts]
    if not elsewhere:
        return conversation
    here = Elsewhere(conversation.person, conversation.scope, conversation.facts)
    together = await _together(store, [here, *elsewhere])
    return replace(conversation, elsewhere=tuple(elsewhere), together=together)


async def _elsewhere(store: ConversationStore, conversation: Conversation) -> Sequence[Elsewhere]:
    person, shares = conversation.person, conversation.settings.share
    if person is None or not (shares or conversation.private):
        return []
    accounts = {person: shares}
    for other in await store.linked(person):
        chosen = await store.settings(other)
        if chosen.memory != "off":
            accounts[other] = shares and chosen.share
    places = [(who, scope) for who in accounts for scope in await _scopes(store, conversation, who, accounts[who])]
    return [Elsewhere(who, scope, await store.known(who, scope)) for who, scope in places]


async def _scopes(store: ConversationStore, conversation: Conversation, who: Person, shared: bool) -> Sequence[str]:
    """Name the scopes whose facts may be used here: groups meet private talk only where that is shared."""
    if not conversation.private:
        return [PRIVATE] if shared else []
    own = [] if who == conversation.person else [PRIVATE]
    return [*own, *(s for s in await store.scopes(who) if s != PRIVATE)] if shared else own


async def _together(store: ConversationStore, places: Sequence[Elsewhere]) -> Facts:
    """Put facts of several places together: of lists all items, of single values the newest."""
    keys = sorted({key for place in places for key in place.facts})
    several = {key for key in keys if sum(key in place.facts for place in places) > 1}
    dated = [(place, await _changed_at(store, place) if several else {}) for place in places]
    return Facts({key: _newest(_of(key, dated)) for key in keys})


def _of(key: str, dated: Sequence[tuple[Elsewhere, Mapping[str, datetime]]]) -> Iterable[Dated]:
    for place, changed in dated:
        if fact := place.facts.by_key.get(key):
            yield max(item.source.day for item in fact.items), changed.get(key, _LONG_AGO), fact


def _newest(facts: Iterable[Dated]) -> Fact:
    return reduce(merged, (fact for _, _, fact in sorted(facts, key=lambda dated: dated[:2])))


async def _changed_at(store: ConversationStore, place: Elsewhere) -> dict[str, datetime]:
    """Give when each fact of a place was changed last."""
    changes = await store.changes(place.person, place.scope, limit=1000)
    return {change.key: change.at for change in reversed(changes)}
