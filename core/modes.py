"""Which of a group's talk is for the bot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

MENTION, LISTEN, OPEN, OFF = "mention", "listen", "open", "off"


class Hearing(Enum):
    """What a message is to the bot."""

    NOTHING = "not taken at all"
    TALK = "heard, not answered"
    ADDRESSED = "answered"


@dataclass
class Modes:
    """How the bot behaves in groups: `mode` everywhere but in the groups named in `modes`.

    `mention` takes only what is addressed to it, `listen` hears all and answers what is addressed to it, `open`
    answers all, `off` takes nothing.
    """

    mode: str = MENTION
    modes: Mapping[str, str] = field(default_factory=dict)

    def named(self, *names: str) -> str:
        """Give the mode of a group that goes by several names, the narrowest first."""
        return next((self.modes[name] for name in names if name in self.modes), self.mode)


def heard(mode: str, *, called: bool) -> Hearing:
    """Decide about a message by the mode of its group, and whether it calls the bot."""
    if mode == OFF:
        return Hearing.NOTHING
    if mode == OPEN or called:
        return Hearing.ADDRESSED
    return Hearing.TALK if mode == LISTEN else Hearing.NOTHING
