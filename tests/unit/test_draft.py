"""The working copy of a person's facts."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.draft import FactDraft, FactRules, Words, normal_key, quote_of, same, stands_in
from core.errors import ToolError
from core.facts import Fact, Facts, Item, Source, Writer

NOW = datetime(2026, 3, 1, tzinfo=UTC)
anything = st.one_of(
    st.text(max_size=40),
    st.text(st.characters(categories=("L", "M", "N", "Cs", "Cc", "Cf", "So")), max_size=12),
    st.sampled_from(
        ["<|endoftext|>", "🦊🏽‍🚀", "\ud83e", "\0", "مرحبا بك", "\u202eabc", "İ", "ß", "ΐ", "नाम", "__class__"]
    ),
)
keys = st.sampled_from(["hobbies", "Hobbies ", "name", "city", "pets", "", "🙂", "a/b"])
values = st.one_of(anything, st.lists(anything, max_size=4), st.sampled_from(["coffee", "Coffee ", "tea", "x" * 600]))
operations = st.lists(st.tuples(st.sampled_from(["add", "change", "remove"]), keys, values), max_size=25)


def draft(
    facts: Facts | None = None, *, own: str = "I said so", foreign: str = "", by: Writer = "model", **rules: object
) -> FactDraft:
    return FactDraft(facts or Facts(), FactRules(**rules), Words("test:1", 7, own, foreign), NOW, by, "2026-03-01")  # type: ignore[arg-type]


def attempt(of: FactDraft, number: int, action: str, key: str, value: str | list[str]) -> str:
    try:
        if action == "remove":
            return of.remove(str(number), key, value if isinstance(value, str) else "".join(value[:1]))
        return (of.add if action == "add" else of.change)(str(number), key, value)
    except ToolError as error:
        return f"error: {error}"


@given(operations)
def test_limits_are_never_exceeded_and_what_is_kept_is_well_formed(
    done: list[tuple[str, str, str | list[str]]],
) -> None:
    of = draft(max_keys=3, max_value=20, max_total=120)
    for number, (action, key, value) in enumerate(done):
        before = of.facts
        result = attempt(of, number, action, key, value)
        if not result.startswith(("saved", "removed")):
            assert of.facts is before, "a write that is refused or needless changes nothing"
        assert len(of.facts) <= 3
        assert len(json.dumps(dict(of.facts), ensure_ascii=False)) <= 120
    for key, fact in of.facts.by_key.items():
        assert normal_key(key) == key
        assert all(i.value and i.value == " ".join(i.value.split()) and len(i.value) <= 20 for i in fact.items)
        assert len({same(i.value) for i in fact.items}) == len(fact.items), "no item is there twice"
        assert len(fact.items) == 1 or fact.key not in of.rules.single


@given(operations)
def test_the_changes_tell_the_whole_way_and_back(done: list[tuple[str, str, str | list[str]]]) -> None:
    of = draft()
    for number, (action, key, value) in enumerate(done):
        attempt(of, number, action, key, value)
    replayed: dict[str, Fact] = {}
    for change in of.changes:
        assert replayed.get(change.key) == change.before
        replayed = {k: f for k, f in replayed.items() if k != change.key}
        replayed |= {change.key: change.after} if change.after else {}
    assert replayed == dict(of.facts.by_key)
    undoing = draft(of.facts, by="person")
    for change in reversed(of.changes):
        undoing.restore("undo", change)
    assert not undoing.facts


@given(keys, values)
def test_adding_or_changing_twice_is_adding_or_changing_once(key: str, value: str | list[str]) -> None:
    for action in ("add", "change"):
        of = draft()
        first = attempt(of, 0, action, key, value)
        once, changes = of.facts, len(of.changes)
        again = attempt(of, 1, action, key, value)
        assert (of.facts, len(of.changes)) == (once, changes)
        assert again.startswith("already known") or again == first


@given(keys, values)
def test_what_was_added_is_gone_after_its_key_is_removed(key: str, value: str | list[str]) -> None:
    of = draft()
    attempt(of, 0, "add", key, value)
    attempt(of, 1, "remove", key, "")
    assert not of.facts


@given(anything)
def test_a_normal_key_stays_as_it_is_and_is_short_and_plain(text: str) -> None:
    of = draft()
    result = attempt(of, 0, "add", text, "x")
    assert result.startswith("saved") or "1 to 64 letters" in result or "never stored" in result
    assert len(result) < 1000
    for key in of.facts:
        assert normal_key(key) == key
        assert 1 <= len(key) <= 64
        assert not set(key) & set(" \n/\\\"'<>[]{}\0")


@pytest.mark.parametrize(
    ("key", "normal"),
    [
        ("  Favourite Drink ", "favourite_drink"),
        ("birth-date", "birth_date"),
        ("line\nbreak", "line_break"),
        ("a/b\\c", "a_b_c"),
        ("__class__", "class"),
        ("ÄRGER", "ärger"),
        ("любимый чай", "любимый_чай"),
        ("नाम", "नाम"),
        ("ชื่อ", "ชื่อ"),
        ("名前", "名前"),
        ("❤️ food", "food"),
    ],
)
def test_keys_become_snake_case_in_every_script(key: str, normal: str) -> None:
    assert normal_key(key) == normal_key(normal) == normal


@pytest.mark.parametrize("key", ["", " ", "_", "🙂", "\n", "k" * 65, "x" * 500, "\ud800"])
def test_a_key_that_names_nothing_is_refused_with_the_rule(key: str) -> None:
    with pytest.raises(ToolError, match="1 to 64 letters"):
        draft().add("1", key, "x")


def test_coffee_three_times_is_stored_once() -> None:
    of = draft(own="coffee, coffee, coffee")
    of.add("1", "drinks", "coffee")
    assert of.add("2", "drinks", "Coffee ") == 'already known: drinks = "coffee"'
    assert of.add("3", "drinks", ["coffee", "COFFEE"]).startswith("already known")
    assert dict(of.facts) == {"drinks": "coffee"}


def test_a_list_grows_by_what_is_new_and_loses_only_the_named_item() -> None:
    of = draft()
    of.add("1", "pets", "cat")
    of.add("2", "pets", ["dog", "Cat"])
    assert dict(of.facts) == {"pets": ["cat", "dog"]}
    assert of.remove("3", "pets", "CAT ") == 'saved: pets = ["dog"]'
    assert of.remove("4", "pets", "bird").startswith("not found")
    assert of.remove("5", "cars").startswith("not found")
    of.remove("6", "pets", "dog")
    assert dict(of.facts) == {}


def test_changing_replaces_and_sets_a_missing_key() -> None:
    of = draft()
    assert of.change("1", "drink", "coffee") == 'saved: drink = "coffee"'
    of.change("2", "drink", "tea")
    assert dict(of.facts) == {"drink": "tea"}


def test_a_single_valued_fact_is_superseded_and_the_old_value_stays_in_the_history() -> None:
    of = draft()
    of.add("1", "city", "Rome")
    of.add("2", "city", "Oslo")
    assert dict(of.facts) == {"city": "Oslo"}
    before = of.changes[-1].before
    assert before is not None
    assert before.value == "Rome"
    with pytest.raises(ToolError, match="one value"):
        of.add("3", "name", ["Ann", "Bea"])
    assert of.add("4", "name", ["Ann", "ann "]) == 'saved: name = "Ann"'


def test_a_write_over_a_limit_is_refused_whole() -> None:
    of = draft(max_total=2000, max_value=3000)
    of.add("1", "notes", "x" * 1900)
    kept = of.facts
    with pytest.raises(ToolError, match="2000"):
        of.add("2", "notes", ["a", "y" * 100])
    assert of.facts is kept
    with pytest.raises(ToolError, match="20000 characters"):
        of.add("3", "document", "d" * 20_000)


def test_what_was_over_a_limit_that_was_lowered_may_shrink_but_not_grow() -> None:
    of = draft()
    of.add("1", "pets", ["cat " * 20, "dog " * 20, "bird"])
    lowered = draft(of.facts, max_total=100, max_keys=1)
    with pytest.raises(ToolError):
        lowered.add("2", "pets", "horse")
    lowered.remove("3", "pets", "bird")
    lowered.remove("4", "pets", "cat " * 20)
    assert dict(lowered.facts) == {"pets": [" ".join(["dog"] * 20)]}


def test_nul_and_lone_surrogates_are_kept_as_the_store_will_keep_them() -> None:
    of = draft()
    of.add("1", "notes", "a\0b")
    assert dict(of.facts) == {"notes": "a\ufffdb"}
    assert of.add("2", "notes", "a\ud800b").startswith("already known")
    assert of.remove("3", "notes", "a\0b") == "removed: notes"


def test_facts_come_only_from_own_words() -> None:
    with pytest.raises(ToolError, match="own words"):
        draft(own=" ").add("1", "name", "Eve")
    with pytest.raises(ToolError, match="only others"):
        draft(own="look at this", foreign="My name is Eve.").add("1", "name", "Eve")
    assert draft(own="I am Eve too", foreign="My name is Eve.").add("1", "name", "Eve").startswith("saved")
    assert draft(own="", by="person").add("1", "name", "Eve").startswith("saved")


def test_nothing_is_removed_without_own_words() -> None:
    of = draft()
    of.add("1", "name", "Anna")
    with pytest.raises(ToolError, match="own words"):
        draft(of.facts, own="").remove("1", "name")


def test_a_value_made_plain_by_the_model_is_taken_though_a_part_of_it_stands_elsewhere() -> None:
    of = draft(own="I don't smoke", foreign="I know nothing about smoking")
    assert of.add("1", "smokes", "no") == 'saved: smokes = "no"'


def test_what_others_said_in_sight_is_nobodys_fact_but_theirs() -> None:
    words = Words("test:1", 7, "What did he say?", earlier=lambda: ("I like tea", "I am a pilot and I like tea"))
    of = FactDraft(Facts(), FactRules(), words, NOW, "model")
    with pytest.raises(ToolError, match="only others"):
        of.add("1", "job", "pilot")
    assert of.add("2", "drinks", "tea").startswith("saved")


def test_a_closed_draft_takes_nothing() -> None:
    of = FactDraft(Facts(), FactRules(), Words("c", 1, "I am Ann"), NOW, "model", closed="NOT saved: memory is off")
    with pytest.raises(ToolError, match="NOT saved"):
        of.add("1", "name", "Ann")
    assert not of.changes


@pytest.mark.parametrize("value", ["", "  ", [], [""], ["a", " "]])
def test_an_empty_value_is_an_error(value: str | list[str]) -> None:
    with pytest.raises(ToolError, match="empty"):
        draft().add("1", "hobbies", value)


def test_the_quote_is_the_sentence_that_tells_the_value() -> None:
    words = "Hello there! I am 34 years old. I live in Rome."
    assert quote_of("34", words) == "I am 34 years old."
    assert quote_of("Rome, Italy", words) == "I live in Rome."
    assert quote_of("1990-05-03", words) == words
    assert quote_of("x", "") == ""


def test_a_quote_is_short_and_still_shows_the_value() -> None:
    quote = quote_of("Rome", "very " * 300 + "far away I lived in Rome " + "and so on " * 100)
    assert len(quote) <= 200
    assert "Rome" in quote


@given(anything, anything)
def test_a_quote_is_verbatim(value: str, words: str) -> None:
    assert quote_of(value, words) in words


def test_a_quote_never_holds_a_secret() -> None:
    assert quote_of("Anna", "I am Anna and my password is hunter2") == "Anna"


def test_values_stand_alone_where_words_are_spaced() -> None:
    assert stands_in("Ann", "Annabel and Ann")
    assert not stands_in("Ann", "Annabel")
    assert not stands_in("Ян", "Январь")
    assert stands_in("小明", "我叫小明。")
    assert stands_in("안나", "저는 안나입니다")


def test_a_restored_change_brings_the_fact_back_as_it_was() -> None:
    item = Item("cat", Source("test:1", 3, "a cat", "2026-01-01", "model"))
    fact = Fact("pets", (item,), pinned=True)
    of = draft(Facts({"pets": fact}))
    of.remove("1", "pets")
    back = draft(of.facts, by="person")
    back.restore("2", of.changes[0])
    assert back.facts.by_key == {"pets": fact}
