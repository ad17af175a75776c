"""The command `keepmind`, as a shell runs it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.sql import open_store
from core.messages import Person
from core.usage import Spent

ROOT = Path(__file__).parents[2]
COMMANDS = [
    [],
    ["chat"],
    ["run"],
    ["dev"],
    ["dev", "telegram"],
    ["memory"],
    ["memory", "view"],
    ["memory", "clear"],
    ["memory", "export"],
    ["memory", "verify"],
    ["model"],
    ["model", "fetch"],
    ["db"],
    ["db", "upgrade"],
    ["db", "backup"],
    ["compact"],
    ["init"],
    ["doctor"],
    ["stats"],
    ["usage"],
    ["version"],
]
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


@pytest.fixture
def keepmind(tmp_path: Path) -> Run:
    """Run the command in an empty folder, with nothing of this machine's settings."""

    def run(*arguments: str, said: str = "", **environ: str) -> Done:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
        env = {**kept, "HOME": str(tmp_path), "KEEPMIND_DATA_DIR": str(tmp_path / "data"), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-W", "error", "-c", "from bots.cli import main; main()", *arguments]
        return subprocess.run(
            command, input=said, cwd=tmp_path, env=env | environ, capture_output=True, text=True, timeout=60
        )

    return run


def refusal(done: Done, code: int = 1) -> str:
    """The one sentence on standard error of a command that failed."""
    assert (done.returncode, done.stdout) == (code, "")
    [sentence] = done.stderr.splitlines()
    return sentence


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(keepmind: Run, command: list[str]) -> None:
    done = keepmind(*command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"Usage: {' '.join(['keepmind', *command])}")
    assert done.stderr == ""
    assert "..." not in done.stdout.replace("]...", ""), "each command's line fits a terminal of 80 columns"


def test_the_version_is_told(keepmind: Run) -> None:
    assert keepmind("version").stdout == "keepmind 0.1.0\n"
    assert json.loads(keepmind("version", "--json").stdout) == {"version": "0.1.0"}


def test_the_version_is_told_without_anything_heavy(keepmind: Run) -> None:
    names = ["asyncio", "core.messages", "openai", "prompt_toolkit", "pydantic", "sqlalchemy", "telegram", "discord"]
    code = f"import sys, bots.cli; print([name for name in {names} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["memory", "view"], "Name one of --chat and --person."),
        (["memory", "view", "--chat", "a:b", "--person", "a:b"], "Name one of --chat and --person."),
        (
            ["memory", "view", "--chat", "demo"],
            "Invalid value for --chat: 'demo' is not a chat; write it as platform:chat or platform:chat/topic",
        ),
        (
            ["memory", "export", "--person", "anna"],
            "Invalid value for --person: 'anna' is not a person; write it as platform:user",
        ),
        (["memory", "export"], "Missing option '--person'."),
        (["memory", "veiw"], "No such command 'veiw'."),
        (["chat", "--loud"], "No such option '--loud'."),
        (["run", "irc"], "Invalid value for '[telegram|discord]...': 'irc' is not one of 'telegram', 'discord'."),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_2(keepmind: Run, arguments: list[str], sentence: str) -> None:
    assert refusal(keepmind(*arguments), 2).startswith(sentence)


@pytest.mark.parametrize("command", [["chat"], ["run"], ["db", "upgrade"], ["memory", "verify"]], ids=" ".join)
def test_a_bad_setting_is_one_sentence(keepmind: Run, command: list[str]) -> None:
    sentence = refusal(keepmind(*command, KEEPMIND_WINDOW__HIGH_TURNS="many"))
    assert sentence == (
        "keepmind: KEEPMIND_WINDOW__HIGH_TURNS is 'many'; it must be a whole number from 1 to 1,000,000"
    )


def test_a_broken_file_of_settings_is_one_sentence(keepmind: Run, tmp_path: Path) -> None:
    (tmp_path / "keepmind.toml").write_text("[window")
    assert f"{tmp_path / 'keepmind.toml'} is not valid TOML" in refusal(keepmind("chat"))


def test_running_without_a_token_names_the_variables(keepmind: Run) -> None:
    started = time.monotonic()
    assert refusal(keepmind("run")) == (
        "keepmind: no bot is configured; set TELEGRAM_BOT_TOKEN or DISCORD_BOT_TOKEN to the token of the bot"
    )
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(("platform", "variable"), [("telegram", "TELEGRAM"), ("discord", "DISCORD")])
def test_running_one_platform_needs_its_token(keepmind: Run, platform: str, variable: str) -> None:
    other = {"TELEGRAM_BOT_TOKEN": "1:a"} if platform == "discord" else {"DISCORD_BOT_TOKEN": "a"}
    assert refusal(keepmind("run", platform, **other)) == (
        f"keepmind: {variable}_BOT_TOKEN must be set to the token of the bot"
    )


def test_what_is_stored_is_counted_in_words_and_as_json(keepmind: Run) -> None:
    assert keepmind("stats").stdout.splitlines()[:3] == ["chats: 0", "people: 0", "turns: 0"]
    told = json.loads(keepmind("stats", "--json").stdout)
    assert told["stored"]["turns"] == 0
    assert len(told["days"]) == 14
    assert set(told["days"][0]) == {"date", "turns", "answered", "failed", "people", "tokens"}


def test_what_the_model_took_is_told_in_words_and_as_json(keepmind: Run, tmp_path: Path) -> None:
    assert keepmind("usage").stdout == "No tokens were used of late.\n"
    asyncio.run(_spend(tmp_path))
    prices = {"KEEPMIND_BUDGET__PRICES": "m=1/0.5/10", "KEEPMIND_BUDGET__BOT_DAY": "2400"}
    lines = keepmind("usage", **prices).stdout.splitlines()
    assert lines[0] == "Today: 1,200 tokens in 1 request, 50% of them for memory; 0.0030 USD."
    assert lines[-1].startswith("The budget of the bot of a day: 50% of 2,400 tokens are used; it begins anew at ")
    told = json.loads(keepmind("usage", "--json", **prices).stdout)
    assert (told["cost"], told["persons"], told["spent"][0]["prompt"]) == (0.003, [["telegram:42", 1200]], 1000)


async def _spend(folder: Path) -> None:
    took = Spent(datetime.now(UTC).date(), Person("telegram", "42"), None, "m", "answer", 1, 1000, 0, 200, 600)
    store = await open_store(str(folder / "data" / "keepmind.db"))
    await store.spend([took])
    await store.aclose()


def test_a_reader_that_goes_first_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'from bots.cli import main; main()' --help | true"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_export_is_its_owners_alone_and_follows_no_link(keepmind: Run, tmp_path: Path) -> None:
    open_to_all, others, link = tmp_path / "old.json", tmp_path / "others", tmp_path / "link.json"
    for file in (open_to_all, others):
        file.write_text("as it was")
        file.chmod(0o666)
    link.symlink_to(others)
    asked = ("memory", "export", "--person", "console:anna", "--output")
    assert keepmind(*asked, str(open_to_all)).returncode == 0
    assert open_to_all.stat().st_mode & 0o777 == 0o600
    assert "can't be written" in refusal(keepmind(*asked, str(link)))
    assert others.read_text() == "as it was"
