"""The working copy of a person's facts: what a tool call or a command changes before it is stored."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from core.errors import ToolError
from core.facts import Action, Change, Fact, Facts, Item, Source, Writer
from core.secrets import looks_secret

SHORT_FORMS = {"+": "add", "-": "remove", ".": "change", "_": "clear"}


@dataclass(frozen=True, slots=True)
class FactRules:
    """What may be stored: limits in characters, and the keys that hold one value that a newer one supersedes."""

    single: frozenset[str] = frozenset({"name", "gender", "birth_date", "age", "city", "language", "time_zone"})
    max_keys: int = 64
    max_value: int = 500
    max_total: int = 8000


@dataclass(frozen=True, slots=True)
class Words:
    """What a fact may be taken from.

    `own` is what the person said themselves, `foreign` what only passed by: forwards, quotes, files, tool results.
    """

    chat: str
    turn: int | None
    own: str
    foreign: str = ""


def normal_key(key: str) -> str:
    """Normalise a key to snake_case of 1 to 64 letters and digits. Raises ToolError naming the rule."""
    text = unicodedata.normalize("NFKC", key).strip().casefold()
    text = re.sub(r"[\W_]+", "_", text).strip("_")
    if not 1 <= len(text) <= 64:
        raise ToolError(f"the key {_preview(key)} can't be used: a key is 1 to 64 letters, digits and underscores")
    return text


def same(text: str) -> str:
    """Give the form in which two values are compared: case and surrounding space do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def quote_of(value: str, words: str) -> str:
    """Give the sentence of `words` that holds `value`, else the beginning of the words; at most 200 characters."""
    sentences = [s.strip() for s in re.split(r"(?<=[.!?。！？])\s+|\n", words) if s.strip()]
    wanted = same(value)
    return next((s for s in sentences if wanted in same(s)), words.strip())[:200]


def _preview(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return json.dumps(text if len(text) <= 80 else text[:80] + "…", ensure_ascii=False)


@dataclass
class FactDraft:
    """Facts with changes not stored yet, applied in order; every change that breaks a rule raises ToolError whole.

    `by` is who writes, `day` the ISO date in the person's time zone.
    """

    facts: Facts
    rules: FactRules
    words: Words
    at: datetime
    by: Writer
    day: str = ""
    changes: list[Change] = field(default_factory=list)

    def add(self, call: str, key: str, value: str | Sequence[str]) -> str:
        """Set a missing key, or append what is new to it; a single-valued key takes the newer value."""
        key, values = normal_key(key), self._values(key, value)
        fact = self.facts.by_key.get(key)
        if fact is None or key in self.rules.single:
            return self._set(call, "add", key, values)
        known = {same(item.value) for item in fact.items}
        fresh = [v for v in values if same(v) not in known]
        if not fresh:
            return f"already known: {key} = {self._shown(key)}"
        items = fact.items + self._items(fresh)
        return self._put(call, "add", replace(fact, items=items, many=True))

    def change(self, call: str, key: str, value: str | Sequence[str]) -> str:
        """Replace what a key holds, or set it when it is missing."""
        key = normal_key(key)
        return self._set(call, "change", key, self._values(key, value))

    def remove(self, call: str, key: str, value: str = "") -> str:
        """Remove a key, or only the named item of it; what is not there is a harmless "not found"."""
        key = normal_key(key)
        fact = self.facts.by_key.get(key)
        if fact is None:
            return f"not found: nothing is stored under {key}"
        left = tuple(i for i in fact.items if same(i.value) != same(value)) if value.strip() else ()
        if len(left) == len(fact.items):
            return f"not found: {key} does not hold {_preview(value)}"
        return self._put(call, "remove", replace(fact, items=left), gone=not left)

    def clear(self, call: str) -> str:
        """Remove every fact."""
        for number, key in enumerate(list(self.facts)):
            self._put(f"{call}/{number}", "clear", replace(self.facts.by_key[key], items=()), gone=True)
        return "cleared"

    def restore(self, call: str, change: Change) -> str:
        """Take one earlier change back."""
        self._record(call, "undo", change.key, change.before)
        return f"{change.key} is as it was before"

    def _set(self, call: str, action: Action, key: str, values: list[str]) -> str:
        fact = self.facts.by_key.get(key)
        if fact is not None and [same(i.value) for i in fact.items] == [same(v) for v in values]:
            return f"already known: {key} = {self._shown(key)}"
        fresh = Fact(key, self._items(values), many=len(values) > 1, pinned=bool(fact and fact.pinned))
        return self._put(call, action, fresh)

    def _put(self, call: str, action: Action, fact: Fact, *, gone: bool = False) -> str:
        if not gone:
            self._check_limits(fact)
        self._record(call, action, fact.key, None if gone else fact)
        return f"removed: {fact.key}" if gone else f"saved: {fact.key} = {self._shown(fact.key)}"

    def _record(self, call: str, action: Action, key: str, after: Fact | None) -> None:
        before = self.facts.by_key.get(key)
        self.changes.append(Change(call, action, key, before, after, self.at, self.words.turn, self.by))
        kept = {k: f for k, f in self.facts.by_key.items() if k != key}
        self.facts = Facts(kept if after is None else {**kept, key: after})

    def _values(self, key: str, value: str | Sequence[str]) -> list[str]:
        values = [" ".join(v.split()) for v in ([value] if isinstance(value, str) else value)]
        if not values or not all(values):
            raise ToolError(f"the value for {key} is empty; give it as text")
        if len(values) > 1 and key in self.rules.single:
            raise ToolError(f"{key} holds one value, not a list")
        unique = {same(v): v for v in values}
        for v in unique.values():
            self._check_value(key, v)
        return list(unique.values())

    def _check_value(self, key: str, value: str) -> None:
        if len(value) > self.rules.max_value:
            raise ToolError(f"the value for {key} has {len(value)} characters; at most {self.rules.max_value} are kept")
        if looks_secret(key, value):
            raise ToolError("passwords, card numbers, keys and tokens are never stored")
        if self.by in ("person", "import"):
            return
        if not self.words.own.strip():
            raise ToolError("facts come only from the person's own words, and this message has none")
        if same(value) in same(self.words.foreign) and same(value) not in same(self.words.own):
            raise ToolError("that stands in a quoted, forwarded or looked-up text, not in the person's own words")

    def _check_limits(self, fact: Fact) -> None:
        facts = {**{k: f.value for k, f in self.facts.by_key.items()}, fact.key: fact.value}
        if len(facts) > self.rules.max_keys:
            raise ToolError(f"there are already {self.rules.max_keys} keys; remove one first")
        size = len(json.dumps(facts, ensure_ascii=False))
        if size > self.rules.max_total:
            raise ToolError(f"that would make {size} characters in all; at most {self.rules.max_total} are kept")

    def _items(self, values: Sequence[str]) -> tuple[Item, ...]:
        w = self.words
        return tuple(Item(v, Source(w.chat, w.turn, quote_of(v, w.own), self.day, self.by)) for v in values)

    def _shown(self, key: str) -> str:
        return json.dumps(self.facts[key], ensure_ascii=False)
