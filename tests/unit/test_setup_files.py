"""Changing single values in the files of settings: what is not meant to change does not."""

from __future__ import annotations

import tomllib
from io import StringIO
from pathlib import Path

import pytest
from dotenv import dotenv_values
from hypothesis import given
from hypothesis import strategies as st

from bots.setup.writing import DEFAULTS, with_settings, with_variables, write
from config.settings import Settings
from core.errors import ConfigError

LINE = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1).filter(str.strip)


def variables(text: str) -> dict[str, str | None]:
    return dict(dotenv_values(stream=StringIO(text), interpolate=False))


@given(LINE)
def test_any_line_comes_back_from_a_dotenv_as_it_was(value: str) -> None:
    assert variables(with_variables("OTHER=1\n", {"A_TOKEN": value})) == {"OTHER": "1", "A_TOKEN": value}


@given(LINE)
def test_any_line_comes_back_from_toml_as_it_was(value: str) -> None:
    text = with_settings("", {("model", "name"): value, ("access", "admins"): [value, "telegram:42"]})
    found = tomllib.loads(text)
    assert (found["model"]["name"], found["access"]["admins"]) == (value, [value, "telegram:42"])


def test_other_lines_stay_and_a_variable_set_twice_is_set_once() -> None:
    before = "# mine\nexport A=1\nB='two words'\nA=2\n\nC=3 # why\n"
    assert with_variables(before, {"A": "9", "D": "x y"}) == "# mine\nA=9\nB='two words'\n\nC=3 # why\nD='x y'\n"
    assert with_variables(before, {"A": "", "E": ""}) == "# mine\nB='two words'\n\nC=3 # why\n"


def test_a_value_within_others_is_not_taken_for_a_variable() -> None:
    before = "B='one\nA=2\nthree'\n"
    with pytest.raises(ConfigError, match="write A there by hand"):
        with_variables(before, {"A": "9"})


def test_a_setting_is_written_where_its_default_stands_and_everything_else_stays() -> None:
    text = with_settings("", {("model", "name"): "llama"})
    before, after = DEFAULTS.read_text(encoding="utf-8").splitlines(), text.splitlines()
    assert [line for line in after if line not in before] == ['name = "llama"']
    assert len(before) == len(after)
    assert Settings.model_validate(tomllib.loads(text)).model.chosen == "llama"


def test_a_file_of_ones_own_keeps_its_comments_and_order() -> None:
    mine = '# mine\n[window] # small\nhigh_turns = 40\n\n[model]\nname = "one" # the first\n[log]\nlevel = "INFO"\n'
    text = with_settings(mine, {("model", "name"): "two", ("access", "admins"): ["telegram:42"]})
    assert text == (
        '# mine\n[window] # small\nhigh_turns = 40\n\n[model]\nname = "two"\n[log]\nlevel = "INFO"\n'
        '\n[access]\nadmins = ["telegram:42"]\n'
    )
    assert "\n#name = " in with_settings(mine, {("model", "name"): ""})


def test_what_can_not_be_changed_in_one_line_is_left_to_its_owner() -> None:
    mine = '[access]\nadmins = [\n  "telegram:1",\n]\n'
    with pytest.raises(ConfigError, match=r"keepmind.toml can't be changed line by line; set access.admins"):
        with_settings(mine, {("access", "admins"): ["telegram:42"]})


def test_a_file_that_can_not_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be written"):
        write([(tmp_path / "missing" / ".env", "A=1\n", 0o600)])
    (tmp_path / ".env").write_text("old")
    (tmp_path / ".env").chmod(0o644)
    write([(tmp_path / ".env", "A=1\n", 0o600)])
    assert ((tmp_path / ".env").read_text(), (tmp_path / ".env").stat().st_mode & 0o777) == ("A=1\n", 0o600)
    assert [path.name for path in tmp_path.iterdir()] == [".env"]
