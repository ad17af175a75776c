"""The defaults of the settings are the defaults of the core: neither can be changed alone."""

from __future__ import annotations

from bots.app import _limits
from bots.memories import chosen_memories, fact_rules
from config.settings import Model, Settings
from core.collaborators import Limits
from core.compactor import CompactorLimits
from core.draft import FactRules
from core.memory.archive import Archive
from core.memory.entities import Entities
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.profile import FIELDS, Profile
from core.memory.window import WindowLimits
from core.personas import default_memory
from tests.fakes import ScriptedLLM

SETTINGS = Settings(model=Model(base_url="http://127.0.0.1/v1"))


def test_the_memories_of_the_settings_are_those_of_a_bot_that_names_none() -> None:
    history, profile = chosen_memories(SETTINGS, ScriptedLLM())
    assert [type(memory) for memory in default_memory()] == [type(memory) for memory in (history, profile)]
    assert isinstance(history, Keepmind)
    assert (history.limits, history.sizes) == (WindowLimits(), SummaryLimits())
    assert isinstance(profile, Profile)
    assert set(profile.fields) == set(FIELDS)
    assert profile.limits == fact_rules(SETTINGS) == FactRules()


def test_a_line_each_turns_entities_and_the_archive_on() -> None:
    memory = SETTINGS.memory.model_copy(update={"entities": True, "archive": True})
    assert not SETTINGS.memory.searches
    assert memory.searches
    _, _, entities, archive = chosen_memories(SETTINGS.model_copy(update={"memory": memory}), ScriptedLLM())
    assert isinstance(entities, Entities)
    assert (entities.limit, entities.tokens) == (Entities().limit, Entities().tokens)
    assert isinstance(archive, Archive)
    assert (archive.limit, archive.tokens) == (Archive().limit, Archive().tokens)


def test_the_limits_of_the_settings_are_the_core_s_own() -> None:
    assert _limits(SETTINGS) == Limits()
    usual = CompactorLimits()
    assert (SETTINGS.window.idle_minutes, SETTINGS.clock.job_seconds) == (usual.idle_minutes, usual.job_seconds)
