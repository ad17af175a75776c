"""Facts that are stored only when their person says so: each is shown to them alone, to be saved or discarded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import TypeAdapter, ValidationError

from core.adapter import Outgoing
from core.conversation import Turn
from core.delivery import Delivery
from core.draft import FactDraft
from core.errors import CommandError, Unreachable
from core.facts import Change
from core.messages import Choice
from core.translation import ENGLISH, marked, speaking, spoken

MOST_AT_ONCE = 8
"""How many facts of one turn a person is asked about."""
MAY_SAVE = marked("May I remember this about you?\n{key}: {value}")
MAY_REMOVE = marked("May I forget this about you?\n{key}: {value}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """What is to be done with a fact: with the values given, or on removing without any with all of it."""

    action: Literal["add", "change", "remove"]
    key: str
    values: tuple[str, ...]
    by: Literal["model", "extraction"] = "model"

    @classmethod
    def of(cls, change: Change) -> Proposal:
        """Give what a change that was not stored had been meant to do."""
        before, after = (fact.items if fact else () for fact in (change.before, change.after))
        fresh = after if change.action != "remove" else ()
        gone = before if after and change.action == "remove" else ()
        values = [i.value for i in fresh if i not in before] + [i.value for i in gone if i not in after]
        by: Literal["model", "extraction"] = "extraction" if change.by == "extraction" else "model"
        return cls(cast(Literal["add", "change", "remove"], change.action), change.key, tuple(values), by)

    @classmethod
    def read(cls, text: str) -> Proposal:
        """Read back what `written` gave. Raises CommandError."""
        try:
            return _ADAPTER.validate_json(text)
        except ValidationError:
            raise CommandError(spoken("That is nothing I have proposed.")) from None

    @property
    def written(self) -> str:
        """The proposal as text."""
        plain = {"action": self.action, "key": self.key, "values": self.values, "by": self.by}
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))

    def make(self, draft: FactDraft, call: str) -> None:
        """Do it in a draft. Raises ToolError."""
        if self.action == "remove":
            for value in self.values or ("",):
                draft.remove(f"{call}/{value}", self.key, value)
        else:
            (draft.add if self.action == "add" else draft.change)(call, self.key, self.values)


_ADAPTER = TypeAdapter(Proposal)


class Proposals:
    """Shows what was proposed. Their buttons hold all that is needed, so they work as long as the turn is kept."""

    def __init__(self, deliveries: Mapping[str, Delivery], language: str = ENGLISH) -> None:
        self._deliveries = deliveries
        self._language = language

    async def show(self, turn: Turn, changes: Sequence[Change]) -> None:
        """Ask the person of a turn about changes that are not stored. Raises Unreachable where there is no platform."""
        if turn.chat.platform not in self._deliveries:
            raise Unreachable(f"facts of turn {turn.id} can't be proposed here")
        with speaking(turn.message.language or self._language):
            for proposal in list(dict.fromkeys(map(Proposal.of, changes)))[:MOST_AT_ONCE]:
                await self._deliveries[turn.chat.platform].say(_shown(turn, proposal))


def _shown(turn: Turn, proposal: Proposal) -> Outgoing:
    choices = (
        Choice(spoken("Save") if proposal.action != "remove" else spoken("Forget it"), _saving(turn, proposal)),
        Choice(spoken("Discard") if proposal.action != "remove" else spoken("Keep it"), "/memory discard"),
    )
    sentence = MAY_SAVE if proposal.action != "remove" else MAY_REMOVE
    text = spoken(sentence, key=proposal.key, value=", ".join(proposal.values) or spoken("all of it"))
    only_for = None if turn.message.private else turn.sender
    return Outgoing(turn.chat, text, only_for=only_for, choices=choices, asker=turn.message.asker)


def _saving(turn: Turn, proposal: Proposal) -> str:
    return f"/memory save {turn.id} {proposal.written}"
