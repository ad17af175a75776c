"""The page on extending Keepmind is true: its snippets run, together, as one bot."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from adapters.inmemory import InMemoryStore
from adapters.sql import open_store
from bots.memories import chosen_memories
from bots.memory import clear, verify, view_person
from config.settings import load_settings
from core.bot import Bot, Ports, build
from core.llm import Completion, Request
from core.messages import Attachment, ChatKey, Message, Person
from tests.fakes import FakeClock, ScriptedLLM, WordCounter, World, calling, echo
from tests.talks import Obeying, prepare, results

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


def run_snippets() -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "my_memories"}
    for snippet in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(compile(snippet, str(PAGE), "exec"), scope)
    return scope


def answer(request: Request) -> Completion:
    asked = request.messages[-1]
    if asked.content.endswith("I feel great!"):
        return calling(("note_mood", '{"mood": "great"}'), text="Lovely!")
    if asked.content.endswith("Rome?"):
        return calling(("weather", '{"city": "Rome"}'))
    return echo(request)


def test_what_the_page_writes_has_sound_types(tmp_path: Path) -> None:
    root = PAGE.parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert [name for name in packages if not (root / name / "py.typed").is_file()] == []
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "mine.py").write_text("\n".join([*snippets, "from core import Adapter", "paper: Adapter = Paper()"]))
    options = ["--strict", "--follow-imports=silent", "--config-file=", f"--cache-dir={root / '.mypy_cache' / 'page'}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(tmp_path / "mine.py")], cwd=root, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


async def test_the_bot_of_the_page_uses_its_tool_its_command_its_memory_and_its_platform() -> None:
    scope = run_snippets()
    llm, paper = ScriptedLLM(answer), scope["Paper"]()
    engine = build(scope["bot"], Ports(InMemoryStore(), llm, WordCounter(), FakeClock(), [paper]), allowed=["paper:*"])
    await paper.write(engine, "ann", "I feel great!")
    await paper.write(engine, "ann", "What will it be in Rome?")
    await paper.write(engine, "ann", "/roll 1")
    await paper.write(engine, "ann", "/count chats")
    assert paper.sheets[0] == "Lovely!"
    assert paper.sheets[1] == "You said: Rome: sunny for 1 day(s)"
    assert paper.sheets[2:] == ["How many sides? Two or more, please.", "Only an admin can do that."]
    assert '"mood": "great"' in "\n".join(m.content for m in llm.requests[1].messages)


# -- the memory of the page, named in the configuration -----------------------------------------------------------

ANNA = Person("test", "anna")
BUY = ("to_do", '{"task": "buy milk"}')


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    """A bot as the page configures it: its snippet in a file, its lines in keepmind.toml, a database on disk."""
    page = PAGE.read_text(encoding="utf-8")
    (memory,) = [s for s in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "class ToDo" in s]
    (lines,) = re.findall(r"```toml\n(\[memory\].*?)```", page, re.DOTALL)
    (tmp_path / "my_memories.py").write_text(memory, encoding="utf-8")
    (tmp_path / "keepmind.toml").write_text(lines, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    settings = load_settings({"OPENAI_BASE_URL": "http://127.0.0.1/v1"}, tmp_path)
    llm = ScriptedLLM(Obeying())
    store = await open_store(str(tmp_path / "keepmind.db"))
    yield World(llm=llm, bot=Bot(memory=chosen_memories(settings, llm)), store=store)
    assert await verify(store, []) == []
    await store.aclose()
    del sys.modules["my_memories"]


async def told(world: World, text: str, *calls: tuple[str, str], who: str = "anna", **more: Any) -> None:
    """Say something to which the model calls tools beside its answer."""
    prepare(world, calling(*calls, text="Noted."))
    await world.say(text, who, **more)


async def shown(world: World, who: str = "anna", **more: Any) -> bool:
    """Say whether the task is in the next prompt."""
    await world.say("and now?", who, **more)
    return "buy milk (since 2026-03-01)" in world.prompt()


async def exported(world: World, who: str = "anna") -> Any:
    reply = await world.say("/export", who)
    assert reply is not None
    assert reply.file is not None
    return json.loads(reply.file.data)


async def test_what_the_memory_notes_is_known_later_also_after_a_restart(world: World) -> None:
    await told(world, "I must buy milk", BUY)
    assert await shown(world)
    world.restart()
    assert await shown(world)
    await told(world, "I did buy milk", ("to_do", '{"task": "Buy  MILK", "done": true}'))
    assert not await shown(world)


async def test_the_notes_of_one_person_and_place_are_never_anothers(world: World) -> None:
    await told(world, "I must buy milk", BUY)
    assert not await shown(world, "bob")
    assert not await shown(world, "anna", chat="club", group=True)
    assert (await exported(world, "bob"))["notes"] == {}


async def test_export_and_import_hold_the_notes(world: World) -> None:
    await told(world, "I must buy milk", BUY)
    data = await exported(world)
    assert [(n["memory"], n["key"]) for n in data["notes"]["private"]] == [("my_memories:ToDo", "buy milk")]
    assert [n["key"] for n in (await view_person(world.store, ANNA))["notes"]] == ["buy milk"]
    file = Attachment("file", "export.json", "application/json", data=json.dumps(data).encode())
    reply = await world.said("/import", "bea", attachments=(file,))
    assert "1 note came along." in reply
    assert await shown(world, "bea")


@pytest.mark.parametrize("command", ["/forget last", "/forget chat yes", "/forget me yes", "/memory clear yes"])
async def test_what_erases_memory_erases_the_notes(world: World, command: str) -> None:
    await told(world, "I must buy milk", BUY)
    assert "notes: 1" in await world.said(command)
    assert not await shown(world)
    assert await world.store.notes(ANNA, "private") == []
    if command != "/memory clear yes":
        assert await verify(world.store, ["buy milk"]) == []


async def test_the_card_shows_what_is_noted_to_its_person_alone(world: World) -> None:
    await told(world, "I must buy milk", BUY)
    assert "Noted here:\n" in await world.said("/memory")
    assert "buy milk" in await world.said("/memory")
    assert "milk" not in await world.said("/memory", "bob")
    await world.say("/forget me yes")
    assert "Noted here" not in await world.said("/memory")


@pytest.mark.parametrize("whom", [ANNA, ChatKey("test", "anna")])
async def test_the_shell_clears_the_notes(world: World, whom: Person | ChatKey) -> None:
    await told(world, "I must buy milk", BUY)
    assert (await clear(world.store, whom)).counts["notes"] == 1
    assert await verify(world.store, ["buy milk"]) == []


@pytest.mark.parametrize("command", ["/memory off", "/memory ask", "/incognito"])
async def test_nothing_is_noted_of_who_does_not_want_it(world: World, command: str) -> None:
    await world.say(command)
    await told(world, "I must buy milk", BUY)
    assert await world.store.notes(ANNA, "private") == []


async def test_only_the_persons_own_words_are_noted_and_no_secrets(world: World) -> None:
    await told(world, "I must buy milk", BUY, forwarded="somebody")
    await told(world, "my password is hunter2", ("to_do", '{"task": "password hunter2"}'))
    assert await world.store.notes(ANNA, "private") == []
    assert "NOT saved" in results(world)[-1] or "error" in results(world)[-1]


async def test_an_edit_takes_back_what_was_noted(world: World) -> None:
    message: Message = world.message("I must buy milk")
    prepare(world, calling(BUY, text="Noted."))
    await world.engine.handle(message)
    await world.store.edit(message.chat, message.id, "I must not")
    assert not await shown(world)
