"""Makes the pictures of the documentation from the real bot on a simulated Discord: `python -m tests.pictures`.

Needs `simcord[screenshot]` and a Chromium, on Debian `apt install chromium fonts-noto-color-emoji fonts-noto-cjk`.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from playwright.async_api import async_playwright

from core.messages import Person
from tests.adapters.discord.people import Club, club
from tests.adapters.discord.simulated import Simulated, simulated
from tests.contract.talk import change, fact

CARD = Path(__file__).parents[1] / "docs" / "discord-card.png"
FACTS = {
    "allergic_to": ["peanuts"],
    "city": ["Lisbon"],
    "favourite_tea": ["jasmine"],
    "hobbies": ["chess", "hiking"],
    "name": ["Ann"],
}
WIDTH, HEIGHT = 760, 700
READY = "() => window.simcordPreview && window.simcordPreview.ready === true"


async def card(path: Path, chromium: str) -> None:
    """Show Ann her memory card and one of its facts."""
    async with simulated() as life:
        life.discord.backend.bot_user.name = "Keepmind"
        place = club(life)
        await _know(life, place)
        await place.ann.slash(place.general, "memory view")
        opened = await place.ann.slash(place.general, "memory fact", key="allergic_to")
        shown = life.discord.preview(
            place.general, viewers=[place.ann], layout="channel", display="fixed", width=WIDTH, height=HEIGHT
        )
        async with shown as preview:
            await preview.show(opened)
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
    asyncio.run(card(CARD, parser.parse_args().chromium))
