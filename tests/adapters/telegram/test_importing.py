"""An export is brought back by a document with /import, or by answering one with it, however large it is."""

from __future__ import annotations

import json

import pytest

from adapters.telegram.server import TelegramServer, shapes
from adapters.telegram.server.world import User
from core.messages import PRIVATE, Person
from tests.adapters.telegram.life import living

SOURCE = {"chat": "discord:7", "turn": 5, "quote": "I live in Rome", "day": "2026-03-01", "by": "model"}
CITY = {"key": "city", "items": [{"value": "Rome", "source": SOURCE}], "many": False, "pinned": False}
EXPORT = {
    "schema": "keepmind/export/1",
    "person": "discord:7",
    "settings": {},
    "facts": {"private": [CITY]},
    "changes": {},
    "padding": "x" * 300_000,
}


async def facts(life: object, ann: User) -> dict[str, object]:
    return dict(await life.store.known(Person("telegram", str(ann.id)), PRIVATE))  # type: ignore[attr-defined]


@pytest.mark.parametrize("media_type", ["application/json", "application/octet-stream"])
async def test_a_document_with_import_as_its_caption(server: TelegramServer, ann: User, media_type: str) -> None:
    async with living(server) as life:
        server.document(ann, ann, "export.json", json.dumps(EXPORT).encode(), media_type, caption="/import")
        assert (await server.reply(ann)).text == "Imported. 1 fact is new or newer."
        assert await facts(life, ann) == {"city": "Rome"}


async def test_an_answer_to_a_document_that_says_import(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        document = server.document(ann, ann, "export.json", json.dumps(EXPORT).encode(), "application/json")
        await server.reply(ann)
        said = server.say(ann, ann, "/import", reply_to=document)
        assert (await server.reply(ann, after=said)).text.startswith("Imported.")
        assert await facts(life, ann) == {"city": "Rome"}
        assert len(life.llm.of("answer")) == 1, "only the document was shown to the model"


async def test_what_the_bot_exported_is_answered_with_import(server: TelegramServer, ann: User) -> None:
    async with living(server):
        said = server.say(ann, ann, "/memory set city Rome")
        await server.reply(ann, after=said)
        said = server.say(ann, ann, "/export")
        exported = await server.reply(ann, after=said, where=lambda m: "document" in m.data)
        said = server.say(ann, ann, "/import", reply_to=exported)
        assert (await server.reply(ann, after=said)).text == "Imported. 0 facts are new or newer."


async def test_without_a_file_it_is_asked_for(server: TelegramServer, ann: User) -> None:
    async with living(server):
        server.say(ann, ann, "/import")
        assert (await server.reply(ann)).text.startswith("Please send a file with it, as /import")


@pytest.mark.parametrize(
    ("data", "size", "told"),
    [(b"{}", 20 * 2**20 + 1, "up to 20 MB"), (b"{}", None, "damaged"), (b"\x89PNG", None, "damaged")],
)
async def test_a_file_that_is_none_of_ours_is_refused(
    server: TelegramServer, ann: User, data: bytes, size: int | None, told: str
) -> None:
    async with living(server) as life:
        server.document(ann, ann, "export.json", data, "application/json", caption="/import", size=size)
        assert told in (await server.reply(ann)).text
        assert await facts(life, ann) == {}


async def test_a_forwarded_document_with_that_caption_is_no_command(server: TelegramServer, ann: User) -> None:
    async with living(server) as life:
        file = server.api.world.add_file("export.json", "application/json", json.dumps(EXPORT).encode(), None)
        content = {"document": shapes.named_shape(file), "caption": "/import"}
        server.send(ann, ann, content, forward_from=server.person("Bob"))
        await server.reply(ann)
        assert await facts(life, ann) == {}
