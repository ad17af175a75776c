"""Personas: files with settings of their own, chosen for the bot, a platform, a chat or a topic."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bots.personas import open_bot, roles
from config.persona import PersonaFile, load_persona, personas
from config.settings import Engine, Memory, Model, Settings
from core.bot import Bot
from core.errors import ConfigError
from core.llm import Completion, Request, ToolCall
from core.memory.keepmind import Keepmind
from core.memory.none import NoHistory
from core.memory.profile import Profile
from core.memory.recent import TokenWindow, Window
from core.messages import ChatKey
from core.personas import Persona, Places
from core.tools import tool
from tests.fakes import ScriptedLLM, WordCounter, World


def saved(key: str, value: str) -> ToolCall:
    """A call that saves a fact."""
    return ToolCall("c", "update_memory", json.dumps({"action": "add", "key": key, "value": value}))


SERVER = Model(base_url="http://127.0.0.1:9/v1", name="usual")
PIRATE = """+++
name = "Hook"
language = "ru"
model = "big"
history = "window"
beside = ["profile"]
fields = ["ship"]
+++

You are a pirate.
+++
This is text.
"""


def written(folder: Path, text: str) -> str:
    path = folder / "own.md"
    path.write_text(text, encoding="utf-8")
    return str(path)


def with_personas(usual: str = "default", *elsewhere: str, model: Model = SERVER, **memory: object) -> Settings:
    engine = Engine(persona=usual, personas=elsewhere)
    return Settings(engine=engine, model=model, memory=Memory.model_validate(memory))


def system(request: Request) -> str:
    return request.messages[0].content


def test_a_file_may_have_settings_before_its_text(tmp_path: Path) -> None:
    assert load_persona(written(tmp_path, PIRATE)) == PersonaFile(
        text="You are a pirate.\n+++\nThis is text.",
        name="Hook",
        language="ru",
        model="big",
        history="window",
        beside=("profile",),
        fields=("ship",),
    )


@pytest.mark.parametrize("text", ["You are a pirate.\n", "\ufeffYou are a pirate.", "+++\n+++\nYou are a pirate."])
def test_a_file_may_be_text_alone(tmp_path: Path, text: str) -> None:
    assert load_persona(written(tmp_path, text)) == PersonaFile(text="You are a pirate.")


@pytest.mark.parametrize("name", ["nobody", "../personas/default", "/", "a\0b"])
def test_a_persona_that_is_not_there_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match=r"the persona .* is not there; write one of default, small, sputnik"):
        load_persona(name)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" \n", "has no text"),
        ("+++\nname = 'Hook'\n+++\n \n", "has no text"),
        ("+++\nname = Hook\n+++\nArr.", "are not valid TOML"),
        ("+++\nnmae = 'Hook'\n+++\nArr.", "nmae of the persona .* is not a setting; did you mean name"),
        ("+++\nlanguage = 'xx'\n+++\nArr.", "language of the persona .*: 'xx' is not spoken here"),
        ("+++\nhistory = 'No!'\n+++\nArr.", "history of the persona .*: 'No!' is no kind of memory"),
        ("+++\ntools = ['rm -rf']\n+++\nArr.", "tools of the persona .*: 'rm -rf' must be written package"),
        ("+++\nmodel = 7\n+++\nArr.", "model of the persona .* is 7; it must be text"),
        ("+++\n[name]\nx = 1\n+++\nArr.", "name of the persona .* is .*; it must be text"),
    ],
)
def test_a_file_that_cannot_be_used_is_said_so_in_a_sentence(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as error:
        load_persona(written(tmp_path, text))
    assert "\n" not in str(error.value)


async def test_the_personas_that_come_with_it_can_be_used() -> None:
    languages = set()
    for name in personas():
        cast = roles(with_personas(name))
        async with open_bot(cast, ScriptedLLM(), WordCounter()) as bot:
            world = World(bot=bot)
            await world.say("Hello")
            assert cast.usual.file.text in world.prompt()
        languages.add(cast.usual.settings.engine.language)
    assert languages == {"en", "ru", "zh"}


async def test_the_nearest_persona_answers_with_its_own_text_model_memory_and_tools() -> None:
    other, calls = ScriptedLLM(), []

    @tool
    async def hoist(flag: str) -> str:
        """Hoist a flag."""
        calls.append(flag)
        return "hoisted"

    pirate = Persona("You are a pirate.", [Window(1)], [hoist], llm=other)
    world = World(bot=Bot("You are a clerk.", elsewhere={"test:ship": pirate, "test:ship/7": Persona("A parrot.")}))
    for number in range(3):
        await world.say(f"number {number}", chat="ship", group=True, addressed=True)
    await world.say("hello")
    assert system(other.of("answer")[-1]).startswith("You are a pirate.")
    assert [t.name for t in other.of("answer")[-1].tools] == ["hoist"]
    told = "\n".join(m.content for m in other.of("answer")[-1].messages)
    assert "number 0" not in told
    assert "number 1" in told
    assert system(world.llm.of("answer")[-1]).startswith("You are a clerk.")
    assert len(world.llm.of("answer")) == 1


def test_what_is_for_a_platform_is_for_its_chats_and_topics_unless_they_have_their_own() -> None:
    places = Places("all", {"discord": "d", "telegram:-100": "t", "telegram:-100/7": "seven"})
    assert places.of(ChatKey("discord", "9", "1")) == "d"
    assert places.of(ChatKey("telegram", "-100", "8")) == "t"
    assert places.of(ChatKey("telegram", "-100", "7")) == "seven"
    assert places.of(ChatKey("telegram", "-1007")) == "all"
    assert places.of(ChatKey("console", "discord")) == "all"


async def test_what_a_chat_has_grown_to_is_folded_by_the_model_of_its_persona() -> None:
    other = ScriptedLLM()
    world = World(bot=Bot(elsewhere={"test:anna": Persona(llm=other)}))
    for number in range(70):
        await world.say(f"number {number}")
    await world.settle()
    assert other.of("summary")
    assert not world.llm.requests


async def test_facts_of_a_person_are_known_to_each_persona_of_a_chat_with_topics() -> None:
    one = ScriptedLLM(lambda request: Completion("Hello.", (saved("name", "Anna"),)))
    topics = {"test:club/1": Persona("One.", llm=one), "test:club/2": Persona("Two.")}
    world = World(bot=Bot(elsewhere=topics))
    for topic, text in (("1", "My name is Anna"), ("2", "Who am I?")):
        said = world.message(text, chat="club", group=True)
        await world.engine.handle(replace(said, chat=ChatKey("test", "club", topic)))
    assert "Two." in world.prompt()
    assert "Anna" in world.prompt()


async def test_the_sentences_of_the_bot_are_in_the_language_of_the_persona_where_the_persons_is_not_known() -> None:
    world = World(bot=Bot(elsewhere={"test:anna": Persona(language="ru")}))
    assert "забы" in (await world.said("/help")).casefold()
    assert "forget" in (await world.said("/help", "bob")).casefold()
    assert "forget" in (await world.said("/help", language="en")).casefold()


@pytest.mark.parametrize(
    ("chat", "name", "history"),
    [
        (ChatKey("telegram", "1"), "Keepmind", "buffer"),
        (ChatKey("discord", "1"), "Hook", "window"),
        (ChatKey("discord", "2"), "Hook", "none"),
        (ChatKey("telegram", "-100"), "Lingo", "tree"),
        (ChatKey("telegram", "-100", "7"), "Спутник", "buffer"),
        (ChatKey("telegram", "-100", "8"), "Lingo", "token_window"),
    ],
)
def test_a_place_has_its_persona_and_its_kind_of_history(
    tmp_path: Path, chat: ChatKey, name: str, history: str
) -> None:
    settings = with_personas(
        "default",
        f"discord={written(tmp_path, PIRATE)}",
        "telegram:-100=tutor",
        "telegram:-100/7=sputnik",
        history="buffer",
        chats="discord:2=none,telegram:-100/8=token_window",
        personas="tutor=tree",
    )
    chosen = roles(settings).of(chat).settings
    assert (chosen.engine.name, chosen.memory.history) == (name, history)


async def test_each_place_gets_what_its_settings_say(tmp_path: Path) -> None:
    settings = with_personas(
        "default", f"test={written(tmp_path, PIRATE)}", chats="test:bob=none,test:cleo=token_window"
    )
    cast, usual = roles(settings), ScriptedLLM()
    async with open_bot(cast, usual, WordCounter()) as bot:
        made = bot.personas
    assert [type(m) for m in made.usual.memory] == [Keepmind, Profile]
    pirate, bob = made.of(ChatKey("test", "anna")), made.of(ChatKey("test", "bob"))
    assert pirate.text.startswith("Your name is Hook.\n\nYou are a pirate.")
    assert [type(m) for m in pirate.memory] == [Window, Profile]
    assert pirate.llm is bob.llm is not usual
    assert [type(m) for m in bob.memory] == [NoHistory, Profile]
    assert type(made.of(ChatKey("test", "cleo")).memory[0]) is TokenWindow


def test_the_path_of_a_persona_may_hold_an_equals_sign(tmp_path: Path) -> None:
    path = tmp_path / "a=b.md"
    path.write_text("You are a pirate.")
    settings = with_personas("default", f"discord={path}", personas=f"{path}=window")
    chosen = roles(settings).of(ChatKey("discord", "1"))
    assert (chosen.file.text, chosen.settings.memory.history) == ("You are a pirate.", "window")


async def test_without_a_server_the_small_model_plays_every_persona(tmp_path: Path) -> None:
    settings = with_personas("default", f"discord={written(tmp_path, PIRATE)}", model=Model())
    cast = roles(settings)
    assert {role.settings.model.chosen for role in (cast.usual, *cast.others.values())} == {"local"}
    assert cast.usual.file == load_persona("small")


OWN = """
from core import tool

@tool
async def tide(hour: int) -> str:
    '''Tell the tide.'''
    return "high"

async def bare() -> str:
    '''No tool.'''
    return ""
"""


OWN_COMMANDS = """
from core import Context, command

@command
async def ahoy(context: Context) -> str:
    '''Greet.'''
    return "Ahoy!"

async def bare(context: Context) -> str:
    '''No command.'''
    return ""
"""


async def test_a_persona_may_have_tools_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_sea_tools.py").write_text(OWN)
    (tmp_path / "own_broken_tools.py").write_text("import no_such_module")
    monkeypatch.chdir(tmp_path)

    def persona(tools: str) -> Settings:
        return with_personas(written(tmp_path, f"+++\ntools = [{tools!r}]\n+++\nArr."))

    async with open_bot(roles(persona("own_sea_tools:tide")), ScriptedLLM(), WordCounter()) as bot:
        assert [t.name for t in bot.tools] == ["tide"]
    for wrong, why in {
        "own_sea_tools:bare": "is none: write @tool",
        "own_sea_tools:none": "there is no none in own_sea_tools",
        "no_such_module:x": f"Python finds no module no_such_module; put it into {tmp_path} or install it",
        "own_broken_tools:x": "Python finds no module no_such_module, which own_broken_tools needs",
    }.items():
        with pytest.raises(ConfigError, match=f"the tool '{wrong}' .*{why}"):
            async with open_bot(roles(persona(wrong)), ScriptedLLM(), WordCounter()):
                pass


async def test_commands_of_ones_own_are_named_in_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_commands.py").write_text(OWN_COMMANDS)
    monkeypatch.chdir(tmp_path)

    def with_commands(*names: str) -> Settings:
        return Settings(engine=Engine(commands=names), model=SERVER)

    async with open_bot(roles(with_commands("own_commands:ahoy")), ScriptedLLM(), WordCounter()) as bot:
        assert await World(bot=bot).said("/ahoy") == "Ahoy!"
    with pytest.raises(ConfigError, match="the command 'own_commands:bare' is none: write @command"):
        async with open_bot(roles(with_commands("own_commands:bare")), ScriptedLLM(), WordCounter()):
            pass


@pytest.mark.parametrize(
    "entry", ["telegram", "=tutor", "telegram:*=tutor", "Telegram:5=tutor", "telegram=", "telegram:anna=tutor"]
)
def test_a_place_that_cannot_be_is_refused_in_a_sentence(entry: str) -> None:
    with pytest.raises(ValueError, match=r"must (be written|have a numeric id)"):
        with_personas("default", entry)
