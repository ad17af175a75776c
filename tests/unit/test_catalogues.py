"""The catalogues of translations hold all that is said, whole, and nothing else."""

from __future__ import annotations

from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import read_mo
from hypothesis import given
from hypothesis import strategies as st

from core.commands.admin import ADMIN_COMMANDS
from core.commands.person import PERSON_COMMANDS
from core.translation import counted, languages, speaking, spoken
from tests.catalogues import catalogues, compiled, opened, said
from tests.fakes import START

EVERY = pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.parents[1].name)
SAID = [message for message in said() if message.id]


def names(text: str) -> set[str]:
    """Give the names of a text's placeholders."""
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def forms(text: str | list[str] | tuple[str, ...] | None) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text or ())


def keys(catalogue: Catalog) -> set[object]:
    return {message.id for message in catalogue if message.id}


def sentences(catalogue: Catalog) -> dict[object, object]:
    """Give what a catalogue says, without its header."""
    return {forms(message.id): forms(message.string) for message in catalogue if message.id}


def test_russian_and_chinese_are_spoken_beside_english() -> None:
    assert {"en", "ru", "zh"} <= set(languages())


@EVERY
def test_every_sentence_is_translated_and_nothing_that_is_not_said(path: Path) -> None:
    catalogue = opened(path)
    assert keys(catalogue) == {message.id for message in SAID}
    assert not catalogue.obsolete
    for message in catalogue:
        assert not message.fuzzy or not message.id, message.id
        assert all(form.strip() for form in forms(message.string)), message.id


@EVERY
def test_each_translation_has_the_placeholders_of_its_sentence_and_all_forms_of_number(path: Path) -> None:
    catalogue = opened(path)
    for message in catalogue:
        if not message.id:
            continue
        said_in = forms(message.string)
        assert len(said_in) == (1 if isinstance(message.id, str) else catalogue.num_plurals), message.id
        for form in said_in:
            assert names(form) == names(forms(message.id)[0]), message.id


@EVERY
def test_each_translation_keeps_the_commands_of_its_sentence(path: Path) -> None:
    for message in opened(path):
        wanted = {word for word in forms(message.id)[0].split() if word.startswith("/") and word[1:].isalpha()}
        for form in forms(message.string):
            assert all(command in form for command in wanted), message.id


@EVERY
def test_the_compiled_catalogue_is_what_is_written(path: Path) -> None:
    with path.with_suffix(".mo").open("rb") as file:
        assert sentences(read_mo(file)) == sentences(opened(path)), "run `make translations`"


@EVERY
def test_a_menu_has_room_for_every_summary(path: Path) -> None:
    for command in (*PERSON_COMMANDS, *ADMIN_COMMANDS):
        summary = command.summary_in(path.parents[1].name)
        assert summary != command.summary
        assert len(summary) <= 100, "the least room is Discord's"


@given(
    st.sampled_from(SAID),
    st.sampled_from(languages()),
    st.text() | st.integers() | st.none(),
    st.integers(min_value=0),
)
def test_any_values_can_be_filled_in(message: Message, language: str, value: object, count: int) -> None:
    one, *many = forms(message.id)
    values = dict.fromkeys(names(one) - {"count"}, value) | dict.fromkeys(names(one) & {"at", "until"}, START)
    with speaking(language):
        if many:
            assert str(count) in counted(one, many[0], count, **values)
        else:
            assert spoken(one, **values, **({"count": count} if "count" in names(one) else {}))


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 токенов"), (1, "1 токен"), (2, "2 токена"), (5, "5 токенов"), (11, "11 токенов"), (21, "21 токен")],
)
def test_russian_numbers_have_their_forms(count: int, said: str) -> None:
    with speaking("ru"):
        assert counted("{count} token", "{count} tokens", count) == said


@EVERY
def test_a_catalogue_is_read_by_gettext_alone(path: Path) -> None:
    read = GNUTranslations(BytesIO(compiled(opened(path))))
    assert read.gettext("Done.") == spoken_in(path.parents[1].name, "Done.") != "Done."


def spoken_in(language: str, sentence: str) -> str:
    with speaking(language):
        return spoken(sentence)
