"""Faults on demand: what goes wrong with which call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(slots=True)
class Fault:
    """What goes wrong with calls of a name ("" is any), to a place (None is any).

    The call waits `delay` seconds, then is refused or dropped, `before` or `after` it takes effect; with neither it
    goes through. The first `skip` calls are spared; then it happens `times` times, -1 is for ever.
    """

    name: str = ""
    place: int | None = None
    delay: float = 0.0
    refusal: Exception | None = None
    drop: bool = False
    when: Literal["before", "after"] = "before"
    times: int = 1
    skip: int = 0

    def _takes(self, name: str, place: int | str | None) -> bool:
        fits = self.name.lower() in ("", name.lower()) and self.place in (None, place)
        if not fits or self.times == 0:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.times -= self.times > 0
        return True


@dataclass(slots=True)
class Faults:
    """The faults that wait for their calls, in the order they were asked for."""

    waiting: list[Fault] = field(default_factory=list)

    def add(self, fault: Fault) -> Fault:
        """Let something go wrong from now on."""
        self.waiting.append(fault)
        return fault

    def take(self, name: str, place: int | str | None) -> Fault | None:
        """Find what goes wrong with this call."""
        return next((fault for fault in self.waiting if fault._takes(name, place)), None)

    def clear(self) -> None:
        """Let all go well again."""
        self.waiting.clear()
