"""The working copy of a person's facts: what a tool call or a command changes before it is stored."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from core.errors import ToolError
from core.facts import Action, Change, Fact, Facts, Item, Source, Writer
from core.kept import storable
from core.secrets import holds_secret, looks_secret, stated_as_secret
from core.text.letters import words_of
from core.translation import marked

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
    `earlier` gives the same two of the talk that is still in sight; it is asked only when it matters.
    """

    chat: str
    turn: int | None
    own: str
    foreign: str = ""
    earlier: Callable[[], tuple[str, str]] = lambda: ("", "")

    def said_by_others(self, value: str) -> bool:
        """Say whether a value stands in foreign words and nowhere in the person's own."""
        if _holds(self.own, value):
            return False
        if stands_in(value, self.foreign) or _is_made_of(value, self.foreign):
            return not _is_made_of(value, self.own)
        own, foreign = self.earlier()
        return stands_in(value, foreign) and not _holds(own, value)


def normal_key(key: str) -> str:
    """Normalise a key to snake_case of 1 to 64 letters and digits. Raises ToolError naming the rule."""
    text = "_".join(words_of(unicodedata.normalize("NFKC", key).casefold()))
    if not 1 <= len(text) <= 64:
        raise ToolError(
            marked("the key {key} can't be used: a key is 1 to 64 letters, digits and underscores"), key=_preview(key)
        )
    return text


def same(text: str) -> str:
    """Give the form in which two values are compared: case and surrounding space do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def stands_in(value: str, words: str) -> bool:
    """Say whether words hold a value, as whole words where the script sets them apart by spaces."""
    wanted, said = same(value), same(words)
    if wanted not in said or not wanted:
        return False
    return bool(_UNSPACED.search(wanted) or re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", said))


_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Thai, Lao, Burmese, Khmer, kana, Han, and Hangul with its particles."""


def _is_made_of(value: str, words: str) -> bool:
    """Say whether every word of a value is among these, in whatever order and with whatever between."""
    wanted = set(_WORD.findall(same(value)))
    return bool(wanted) and wanted <= set(_WORD.findall(same(words)))


_WORD = re.compile(r"\w+")


def _holds(words: str, value: str) -> bool:
    return same(value) in same(words)


def quote_of(value: str, words: str) -> str:
    """Give the sentence of `words` that tells `value`, at most 200 characters of it around the value.

    When none has any word of it (a date said in another way), give the beginning. A sentence with a secret in it is
    not given: then it is the value alone.
    """
    wanted = same(value)
    sentences = [s.strip() for s in re.split(r"(?<=[.!?。！？])\s+|[\r\n]+", words) if s.strip()]
    best = max(sentences, key=lambda s: _likeness(wanted, same(s)), default="")
    chosen = best if _likeness(wanted, same(best)) else words.strip()
    start = max(chosen.casefold().find(value.casefold()) - 100, 0) if len(chosen) > 200 else 0
    quote = chosen[start : start + 200].strip()
    if start:
        quote = quote.partition(" ")[2] or quote
    if start + 200 < len(chosen):
        quote = quote.rpartition(" ")[0] or quote
    return quote if not holds_secret(quote) else value if value in words else ""


def _likeness(wanted: str, sentence: str) -> int:
    shared = set(re.findall(r"\w+", wanted)) & set(re.findall(r"\w+", sentence))
    return 1000 if wanted in sentence else len(shared)


def _preview(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return json.dumps(text if len(text) <= 80 else text[:80] + "…", ensure_ascii=False)


@dataclass
class FactDraft:
    """Facts with changes not stored yet, applied in order; every change that breaks a rule raises ToolError whole.

    `by` is who writes, `day` the ISO date in the person's time zone. `closed` says why nothing may be written, if so.
    With `asking` changes are only proposed: the facts stay as they are. `elsewhere` are keys of facts kept elsewhere.
    """

    facts: Facts
    rules: FactRules
    words: Words
    at: datetime
    by: Writer
    day: str = ""
    closed: str = ""
    asking: bool = False
    elsewhere: frozenset[str] = frozenset()
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
        key, value = normal_key(key), storable(value)
        fact = self.facts.by_key.get(key)
        if fact is None and key in self.elsewhere:
            return f"not found here: {key} is kept where the person told it, and they can have it forgotten only there"
        if fact is None:
            return f"not found: nothing is stored under {key}"
        left = tuple(i for i in fact.items if same(i.value) != same(value)) if value.strip() else ()
        if len(left) == len(fact.items):
            return f"not found: {key} does not hold {_preview(value)}"
        return self._put(call, "remove", replace(fact, items=left), gone=not left)

    def bring(self, call: str, fact: Fact) -> None:
        """Add a fact from elsewhere with its sources: to a list what is new to it, else the value that is newer."""
        self.check(fact)
        known = self.facts.by_key.get(fact.key)
        after = fact if known is None else _together(known, fact)
        if after != known:
            self._check_limits(after)
            self._record(call, "add" if known is None else "change", fact.key, after)

    def check(self, fact: Fact) -> None:
        """Raise ToolError for a fact from elsewhere that these rules would not have let be stored."""
        values = [item.value for item in fact.items]
        if normal_key(fact.key) != fact.key or self._values(fact.key, values) != values:
            raise ToolError(marked("{key} is not written as I keep facts"), key=_preview(fact.key))

    def check_open(self) -> None:
        """Raise ToolError when nothing of this message may be kept, or only after asking, as only facts can be."""
        if self.asking:
            raise ToolError("NOT saved: the person wants to be asked first, and can be asked about facts only")
        self._check_writable()

    def pin(self, call: str, key: str, pinned: bool) -> str:
        """Pin a fact, so that it goes last when there is no room, or let it loose; what is so already stays so."""
        fact = self.facts.by_key[key]
        if fact.pinned != pinned:
            self._record(call, "pin", key, replace(fact, pinned=pinned))
        return f"{key} is {'pinned' if pinned else 'not pinned'}"

    def pass_by(self, text: str) -> None:
        """Note a text that came up while answering and is not the person's own, such as a tool's result."""
        self.words = replace(self.words, foreign=f"{self.words.foreign}\n{text}")

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
        if self.asking:
            return f"proposed, NOT saved yet: {fact.key}; the person is asked whether they agree"
        return f"removed: {fact.key}" if gone else f"saved: {fact.key} = {self._shown(fact.key)}"

    def _check_writable(self) -> None:
        if self.closed:
            raise ToolError(self.closed)
        if self._by_model and not self.words.own.strip():
            raise ToolError("facts come only from the person's own words, and this message has none")

    def _record(self, call: str, action: Action, key: str, after: Fact | None) -> None:
        self._check_writable()
        before = self.facts.by_key.get(key)
        self.changes.append(Change(call, action, key, before, after, self.at, self.words.turn, self.by))
        if self.asking:
            return
        kept = {k: f for k, f in self.facts.by_key.items() if k != key}
        self.facts = Facts(kept if after is None else {**kept, key: after})

    @property
    def _by_model(self) -> bool:
        return self.by not in ("person", "import")

    def _values(self, key: str, value: str | Sequence[str]) -> list[str]:
        values = [" ".join(storable(v).split()) for v in ([value] if isinstance(value, str) else value)]
        if not values or not all(values):
            raise ToolError(marked("the value for {key} is empty; give it as text"), key=key)
        unique = {same(v): v for v in reversed(values)}
        if len(unique) > 1 and key in self.rules.single:
            raise ToolError(marked("{key} holds one value, not a list"), key=key)
        for v in unique.values():
            self.check_value(key, v)
        return list(reversed(unique.values()))

    def check_value(self, key: str, value: str) -> None:
        """Raise ToolError for a value that may not be kept: too long, a secret, or only others said it."""
        if len(value) > self.rules.max_value:
            told = marked("the value for {key} has {length} characters; at most {most} are kept")
            raise ToolError(told, key=key, length=len(value), most=self.rules.max_value)
        if looks_secret(key, value) or stated_as_secret(value, self.words.own):
            raise ToolError(marked("passwords, card numbers, keys and tokens are never stored"))
        if self._by_model and self.words.said_by_others(value):
            raise ToolError(
                "only others said that, or it was quoted, forwarded or looked up; the person did not say it"
            )

    def _check_limits(self, fact: Fact) -> None:
        """Refuse what goes over a limit; what was over it before (the limit was lowered) may still shrink."""
        before = {k: f.value for k, f in self.facts.by_key.items()}
        after = {**before, fact.key: fact.value}
        if len(after) > max(self.rules.max_keys, len(before)):
            told = marked("there are already {count} keys; at most {most} are kept: remove one")
            raise ToolError(told, count=len(before), most=self.rules.max_keys)
        if _size(after) > max(self.rules.max_total, _size(before)):
            told = marked("that would make {count} characters in all; at most {most} are kept")
            raise ToolError(told, count=_size(after), most=self.rules.max_total)

    def _items(self, values: Sequence[str]) -> tuple[Item, ...]:
        w = self.words
        return tuple(Item(v, Source(w.chat, w.turn, quote_of(v, w.own), self.day, self.by)) for v in values)

    def _shown(self, key: str) -> str:
        return json.dumps(self.facts[key], ensure_ascii=False)


def _together(known: Fact, brought: Fact) -> Fact:
    if known.many or brought.many:
        have = {same(item.value) for item in known.items}
        fresh = tuple(item for item in brought.items if same(item.value) not in have)
        return replace(known, items=known.items + fresh, many=True) if fresh else known
    is_newer = brought.items[0].source.day > known.items[0].source.day
    differs = same(brought.items[0].value) != same(known.items[0].value)
    return replace(known, items=brought.items) if is_newer and differs else known


def _size(facts: Mapping[str, str | list[str]]) -> int:
    return len(json.dumps(facts, ensure_ascii=False))
