"""The pages of documentation lead somewhere, and name what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyromark
import pytest
from click import Group

from bots.cli import keepmind
from tests.licences import PAGE as LICENCES
from tests.licences import locked

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
COMMAND = re.compile(r"keepmind ((?:[a-z]+ ?)+)")


def links(page: Path) -> Iterator[str]:
    """Give where the links and pictures of a page lead."""
    for event in pyromark.events(page.read_text(encoding="utf-8"), options=pyromark.Options.ENABLE_TABLES):
        start = event.get("Start") if isinstance(event, dict) else None
        found = isinstance(start, dict) and (start.get("Link") or start.get("Image"))
        if found:
            yield found["dest_url"]


def anchors(page: Path) -> set[str]:
    """Give the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), f"{page.name} links to {link}"
        assert not anchor or anchor in anchors(there), f"{page.name} links to {link}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        waiting += [page.parent / link.partition("#")[0] for link in links(page) if "://" not in link]
    assert {page.resolve() for page in PAGES} <= seen


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_names_is_one(page: Path) -> None:
    code = re.findall(r"`[^`\n]+`|^```\n.*?^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    for words in COMMAND.findall("\n".join(code)):
        first, *rest = words.split()
        group = keepmind.commands.get(first)
        assert group is not None, f"{page.name} names keepmind {words}"
        if isinstance(group, Group) and rest:
            assert rest[0] in group.commands, f"{page.name} names keepmind {words}"


def test_the_licence_of_all_that_is_installed_is_told() -> None:
    told = re.findall(r"^\| (\S+) \|", LICENCES.read_text(encoding="utf-8"), re.MULTILINE)
    assert {canonical(name) for name in locked()} <= {canonical(name) for name in told}


def canonical(name: str) -> str:
    """Give the one way in which a package is written (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
