"""The front door: what is heard is stored, answered in order and at most once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from adapters.inmemory import InMemoryStore
from core import sentences
from core.bot import Bot
from core.collaborators import Limits
from core.commands.command import Context, command
from core.conversation import Conversation, State, Turn
from core.errors import ContextOverflow, LLMError, LLMRejected, StoreError
from core.llm import Completion
from core.messages import ChatKey, Message, Person, Quote
from core.records import Job
from core.tools import tool
from core.usage import Spent
from tests.driving import ANNA, HeldAdapter, Life, alive, hold, kill, turns, until, waits
from tests.fakes import START, FakeAdapter, HeldClock, ScriptedLLM, World, calling, check_request, echo


async def test_two_messages_in_one_instant_are_answered_one_after_the_other() -> None:
    world = World()
    await asyncio.gather(world.say("my name is Ann"), world.say("what is my name?"))
    stored = await turns(world)
    assert [t.message.text for t in stored] == ["my name is Ann", "what is my name?"]
    assert [t.answer.text for t in stored if t.answer] == ["You said: my name is Ann", "You said: what is my name?"]
    assert "user: my name is Ann\nassistant: You said: my name is Ann" in world.prompt()


async def test_twenty_parallel_messages_are_twenty_turns_in_order() -> None:
    world = World()
    await asyncio.gather(*(world.say(f"number {n}") for n in range(20)))
    assert [t.message.text for t in await turns(world)] == [f"number {n}" for n in range(20)]
    assert all(t.state is State.DELIVERED for t in await turns(world))
    assert world.adapter.texts() == [f"You said: number {n}" for n in range(20)]
    for request in world.llm.requests:
        check_request(request)


class SlowDoor(InMemoryStore):
    """A store that takes longer for one message."""

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        for _ in range(50 if message.text == "first" else 0):
            await asyncio.sleep(0)
        return await super().receive(message, keep=keep)


async def test_a_message_that_takes_longer_to_store_still_comes_first() -> None:
    world = World(store=SlowDoor())
    await asyncio.gather(world.say("first"), world.say("second"))
    assert [t.message.text for t in await turns(world)] == ["first", "second"]


async def test_a_hanging_chat_holds_up_no_other() -> None:
    world = World()
    hung = hold(world)
    waiting = asyncio.create_task(world.say("I hang"))
    await until(lambda: hung.waiting)
    world.llm.gate = None
    assert await world.said("hello", who="bob") == "You said: hello"
    later = asyncio.create_task(world.say("after that"))
    await until(lambda: len(world.adapter.shown) == 1)
    hung.set()
    await asyncio.gather(waiting, later)
    assert world.adapter.texts(ANNA) == ["You said: I hang", "You said: after that"]


async def test_a_chat_whose_rows_are_slow_holds_up_no_other_and_stays_in_order() -> None:
    class Slow(InMemoryStore):
        async def open(self, messages: Sequence[Message], *, tokens: int, at: datetime) -> tuple[Conversation, Turn]:
            if messages[0].chat == ANNA:
                await gate.wait()
            return await super().open(messages, tokens=tokens, at=at)

    gate, world = asyncio.Event(), World(store=Slow())
    slow = [asyncio.create_task(world.said(text)) for text in ("one", "two", "three")]
    for text in ("hello", "hello again"):
        assert await world.said(text, who="bob") == f"You said: {text}"
    assert world.adapter.texts(ANNA) == []
    gate.set()
    assert await asyncio.gather(*slow) == [f"You said: {text}" for text in ("one", "two", "three")]
    assert world.adapter.texts(ANNA) == [f"You said: {text}" for text in ("one", "two", "three")]


async def test_a_busy_chat_takes_only_one_of_the_slots_for_answering() -> None:
    world = World(limits=Limits(parallel=2))
    gate = hold(world)
    busy = [asyncio.create_task(world.say(f"{n}")) for n in range(10)]
    await until(lambda: gate.waiting)
    world.llm.gate = None
    assert await world.said("hello", who="bob") == "You said: hello"
    gate.set()
    await asyncio.gather(*busy)


async def test_the_same_message_delivered_twice_at_once_is_answered_once() -> None:
    world = World()
    message = world.message("once only")
    replies = await asyncio.gather(world.engine.handle(message), world.engine.handle(message))
    assert sorted(r is None for r in replies) == [False, True]
    assert len(world.llm.requests) == len(await turns(world)) == 1


async def test_a_command_delivered_twice_runs_once() -> None:
    ran: list[str] = []

    @command
    async def note(context: Context) -> str:
        """Note."""
        ran.append("note")
        return "noted"

    world = World(bot=Bot(commands=[note]))
    message = world.message("/note")
    await asyncio.gather(world.engine.handle(message), world.engine.handle(message))
    assert ran == ["note"]


async def test_two_first_messages_of_a_new_person_make_one_conversation() -> None:
    world = World()
    await asyncio.gather(world.say("hi"), world.say("there"))
    assert len(await world.store.chats()) == 1
    assert [t.parent for t in await turns(world)] == [None, (await turns(world))[0].id]


async def test_ids_of_64_bits_are_kept_whole() -> None:
    world = World()
    await world.say("hi", who="1187301234567890123", chat="-1002471352452", id="9223372036854775807", group=True)
    (turn,) = await turns(world, ChatKey("test", "-1002471352452"))
    assert (turn.sender, turn.message.id) == (Person("test", "1187301234567890123"), "9223372036854775807")


async def test_any_text_goes_through() -> None:
    world = World()
    for text in ("emoji 👩‍👩‍👧", "a\0b", "\ud800 alone", "<|endoftext|>", "x" * 1_000_000, "\u202eright to left", "\0"):
        assert await world.say(text) is not None
    assert await world.store.verify() == []
    for request in world.llm.requests:
        check_request(request)


async def test_what_is_blank_or_unreadable_asks_no_model() -> None:
    world = World()
    assert await world.say("  \n ") is None
    assert world.llm.requests == []
    assert await turns(world) == []


async def test_a_groups_talk_that_needs_no_answer_is_heard_and_shown_later() -> None:
    world = World()
    assert await world.say("we meet at six", who="bob", chat="g", group=True, addressed=False) is None
    assert world.llm.requests == []
    await world.say("when do we meet?", chat="g", group=True)
    assert "[bob] we meet at six" in world.prompt()
    assert [t.state for t in await turns(world, ChatKey("test", "g"))] == [State.HEARD, State.DELIVERED]


async def test_old_talk_that_needs_no_answer_is_heard_without_a_word() -> None:
    world = World()
    long_ago = world.clock.now() - timedelta(days=1)
    assert await world.say("old news", chat="g", group=True, addressed=False, sent_at=long_ago) is None
    assert world.adapter.shown == []


async def test_a_message_older_than_the_limit_is_kept_and_gets_one_sentence() -> None:
    world = World()
    assert await world.said("long ago", sent_at=world.clock.now() - timedelta(hours=7)) == sentences.TOO_OLD
    (turn,) = await turns(world)
    assert (turn.state, turn.message.text) == (State.FAILED, "long ago")
    assert world.llm.requests == []


async def test_a_sender_that_stands_for_nobody_has_no_profile() -> None:
    world = World(llm=ScriptedLLM(lambda r: calling(("update_memory", '{"action":"add","key":"name","value":"X"}'))))
    await world.say("I am X", who="anonymous", chat="g", group=True, anonymous=True)
    assert all(r.tools == () for r in world.llm.requests)
    assert await world.store.scopes(Person("test", "anonymous")) == []


async def test_strangers_cost_nothing_but_one_sentence_with_their_id() -> None:
    world = World(allowed=())
    for _ in range(3):
        assert await world.say("hello?", who="stranger") is None
    (told,) = world.adapter.texts()
    assert told.endswith("your id is test:stranger.")
    assert world.llm.requests == []
    assert await world.store.holds("hello?") == []


async def test_an_unknown_command_asks_no_model() -> None:
    world = World()
    assert await world.said("/nonsense") == sentences.NO_SUCH_COMMAND.format(name="nonsense")
    assert world.llm.requests == []


async def test_a_command_that_breaks_costs_only_itself() -> None:
    @command
    async def break_(context: Context) -> str:
        """Break."""
        raise RuntimeError("broken")

    world = World(bot=Bot(commands=[break_]))
    assert await world.said("/break") == sentences.APOLOGY_COMMAND
    assert await world.said("still there?") == "You said: still there?"


async def test_writing_commands_wait_for_the_turn_before_them() -> None:
    seen: list[int] = []

    @command
    async def count(context: Context) -> str:
        """Count."""
        seen.append(len((await context.engine.shared.store.load(context.message.chat)).turns))
        return "counted"

    world = World(bot=Bot(commands=[count]))
    gate = hold(world)
    said = asyncio.create_task(world.say("hello"))
    await until(lambda: gate.waiting)
    counted = asyncio.create_task(world.say("/count"))
    gate.set()
    await asyncio.gather(said, counted)
    assert seen == [1]
    assert world.adapter.texts() == ["You said: hello", "counted"]


async def test_a_quoted_message_stands_in_the_prompt_with_its_author() -> None:
    world = World()
    await world.say("expand point 2", quote=Quote("", "1. a 2. b", own=True))
    assert "in reply to your message: «1. a 2. b»" in world.prompt()


# -- stop ---------------------------------------------------------------------------------------------------------


async def test_stop_ends_the_turn_in_progress_and_keeps_what_was_said() -> None:
    world = World()
    gate = hold(world)
    said = asyncio.create_task(world.say("a long question"))
    await until(lambda: gate.waiting)
    assert await world.said("/stop") == sentences.STOPPED
    assert await said is None
    (turn,) = await turns(world)
    assert (turn.state, turn.failure, turn.answer) == (State.FAILED, "stopped", None)
    world.llm.gate = None
    await world.say("another")
    assert "user: a long question" in world.prompt()
    assert world.adapter.texts() == [sentences.STOPPED, "You said: another"]


async def test_stop_while_streaming_keeps_what_was_seen_as_interrupted() -> None:
    world = World()
    world.adapter.pace = 0.0
    hold(world)
    said = asyncio.create_task(world.say("tell me a story"))
    await until(lambda: world.adapter.shown)
    seen = world.adapter.shown[0].out.text
    await world.say("/stop")
    await said
    (turn,) = await turns(world)
    assert turn.answer is not None
    assert (turn.answer.text, turn.answer.finish) == (seen.strip(), "interrupted")


async def test_stop_during_a_burst_keeps_the_message_unanswered() -> None:
    world = World()
    world.adapter.quiet = 30
    reply = await world.engine.accept(world.message("not meant"))
    await asyncio.sleep(0)
    assert await world.said("/stop") == sentences.STOPPED
    assert reply is not None
    assert await reply is None
    assert [(t.message.text, t.failure) for t in await turns(world)] == [("not meant", "stopped")]
    assert world.llm.requests == []


async def test_stop_while_delivering_sends_no_more_and_leaves_nothing_open() -> None:
    adapter = HeldAdapter(2, limit=2)
    world = World(llm=ScriptedLLM(lambda r: Completion("abcdefghij")), adapter=adapter)
    said = asyncio.create_task(world.say("go on"))
    await adapter.held.wait()
    stop = world.message("/stop")
    stopping = asyncio.create_task(world.engine.handle(stop))
    await said
    await stopping
    assert adapter.texts()[:2] == ["ab", "cd"]
    assert "gh" not in adapter.texts()
    assert await world.store.open_turns() == []
    assert (await turns(world))[0].state is State.DELIVERED


async def test_stop_with_nothing_running_says_so() -> None:
    world = World()
    assert await world.said("/stop") == sentences.NOTHING_TO_STOP


async def test_what_waits_behind_a_stopped_turn_is_answered() -> None:
    world = World()
    gate = hold(world)
    first = asyncio.create_task(world.say("first"))
    await until(lambda: gate.waiting)
    second = asyncio.create_task(world.say("second"))
    await asyncio.sleep(0)
    stopping = asyncio.create_task(world.say("/stop"))
    await until(first.done)
    world.llm.gate = None
    await asyncio.gather(second, stopping)
    assert [t.failure for t in await turns(world)] == ["stopped", ""]
    assert "You said: second" in world.adapter.texts()


async def test_forget_last_erases_the_turn_in_progress_not_the_one_that_waits() -> None:
    world = World()
    await world.say("older")
    gate = hold(world)
    first = asyncio.create_task(world.say("forget this"))
    await until(lambda: gate.waiting)
    second = asyncio.create_task(world.say("but keep this"))
    await asyncio.sleep(0)
    forgetting = asyncio.create_task(world.say("/forget last"))
    await until(first.done)
    world.llm.gate = None
    await asyncio.gather(second, forgetting)
    assert [t.message.text for t in await turns(world)] == ["older", "but keep this"]
    assert "You said: but keep this" in world.adapter.texts()
    assert await world.store.holds("forget this") == []


async def test_an_answer_being_written_is_not_written_back_after_forgetting() -> None:
    world = World()
    gate = hold(world)
    said = asyncio.create_task(world.say("my marker is XYZZY"))
    await until(lambda: gate.waiting)
    await world.say("/forget me yes")
    assert await said is None
    assert await world.store.holds("XYZZY") == []
    assert world.engine.shared.reports == {} or "XYZZY" not in str(world.engine.shared.reports)


async def test_a_bystanders_answer_is_made_anew_when_another_is_forgotten() -> None:
    world = World()
    await world.say("anna's secret", chat="g", group=True)
    gate = hold(world)
    said = asyncio.create_task(world.say("what was said?", who="bob", chat="g", group=True))
    await until(lambda: gate.waiting)
    await world.say("/forget me yes")
    gate.set()
    assert await said is not None
    assert "secret" in str(world.llm.requests[1].messages)
    assert "secret" not in str(world.llm.requests[2].messages)
    assert world.adapter.texts(ChatKey("test", "g"))[1:] == ["You said: [bob] what was said?"]


# -- failures -----------------------------------------------------------------------------------------------------


class Failing(InMemoryStore):
    """A store some of whose methods fail."""

    failing: frozenset[str] = frozenset()

    def _fail(self, name: str) -> None:
        if name in self.failing:
            raise StoreError("The database is full.")

    async def receive(self, message: Message, *, keep: bool = True) -> bool:
        self._fail("receive")
        return await super().receive(message, keep=keep)

    async def open(self, messages: Sequence[Message], *, tokens: int, at: datetime) -> tuple[Conversation, Turn]:
        self._fail("open")
        return await super().open(messages, tokens=tokens, at=at)

    async def save(self, turn: Turn, *, jobs: Sequence[Job] = (), spent: Sequence[Spent] = ()) -> None:
        self._fail(f"save {turn.state}")
        await super().save(turn, jobs=jobs, spent=spent)

    async def progress(self, turn_id: int, *, chunk: int, preview: str, state: State) -> None:
        self._fail(f"progress {state}")
        await super().progress(turn_id, chunk=chunk, preview=preview, state=state)


async def test_a_message_that_cannot_be_stored_is_refused_with_the_reason() -> None:
    store = Failing()
    world = World(store=store)
    store.failing = frozenset({"receive"})
    with pytest.raises(StoreError, match="full"):
        await world.say("hello")
    store.failing = frozenset()
    assert await world.said("hello") == "You said: hello"


async def test_a_turn_that_cannot_begin_is_told_once_and_answered_when_the_store_is_back() -> None:
    store = Failing()
    world = World(store=store, clock=HeldClock())
    store.failing = frozenset({"open"})
    assert await world.said("hello") == sentences.WAITS_FOR_STORE
    assert await world.say("are you there?") is None
    await waits(world, 600)
    assert world.adapter.texts() == [sentences.WAITS_FOR_STORE]
    store.failing = frozenset()
    await waits(world, 60)
    assert world.adapter.texts()[1:] == ["You said: hello", "You said: are you there?"]


async def test_an_answer_that_cannot_be_stored_leaves_a_failed_turn_with_the_message() -> None:
    store = Failing()
    world = World(store=store)
    store.failing = frozenset({"save answered"})
    assert await world.said("hello") == sentences.APOLOGY_BUG
    (turn,) = await turns(world)
    assert (turn.state, turn.message.text, turn.answer) == (State.FAILED, "hello", None)


async def test_an_answer_shown_but_not_noted_as_such_gets_no_apology_and_is_noted_later() -> None:
    store = Failing()
    world = World(store=store, clock=HeldClock())
    store.failing = frozenset({"progress delivered"})
    await world.say("hello")
    (turn,) = await turns(world)
    assert turn.state is State.ANSWERED
    store.failing = frozenset()
    await waits(world, 60)
    (turn,) = await turns(world)
    assert turn.state is State.DELIVERED
    assert world.adapter.texts() == ["You said: hello"]


async def test_the_apology_names_no_detail_and_the_message_is_kept() -> None:
    world = World(llm=ScriptedLLM(lambda r: LLMRejected("http://10.0.0.1 said sk-secret")))
    assert await world.said("hello") == sentences.APOLOGY_REJECTED
    (turn,) = await turns(world)
    assert (turn.state, turn.failure, turn.message.text) == (State.FAILED, "model", "hello")
    world.llm.answer = echo
    await world.say("again")
    check_request(world.llm.requests[-1])
    assert "user: hello\n" in world.prompt()


async def test_each_kind_of_trouble_has_its_own_sentence() -> None:
    world = World()
    for error, sentence in (
        (LLMError("nothing usable"), sentences.APOLOGY),
        (LLMRejected("bad key"), sentences.APOLOGY_REJECTED),
        (ContextOverflow("too long"), sentences.APOLOGY_TOO_LARGE),
        (RuntimeError("a bug"), sentences.APOLOGY_BUG),
    ):
        world.llm.answer = lambda r, e=error: e  # type: ignore[misc]
        assert await world.said("hello") == sentence
    assert await world.store.open_turns() == []


async def test_a_tool_that_cancels_itself_costs_only_its_turn() -> None:
    @tool
    async def cancel() -> str:
        """Cancel."""
        raise asyncio.CancelledError

    world = World(bot=Bot(tools=[cancel]), llm=ScriptedLLM(lambda r: calling(("cancel", "{}"))))
    assert await world.said("go") == sentences.APOLOGY_BUG
    world.llm.answer = echo
    assert await world.said("still there?") == "You said: still there?"


# -- restart ------------------------------------------------------------------------------------------------------


async def test_what_waited_when_the_process_stopped_is_answered_at_the_next_start() -> None:
    world = World()
    gate = hold(world)
    said = [asyncio.create_task(world.say(text)) for text in ("one", "two")]
    await until(lambda: gate.waiting)
    await world.engine.aclose(0)
    assert await asyncio.gather(*said, return_exceptions=True) == [None, None]
    gate.set()
    assert await world.restart().recover() == 2
    await until(lambda: len(world.adapter.shown) == 2)
    assert world.adapter.texts() == ["You said: one", "You said: two"]


async def test_closing_waits_for_what_is_in_progress() -> None:
    world = World()
    gate = hold(world)
    said = asyncio.create_task(world.say("one"))
    await until(lambda: gate.waiting)
    closing = asyncio.create_task(world.engine.aclose(5))
    await asyncio.sleep(0)
    gate.set()
    await closing
    assert (await said) is not None
    assert world.adapter.texts() == ["You said: one"]


async def test_what_is_said_to_a_closed_bot_is_kept_for_the_next_start() -> None:
    world = World()
    await world.engine.aclose()
    assert await world.say("hello") is None
    assert world.llm.requests == []
    await world.restart().recover()
    await world.engine.aclose()
    assert world.adapter.texts() == ["You said: hello"]


async def test_recovering_twice_answers_once() -> None:
    world = World()
    hold(world)
    said = asyncio.create_task(world.say("one"))
    await until(lambda: world.llm.requests)
    await world.engine.aclose(0)
    await said
    world.llm.gate = None
    world.restart()
    await asyncio.gather(world.engine.recover(), world.engine.recover())
    await world.engine.aclose()
    assert world.adapter.texts() == ["You said: one"]


async def test_an_open_turn_too_old_is_closed_with_one_sentence() -> None:
    world = World()
    gate = hold(world)
    said = asyncio.create_task(world.say("one"))
    await until(lambda: gate.waiting)
    await world.engine.aclose(0)
    await said
    world.clock.time += timedelta(hours=7)
    await world.restart().recover()
    await until(lambda: world.adapter.shown)
    assert world.adapter.texts() == [sentences.TOO_OLD]
    assert await world.store.open_turns() == []


@pytest.mark.parametrize("streamed", [False, True])
async def test_after_a_kill_at_any_step_the_message_is_stored_once_and_answered_at_most_once(streamed: bool) -> None:
    last = 0
    while True:
        last += 1
        life = Life(last)
        world = World(llm=ScriptedLLM(lambda r: Completion("abcdef")), adapter=FakeAdapter(limit=2))
        world.adapter.pace = 0.0 if streamed else None
        store, adapter = world.store, world.adapter
        world.store = alive(store, life)
        world.adapter = life.within(adapter, "split", "serves", "typing")
        world.restart()
        message = world.message("hello")
        said = asyncio.create_task(world.engine.handle(message))
        dying = asyncio.create_task(life.dead.wait())
        await asyncio.wait([said, dying], return_when=asyncio.FIRST_COMPLETED)
        survived = said.done()
        await kill()
        world.store, world.adapter = store, adapter
        await world.restart().recover()
        await world.engine.accept(message)  # the platform gives it again, for it may not have been taken
        await world.engine.aclose()
        (turn,) = await turns(world)
        assert turn.state is State.DELIVERED, f"killed after {last} calls"
        assert await store.waiting() == []
        finals = [s.out.text for s in adapter.shown if s.out.final]
        assert sorted(set(finals)) == sorted(finals), "no chunk is shown twice"
        assert sum(not s.out.final for s in adapter.shown) <= 1, "at most a preview whose id never came back"
        assert await store.verify() == []
        assert [one.requests for one in await store.spent(START.date())] == [1], "what it took is counted once"
        if survived:
            break
    assert last > 8


async def test_a_command_of_another_bot_in_a_group_is_left_alone() -> None:
    world = World()
    assert await world.say("/weather Rome", chat="group", group=True) is None
    assert world.adapter.shown == []
    assert not world.llm.requests


async def test_in_a_group_nobody_else_stops_the_answer_to_a_person() -> None:
    world = World()
    world.llm.gate = asyncio.Event()
    answer = asyncio.create_task(world.said("a long question", "anna", "group", group=True))
    await until(lambda: world.llm.requests)
    refusal = "That answer is for somebody else; they or an admin can stop it."
    assert await world.said("/stop", "bob", "group", group=True) == refusal
    world.llm.gate.set()
    assert await answer
