"""How many requests an answer takes, and what the model is told of what it called."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from adapters.inmemory import InMemoryStore
from core import sentences
from core.answering import NOT_SAVED, REPEATED
from core.bot import Bot
from core.collaborators import Limits
from core.errors import StoreError
from core.facts import Change
from core.llm import Completion, Finish, Request, ToolCall
from core.messages import Person
from core.tools import ToolContext, tool
from tests.driving import ANNA, turns
from tests.fakes import ScriptedLLM, World, calling, check_request

ANN = ("update_memory", '{"action":"add","key":"name","value":"Ann"}')


def in_turn(*answers: Completion | Exception) -> Callable[[Request], Completion | Exception]:
    left = list(answers)
    return lambda request: left.pop(0)


def world_of(*answers: Completion | Exception, **more: object) -> World:
    return World(llm=ScriptedLLM(in_turn(*answers)), **more)  # type: ignore[arg-type]


@tool
async def look(at: str) -> str:
    """Look at something."""
    return f"{at} is blue"


def results(request: Request) -> list[str]:
    return [m.content for m in request.messages if m.role == "tool"]


async def facts(world: World) -> dict[str, str | list[str]]:
    return dict((await world.store.load(ANNA, Person("test", "anna"))).facts)


async def test_a_plain_message_takes_one_request() -> None:
    world = world_of(Completion("Hi."))
    assert await world.said("hello") == "Hi."
    assert len(world.llm.requests) == 1


async def test_text_beside_a_memory_call_takes_one_request() -> None:
    world = world_of(calling(ANN, text="Nice to meet you, Ann."))
    assert await world.said("I am Ann") == "Nice to meet you, Ann."
    assert len(world.llm.requests) == 1
    assert await facts(world) == {"name": "Ann"}


async def test_a_memory_call_without_text_takes_one_more() -> None:
    world = world_of(calling(ANN), Completion("Hello Ann."))
    assert await world.said("I am Ann") == "Hello Ann."
    assert len(world.llm.requests) == 2
    assert results(world.llm.requests[1]) == ['saved: name = "Ann"']


async def test_each_round_of_tools_takes_one_more() -> None:
    world = world_of(
        calling(("look", '{"at":"sky"}'), text="Let me look."),
        calling(("look", '{"at":"sea"}')),
        Completion("Both are blue."),
        bot=Bot(tools=[look]),
    )
    assert await world.said("colours?") == "Both are blue."
    assert len(world.llm.requests) == 3
    assert results(world.llm.requests[2]) == ["sky is blue", "sea is blue"]


async def test_the_same_call_again_is_not_run_and_ends_the_loop() -> None:
    ran: list[str] = []

    @tool
    async def send(to: str) -> str:
        """Send it."""
        ran.append(to)
        return "sent"

    def script(request: Request) -> Completion:
        return calling(("send", '{"to":"Bob"}')) if request.tools else Completion("It is sent.")

    world = World(llm=ScriptedLLM(script), bot=Bot(tools=[send]))
    assert await world.said("send it") == "It is sent."
    assert ran == ["Bob"]
    assert len(world.llm.requests) == 3
    assert results(world.llm.requests[-1]) == ["sent", REPEATED]
    check_request(world.llm.requests[-1])


async def test_rounds_are_capped_and_the_last_request_has_its_tools_off() -> None:
    def script(request: Request) -> Completion:
        if not request.tools:
            return Completion("Enough.")
        return calling(("look", f'{{"at":"{len(request.messages)}"}}'))

    world = World(llm=ScriptedLLM(script), bot=Bot(tools=[look]), limits=Limits(tool_rounds=3))
    assert await world.said("look at all") == "Enough."
    assert [bool(r.tools) for r in world.llm.requests] == [True, True, True, False]


async def test_a_model_that_calls_with_its_tools_off_is_not_obeyed() -> None:
    world = World(llm=ScriptedLLM(lambda r: calling(("look", f'{{"at":"{len(r.messages)}"}}'))), bot=Bot(tools=[look]))
    assert await world.said("look") == sentences.BLANK
    assert len(world.llm.requests) == 6
    (turn,) = await turns(world)
    assert len(turn.rounds) == 5


async def test_calls_of_one_round_with_one_id_each_get_their_own_result() -> None:
    twice = Completion("", (ToolCall("", "look", '{"at":"sky"}'), ToolCall("", "look", '{"at":"sea"}')))
    world = world_of(twice, Completion("Blue."), bot=Bot(tools=[look]))
    await world.said("colours?")
    check_request(world.llm.requests[-1])
    assert results(world.llm.requests[-1]) == ["sky is blue", "sea is blue"]


async def test_ids_that_a_server_uses_again_in_the_next_round_lose_no_fact() -> None:
    city = ("update_memory", '{"action":"add","key":"city","value":"Oslo"}')
    world = world_of(calling(ANN), calling(city), Completion("Noted."))
    await world.said("I am Ann from Oslo")
    assert await facts(world) == {"name": "Ann", "city": "Oslo"}


class ReadOnly(InMemoryStore):
    """A store whose facts can't be written."""

    async def apply(self, person: Person, scope: str, changes: Sequence[Change], **since: object) -> None:
        raise StoreError("The database is read-only.")


async def test_a_fact_that_was_not_written_is_told_as_not_saved_and_claimed_nowhere() -> None:
    world = world_of(calling(ANN, text="I will remember that!"), Completion(""), store=ReadOnly())
    assert await world.said("I am Ann") == sentences.BLANK
    assert results(world.llm.requests[1]) == [NOT_SAVED]
    assert "I will remember" not in str(world.llm.requests[1].messages)
    assert await facts(world) == {}


async def test_other_calls_of_the_round_keep_their_results_when_facts_are_not_written() -> None:
    both = calling(ANN, ("look", '{"at":"sky"}'))
    world = world_of(both, Completion("Blue."), store=ReadOnly(), bot=Bot(tools=[look]))
    assert await world.said("I am Ann") == "Blue."
    assert results(world.llm.requests[1]) == [NOT_SAVED, "sky is blue"]


async def test_what_was_not_written_is_not_known_to_the_next_round() -> None:
    again = ("update_memory", '{"action":"change","key":"name","value":"Ann"}')
    world = world_of(calling(ANN), calling(again), Completion("Sorry."), store=ReadOnly())
    await world.said("I am Ann")
    assert results(world.llm.requests[2]) == [NOT_SAVED, NOT_SAVED]


async def test_an_own_tool_that_writes_facts_is_held_to_the_same() -> None:
    @tool
    async def note(context: ToolContext, what: str) -> str:
        """Note."""
        return "noted for ever: " + context.facts.add(context.call, "notes", what)

    world = world_of(calling(("note", '{"what":"tea"}')), Completion("Hm."), store=ReadOnly(), bot=Bot(tools=[note]))
    await world.said("I drink tea")
    assert results(world.llm.requests[1]) == [NOT_SAVED]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [('{"at": "San Fra', "not valid JSON"), ("", "at: Field required"), ("null", "JSON object"), ("[]", "JSON object")],
)
async def test_a_broken_call_is_told_and_the_others_run(arguments: str, said: str) -> None:
    world = world_of(
        calling(("look", arguments), ("look", '{"at":"sky"}'), ("lok", "{}")),
        Completion("Blue."),
        bot=Bot(tools=[look]),
    )
    assert await world.said("colours?") == "Blue."
    broken, fine, unknown = results(world.llm.requests[1])
    assert broken.startswith("error:")
    assert said in broken
    assert fine == "sky is blue"
    assert "there is no tool 'lok'; the tools are: look, update_memory" in unknown


async def test_words_beside_calls_stand_when_the_model_has_nothing_to_add() -> None:
    world = world_of(
        calling(("look", '{"at":"sky"}'), text="The sky is blue."), Completion("  "), bot=Bot(tools=[look])
    )
    assert await world.said("colour?") == "The sky is blue."


async def test_a_results_size_is_bounded_before_it_is_stored() -> None:
    @tool
    async def dump() -> str:
        """Dump."""
        return "word " * 20_000

    world = world_of(calling(("dump", "{}")), Completion("Much."), bot=Bot(tools=[dump]))
    await world.said("dump")
    stored = await world.store.turn(1)
    assert stored is not None
    assert len(stored.rounds[0].results[0].content.split()) <= 4000


@pytest.mark.parametrize(
    ("text", "finish", "shown"),
    [
        ("", "stop", sentences.BLANK),
        (" \n", "stop", sentences.BLANK),
        ("", "length", sentences.TOO_LONG),
        ("half an ans", "length", f"half an ans\n\n{sentences.CUT_OFF}"),
        ("", "declined", sentences.DECLINED),
        ("I'd rather not.", "declined", "I'd rather not."),
        ("partly", "interrupted", f"partly\n\n{sentences.INTERRUPTED}"),
        ("", "interrupted", sentences.BLANK),
    ],
)
async def test_what_is_no_whole_answer_is_shown_as_that(text: str, finish: Finish, shown: str) -> None:
    world = world_of(Completion(text, finish=finish), Completion("Fine."))
    assert await world.said("hello") == shown
    assert world.adapter.texts() == [shown]
    await world.say("and?")
    request = world.llm.requests[-1]
    check_request(request)
    assert [m.content for m in request.messages if m.role == "assistant"] == ([text] if text.strip() else [])
    first, _ = await turns(world)
    assert first.answer is not None
    assert first.answer.finish == finish
