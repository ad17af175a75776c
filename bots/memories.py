"""Makes the memories that the settings name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bots.plugins import plugin
from config.form import load_form
from config.settings import Settings
from core.draft import FactRules
from core.embedding import Meaning
from core.errors import ConfigError
from core.llm import LLM
from core.memory.archive import Archive
from core.memory.buffer import Buffer
from core.memory.entities import Entities
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.memory import Memory
from core.memory.none import NoHistory
from core.memory.profile import Profile
from core.memory.recent import TokenWindow, Window
from core.memory.summary_buffer import BufferLimits, Summary, SummaryBuffer
from core.memory.tree import Tree
from core.memory.window import WindowLimits
from core.search.names import names_in

Make = Callable[[Settings, LLM, Meaning | None], Memory]


def chosen_memories(settings: Settings, llm: LLM, meaning: Meaning | None = None) -> Sequence[Memory]:
    """Give the one history and what is beside it; `meaning` is the archive's.

    Raises ConfigError naming what can't be used.
    """
    memory = settings.memory
    beside = dict.fromkeys([*memory.beside, *(kind for kind in SWITCHED if getattr(memory, kind))])
    return [_of_kind(memory.history, settings, llm), *(_beside(kind, settings, llm, meaning) for kind in beside)]


def _of_kind(kind: str, settings: Settings, llm: LLM) -> Memory:
    made = _made(kind, settings, llm)
    if not made.is_history:
        raise ConfigError(f"the memory {kind!r} is no kind of history; name it in memory.beside")
    return made


def _beside(kind: str, settings: Settings, llm: LLM, meaning: Meaning | None) -> Memory:
    made = _made(kind, settings, llm, meaning)
    if made.is_history:
        raise ConfigError(f"the memory {kind!r} is a kind of history, and there is one only; name it in memory.history")
    return made


def _made(kind: str, settings: Settings, llm: LLM, meaning: Meaning | None = None) -> Memory:
    if kind in HISTORIES:
        return HISTORIES[kind](settings)
    if kind in BESIDE:
        return BESIDE[kind](settings, llm, meaning)
    if ":" not in kind:
        known = ", ".join([*HISTORIES, *BESIDE])
        raise ConfigError(f"the memory {kind!r} is not known; choose of {known} or name package.module:Class")
    return _custom(kind)


def _custom(kind: str) -> Memory:
    """Make a memory of the operator's own."""
    try:
        made = plugin("memory", kind)()
    except ConfigError:
        raise
    except Exception as error:  # whatever the operator's own code does
        raise ConfigError(f"the memory {kind!r} can't be made: {type(error).__name__}: {error}") from error
    if not isinstance(made, Memory):
        raise ConfigError(f"the memory {kind!r} is no subclass of core.Memory")
    return made


def _keepmind(settings: Settings) -> Memory:
    w, s = settings.window, settings.summary
    window = WindowLimits(w.high_turns, w.low_turns, w.high_tokens, w.low_tokens, w.idle_turns)
    return Keepmind(window, SummaryLimits(s.segment_tokens, s.merge_tokens))


def _profile(settings: Settings, llm: LLM) -> Memory:
    profile = settings.profile
    method = "form" if profile.extraction == "auto" and settings.model.embedded else profile.extraction
    return Profile(profile.fields, fact_rules(settings), method, lambda: llm.calls_tools)


def fact_rules(settings: Settings) -> FactRules:
    """Give the rules that facts are held to."""
    profile = settings.profile
    return FactRules(frozenset(profile.single), profile.max_keys, profile.max_value, profile.max_total)


def _summary_buffer(settings: Settings) -> Memory:
    memory = settings.memory
    limits = BufferLimits(memory.buffer_tokens, memory.buffer_turns or None, memory.buffer_keep)
    return SummaryBuffer(load_form(settings.summary.form), limits, settings.summary.whole_tokens)


HISTORIES: dict[str, Callable[[Settings], Memory]] = {
    "keepmind": _keepmind,
    "none": lambda _: NoHistory(),
    "buffer": lambda _: Buffer(),
    "window": lambda settings: Window(settings.memory.window_turns),
    "token_window": lambda settings: TokenWindow(settings.memory.window_tokens),
    "tree": lambda settings: Tree(settings.memory.window_tokens),
    "summary": lambda settings: Summary(load_form(settings.summary.form), settings.summary.whole_tokens),
    "summary_buffer": _summary_buffer,
}


def _entities() -> Memory:
    """Find names by spaCy where it is installed with a model, else by how they are written."""
    from adapters.spacy import finder  # looks for spaCy only where names are wanted

    return Entities(finder() or names_in)


BESIDE: dict[str, Make] = {
    "profile": lambda settings, llm, _: _profile(settings, llm),
    "archive": lambda _settings, _llm, meaning: Archive(meaning),
    "entities": lambda _settings, _llm, _: _entities(),
}
SWITCHED = ("entities", "archive")
"""What has a switch of its own in the settings."""
