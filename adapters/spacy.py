"""Names in a text by spaCy, where it is installed with a model: `pip install keepmind[entities]`, and a model of it."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

from core.search.names import Find

KINDS = frozenset(("PERSON", "PER", "ORG", "GPE", "LOC", "FAC", "EVENT", "PRODUCT", "WORK_OF_ART", "NORP", "MISC"))
"""What spaCy's models call names, in their several schemes."""


def finder(model: str = "") -> Find | None:
    """Give what finds names by a model, one of many languages before others; None when spaCy or a model is missing."""
    if importlib.util.find_spec("spacy") is None:
        return None
    chosen = model or next(iter(sorted(_installed(), key=lambda name: (not name.startswith("xx_"), name))), "")
    return (lambda text: _names(chosen, text)) if chosen else None


def _installed() -> list[str]:
    from spacy.util import get_installed_models

    return list(get_installed_models())


def _names(model: str, text: str) -> list[str]:
    found = (entity.text.strip() for entity in _pipeline(model)(text).ents if entity.label_ in KINDS)
    return list(dict.fromkeys(name for name in found if name))


@cache
def _pipeline(model: str) -> Any:
    """Load a model, once: that takes a second or two."""
    import spacy

    return spacy.load(model)
