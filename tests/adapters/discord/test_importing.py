"""An export is brought back by /import with its file, also one from another platform."""

from __future__ import annotations

import json

from adapters.discord.server import DiscordServer
from core.messages import PRIVATE, Person
from tests.adapters.discord.life import Club, living

SOURCE = {"chat": "telegram:7", "turn": 5, "quote": "I live in Rome", "day": "2026-03-01", "by": "model"}
CITY = {"key": "city", "items": [{"value": "Rome", "source": SOURCE}], "many": False, "pinned": False}
EXPORT = {
    "schema": "keepmind/export/1",
    "person": "telegram:7",
    "settings": {},
    "facts": {"private": [CITY]},
    "changes": {},
    "padding": "x" * 300_000,
}


async def test_an_export_from_telegram_is_brought_to_discord(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        file = server.file(server.private(club.ann), "export.json", json.dumps(EXPORT).encode(), "application/json")
        shown = await server.answered(server.use(club.ann, club.ann, "import", file=file))
        assert shown.text == "Imported. 1 fact is new or newer."
        known = await life.store.known(Person("discord", str(club.ann.id)), PRIVATE)
        assert dict(known) == {"city": "Rome"}


async def test_in_a_server_nothing_is_imported_and_only_they_are_told(server: DiscordServer, club: Club) -> None:
    async with living(server):
        file = server.file(club.general, "export.json", json.dumps(EXPORT).encode(), "application/json")
        shown = await server.answered(server.use(club.ann, club.general, "import", file=file))
        assert "in our private talk" in shown.text
        assert shown.seen_by == club.ann


async def test_the_file_of_a_stranger_is_not_even_fetched(server: DiscordServer, club: Club) -> None:
    async with living(server, allowed=()):
        file = server.file(server.private(club.ann), "export.json", b"{}", "application/json")
        server.api.world.files.clear()  # who fetches it now meets an error
        shown = await server.answered(server.use(club.ann, club.ann, "import", file=file))
        assert f"discord:{club.ann.id}" in shown.text
