"""Which model finds what was told in other words, as the settings name it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bots.meaning import open_meaning
from bots.memories import chosen_memories
from config.settings import Settings, load_settings
from core.errors import ConfigError
from core.memory.archive import Archive
from tests.fakes import ScriptedLLM

SERVER = {"OPENAI_BASE_URL": "http://model.test/v1", "OPENAI_API_KEY": "sk-test"}


def settings(folder: Path, embeddings: str = "", **more: str) -> Settings:
    return load_settings(
        {"KEEPMIND_MEMORY__EMBEDDINGS": embeddings, "KEEPMIND_MEMORY__ARCHIVE": "true", **more}, folder
    )


async def test_words_are_all_until_a_model_is_named(tmp_path: Path) -> None:
    async with open_meaning(settings(tmp_path)) as meaning:
        assert meaning is None


async def test_a_model_of_the_server_is_asked_by_its_name(tmp_path: Path) -> None:
    named = settings(tmp_path, "text-embedding-3-small", **SERVER)
    async with open_meaning(named) as meaning:
        assert meaning is not None
        assert meaning.embedder.model == "text-embedding-3-small"
        archive = chosen_memories(named, ScriptedLLM(), meaning)[-1]
        assert isinstance(archive, Archive)


async def test_a_model_of_a_server_that_is_not_named_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="write local or off"):
        async with open_meaning(settings(tmp_path, "text-embedding-3-small")):
            pass
