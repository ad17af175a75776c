"""Makes the pictures of the documentation from the real bot on a simulated Discord: `python -m tests.pictures`.

Needs `simcord[screenshot]` and a Chromium, on Debian `apt install chromium fonts-noto-color-emoji fonts-noto-cjk`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

import simcord
from playwright.async_api import async_playwright

from core.llm import Completion, Request
from core.messages import Person
from tests.adapters.discord.people import Club, club
from tests.adapters.discord.simulated import Simulated, simulated
from tests.contract.talk import change, fact
from tests.fakes import ScriptedLLM, calling

DOCS = Path(__file__).parents[1] / "docs"
CARD, CHAT = DOCS / "discord-card.png", DOCS / "discord-chat.png"
FACTS = {
    "allergic_to": ["peanuts"],
    "city": ["Lisbon"],
    "favourite_tea": ["jasmine"],
    "hobbies": ["chess", "hiking"],
    "name": ["Ann"],
}
WIDTH, HEIGHT = 760, 700
READY = "() => window.simcordPreview && window.simcordPreview.ready === true"


TALK = (
    ("I moved to Lisbon last week, and I still have no chess club!", "city", "Lisbon",
     "Congratulations on Lisbon, Ann! One with a board outdoors? Shall we look near where you live?"),
    ("Yes! But not on Thursdays, that's when I sing in a choir.", "choir", "Thursdays",
     "Thursdays are for singing, then. Is there a part of the town you would walk to?"),
)  # fmt: skip
"""What Ann says, the fact the model takes from it, and what it answers."""


async def chat(path: Path, chromium: str) -> None:
    """Show a talk in a channel, and where a fact comes from."""
    async with simulated(llm=ScriptedLLM(_answered)) as life:
        life.discord.backend.bot_user.name = "Keepmind"
        place = club(life)
        await life.discord.settle()  # it has greeted the server
        for text, *_ in TALK:
            await place.ann.send(place.general, f"<@{life.me}> {text}")
            await life.discord.settle()
        asked = await place.ann.slash(place.general, "memory why", key="city")
        await _shown(life, place, asked, path, chromium)


def _answered(request: Request) -> Completion:
    """Play the model: keep the fact, and answer."""
    said = request.messages[-1].content
    _, key, value, answer = next(line for line in TALK if line[0] in said)
    return calling(("update_memory", json.dumps({"action": "add", "key": key, "value": value})), text=answer)


async def card(path: Path, chromium: str) -> None:
    """Show Ann her memory card and one of its facts."""
    async with simulated() as life:
        life.discord.backend.bot_user.name = "Keepmind"
        place = club(life)
        await life.discord.settle()  # it has greeted the server
        await _know(life, place)
        await place.ann.slash(place.general, "memory view")
        opened = await place.ann.slash(place.general, "memory fact", key="allergic_to")
        await _shown(life, place, opened, path, chromium)


async def _shown(life: Simulated, place: Club, last: simcord.InteractionResult, path: Path, chromium: str) -> None:
    """Take a picture of the channel as Ann sees it, the answer to what she did last in view."""
    shown = life.discord.preview(
        place.general, viewers=[place.ann], layout="channel", display="fixed", width=WIDTH, height=HEIGHT
    )
    async with shown as preview:
        await preview.show(last)
        await _take(preview.url, path, chromium)


async def _know(life: Simulated, place: Club) -> None:
    ann, scope = Person("discord", str(place.ann.id)), f"discord:{place.general.id}"
    known = [change(key, fact(key, *values)) for key, values in FACTS.items()]
    await life.store.apply(ann, scope, known)


async def _take(url: str, path: Path, chromium: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium)
        page = await browser.new_page(viewport={"width": WIDTH + 400, "height": HEIGHT + 100})
        await page.goto(url)
        await page.wait_for_function(READY)
        await page.locator("#channel-timeline").screenshot(path=path)
        await browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser that draws")
    browser = parser.parse_args().chromium
    asyncio.run(card(CARD, browser))
    asyncio.run(chat(CHAT, browser))
