"""The page that `keepmind doctor` prints: a line a finding, its fix below it; or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import click

from bots.doctor.finding import Finding, worst

_MARKS = {"fine": ("✓", "green"), "warning": ("!", "yellow"), "broken": ("✗", "red")}
_WIDE = 13


def page(findings: Sequence[Finding]) -> str:
    """Write all findings, coloured; what prints it takes the colours out where they do not belong."""
    return "\n".join([*_rooms(findings), "", _total(findings)])


def data(findings: Sequence[Finding]) -> dict[str, Any]:
    """Give all findings for programs: the worst `level`, and the `checks` in the order of the page."""
    return {"level": worst(findings), "checks": [asdict(finding) for finding in findings]}


def _rooms(findings: Sequence[Finding]) -> Iterator[str]:
    for number, (room, some) in enumerate(groupby(findings, key=lambda one: one.room)):
        if number:
            yield ""
        yield click.style(room.capitalize(), bold=True)
        for finding in some:
            yield from _lines(finding)


def _lines(finding: Finding) -> Iterator[str]:
    mark, colour = _MARKS[finding.level]
    yield f"  {click.style(mark, fg=colour, bold=True)} {finding.about:<{_WIDE}}{finding.says}"
    if finding.fix:
        yield f"    {'':<{_WIDE}}{click.style('→', fg=colour)} {finding.fix}"


def _total(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.level for finding in findings)
    if worst(findings) == "fine":
        return click.style(f"All {counts['fine']} checks are fine.", fg="green")
    told = [f"{counts['broken']} broken"] * (counts["broken"] > 0)
    told += [f"{counts['warning']} to look at"] * (counts["warning"] > 0)
    return click.style(f"{', '.join(told)}, {counts['fine']} fine.", fg=_MARKS[worst(findings)][1])
