"""Makes the memories that the settings name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from config.settings import Settings
from core.draft import FactRules
from core.errors import ConfigError
from core.llm import LLM
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.memory import Memory
from core.memory.profile import Profile
from core.memory.window import WindowLimits

Make = Callable[[Settings, LLM], Memory]


def chosen_memories(settings: Settings, llm: LLM) -> Sequence[Memory]:
    """Give the one history and what is beside it. Raises ConfigError naming what can't be used."""
    return [_made(kind, settings, llm) for kind in (settings.memory.history, *settings.memory.beside)]


def _made(kind: str, settings: Settings, llm: LLM) -> Memory:
    make = KINDS.get(kind)
    if make is not None:
        return make(settings, llm)
    if ":" not in kind:
        raise ConfigError(
            f"the memory {kind!r} is not known; choose of {', '.join(KINDS)} or name package.module:Class"
        )
    return _custom(kind)


def _custom(kind: str) -> Memory:
    """Import a memory of the operator's own; the working directory is looked in last."""
    module, _, name = kind.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        made = getattr(import_module(module), name)()
    except Exception as error:  # whatever the operator's own code does
        raise ConfigError(f"the memory {kind!r} can't be made: {type(error).__name__}: {error}") from error
    if not isinstance(made, Memory):
        raise ConfigError(f"the memory {kind!r} is no subclass of core.Memory")
    return made


def _keepmind(settings: Settings, llm: LLM) -> Memory:  # noqa: ARG001 -- each kind is made alike
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


KINDS: dict[str, Make] = {"keepmind": _keepmind, "profile": _profile}
