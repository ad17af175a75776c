"""One sentence about a setting that can't be used: as it was written, its value, what is allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_SECRET = re.compile(r"sk-|\d+:[A-Za-z0-9_-]{30,}")
_TYPES = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list of names"}
Written = Mapping[tuple[str, ...], str]


def complaint(settings: type[BaseModel], error: ValidationError, written: Written) -> str:
    """Say what is wrong with the first wrong setting, never showing a secret."""
    fault = error.errors(include_url=False)[0]
    place = tuple(str(part) for part in fault["loc"][:2])
    name = written.get(place) or next((w for p, w in written.items() if p[:1] == place), ".".join(place))
    if fault["type"] == "extra_forbidden":
        return f"{name} is not a setting{_nearest(settings, place)}"
    if len(place) < 2 and fault["type"] != "value_error":
        return f"{name} is a section of settings: write it as [{place[0]}] with its settings below"
    if fault["type"] == "value_error":
        reason = str(fault["ctx"]["error"])
        return _as_written(reason, written) if len(place) < 2 else f"{name}: {reason}"
    return _outside(settings, fault, place, name)


def _as_written(reason: str, written: Written) -> str:
    for place, name in written.items():
        if len(place) > 1:
            reason = reason.replace(".".join(place), name)
    return reason


def _outside(settings: type[BaseModel], fault: ErrorDetails, place: tuple[str, ...], name: str) -> str:
    schema = _section(settings, place[0]).model_json_schema()["properties"][place[1]]
    return f"{name} is {_shown(schema, fault['input'])}; it must be {allowed(schema)}"


def _section(settings: type[BaseModel], name: str) -> type[BaseModel]:
    section = settings.model_fields[name].annotation
    assert isinstance(section, type)
    return section


def _nearest(settings: type[BaseModel], place: tuple[str, ...]) -> str:
    known = settings if len(place) < 2 or place[0] not in settings.model_fields else _section(settings, place[0])
    near = get_close_matches(place[-1], known.model_fields, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _shown(schema: Mapping[str, Any], value: Any) -> str:
    text = repr(value)
    if "writeOnly" in str(schema) or _SECRET.search(text):
        return "not usable (its value is kept out of this message)"
    return text if len(text) <= 60 else f"{text[:60]}…"


def allowed(schema: Mapping[str, Any]) -> str:
    """Say what a setting may be, of its JSON schema."""
    options = [option for option in schema.get("anyOf", [schema]) if option.get("type") != "null"]
    return " or ".join(_option(option) for option in options)


def _option(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    return _TYPES.get(schema.get("type", ""), "text") + _range(schema)


def _range(schema: Mapping[str, Any]) -> str:
    low = f"from {schema['minimum']:,.10g}" if "minimum" in schema else ""
    above = f"above {schema['exclusiveMinimum']:,.10g}" if "exclusiveMinimum" in schema else ""
    high = f"to {schema['maximum']:,.10g}" if "maximum" in schema else ""
    words = [word for word in (low, above, f"up {high}" if above and high else high) if word]
    return " " + " ".join(words) if words else ""
