"""A prompt always fits, is never empty, and gives up in a fixed order what does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.inmemory import InMemoryStore
from core.bot import Bot
from core.compose import Composer, budget, margin, reserve
from core.conversation import Answer, Conversation, PersonSettings, Segment, State, ToolResult, ToolRound, Turn
from core.errors import ContextOverflow
from core.facts import Change, Fact, Facts, Item, Source
from core.kept import storable
from core.llm import Completion, Request, ToolCall
from core.memory.memory import Memory
from core.messages import PRIVATE, Attachment, Message, Person
from core.personas import default_memory
from core.prompt import CUT, Prompt, cost, tools_cost, turn_cost
from core.rendering import neutral
from core.tools import Tool, tool
from core.zones import zone_of
from tests.driving import ANNA
from tests.fakes import START, FakeClock, ScriptedLLM, WordCounter, World, calling, check_request

COUNTER = WordCounter()
PERSON = Person("test", "anna")


class Bytes:
    """Counts a token for each four bytes, rounded up: joining texts may cost one more or less."""

    def count(self, text: str) -> int:
        return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4

    def calibrate(self, estimated: int, reported: int) -> None:
        pass


@dataclass
class Talk:
    """A chat built by hand in a store."""

    counter: WordCounter | Bytes = COUNTER
    context: int = 8192
    persona: str = "You are a friendly assistant."
    tools: Sequence[Tool] = ()
    memories: Sequence[Memory] = field(default_factory=default_memory)
    store: InMemoryStore = field(default_factory=InMemoryStore)
    count: int = 0

    async def add(
        self, text: str, answer: str = "I see.", *attached: Attachment, rounds: Sequence[ToolRound] = ()
    ) -> Turn:
        turn = await self.begin(text, *attached)
        answered = replace(turn, state=State.DELIVERED, answer=Answer(answer), rounds=tuple(rounds))
        answered = replace(answered, tokens=turn_cost(answered, self.counter))
        await self.store.save(answered)
        return answered

    async def begin(self, text: str, *attached: Attachment) -> Turn:
        self.count += 1
        message = Message(str(self.count), ANNA, PERSON, text, START, "anna", attachments=attached)
        await self.store.receive(message)
        tokens = self.counter.count(text) + 4
        return await self.store.begin([message], state=State.RECEIVED, tokens=tokens, at=START)

    def composer(self) -> Composer:
        llm = ScriptedLLM(context=self.context)
        return Composer(
            self.persona, self.memories, self.tools, self.store, llm, self.counter, FakeClock(), reply_tokens=1024
        )

    async def here(self, facts: Facts = Facts()) -> Conversation:  # noqa: B008 -- frozen
        changes = [Change(f"c{n}", "add", f.key, None, f, START) for n, f in enumerate(facts.by_key.values())]
        await self.store.apply(PERSON, PRIVATE, changes)
        return await self.store.load(ANNA, PERSON)

    async def compose(self, turn: Turn, facts: Facts = Facts(), *, share: float = 1.0) -> Prompt:  # noqa: B008 -- frozen
        return await self.composer().compose(await self.here(facts), turn, share=share)

    def size(self, prompt: Prompt) -> int:
        return cost(prompt.messages(), self.counter) + tools_cost(prompt.tools, self.counter)

    @property
    def room(self) -> int:
        return budget(ScriptedLLM(context=self.context), 1024)


def known(**facts: str) -> Facts:
    source = Source("test:anna", 1, "", "2026-03-01", "model")
    return Facts({k: Fact(k, (Item(v, source),)) for k, v in facts.items()})


def test_the_budget_is_the_context_without_reserve_and_margin() -> None:
    llm = ScriptedLLM(context=10_000)
    assert budget(llm, 1024) == 10_000 - 1024 - 300
    assert budget(llm, 250_000) == 10_000 - 5_000 - 300, "an answer never takes more than half"
    assert (reserve(llm, 250_000), margin(1000)) == (5_000, 64)
    assert budget(ScriptedLLM(context=2), 1024) == 64


def test_an_unknown_time_zone_is_none() -> None:
    assert zone_of("Europe/Berlin") is not None
    assert [zone_of(z) for z in ("", "Nowhere/Land", "../etc/passwd", "\0", "x" * 5000)] == [None] * 5


async def test_the_day_is_the_persons_own() -> None:
    talk = Talk()
    turn = await talk.begin("hi")
    turn = replace(turn, at=START.replace(hour=23))
    here = replace(await talk.here(), settings=PersonSettings(zone="Asia/Tokyo"))
    prompt = await talk.composer().compose(here, turn)
    assert "Monday, 2026-03-02" in prompt.messages()[-2].content


async def test_below_the_budget_nothing_is_touched() -> None:
    talk = Talk()
    call = ToolRound((ToolCall("a", "f", "{}"),), (ToolResult("a", "42"),))
    for number in range(10):
        await talk.add(f"question {number}", rounds=[call])
    turn = await talk.begin("and now?")
    here = await talk.here(known(name="Anna"))
    prompt = await talk.composer().compose(here, turn)
    assert all(a is b for a, b in zip(prompt.history, here.path, strict=False))
    assert len(prompt.history) == len(here.path) - 1
    assert await talk.store.load(ANNA, PERSON) == await talk.here()
    assert CUT.strip() not in str(prompt.messages())


class Excerpts(Memory):
    """Recalls much."""

    async def recall(self, conversation: Conversation, prompt: Prompt) -> None:
        prompt.add("excerpts", "excerpt " * 100, place="excerpts")


async def squeezed(context: int) -> tuple[bool, int, bool, bool, bool]:
    """Compose the same talk in a context; tell what is left: excerpts, raw turns, merged, facts, whole message."""
    talk = Talk(context=context, memories=[*default_memory(), Excerpts()])
    for number in range(12):
        await talk.add(f"turn {number} " + "word " * 40)
    turn = await talk.begin("new " * 120 + "end")
    prompt = await talk.compose(turn, known(**{f"k{n}": "value " * 10 for n in range(6)}))
    assert talk.size(prompt) <= talk.room
    text = str(prompt.messages())
    raw = sum(isinstance(s, Turn) for s in prompt.history)
    one = sum(isinstance(s, Segment) for s in prompt.history) <= 1
    return "excerpt " in text, raw, one, '"k5' in text.replace("\\", ""), CUT.strip() not in prompt.asked.content


async def test_what_does_not_fit_goes_in_a_fixed_order() -> None:
    seen = [await squeezed(context) for context in range(3000, 300, -25)]
    excerpts, raw, _, facts, message = (list(column) for column in zip(*seen, strict=True))
    assert seen[0][0]
    assert seen[0][1] == 12
    assert not seen[-1][4]
    assert all(number == 12 for number, kept in zip(raw, excerpts, strict=True) if kept), "excerpts go before turns"
    assert all(kept for kept, number in zip(facts, raw, strict=True) if number), "turns go before facts"
    assert all(whole for whole, kept in zip(message, facts, strict=True) if kept), "facts go before the message"


async def test_the_oldest_facts_go_first_and_pinned_ones_last() -> None:
    talk = Talk(context=900, persona="p " * 250, tools=())
    turn = await talk.begin("hello " * 30)
    old = Source("test:anna", 1, "", "2026-01-01", "model")
    new = Source("test:anna", 2, "", "2026-02-01", "model")
    facts = Facts(
        {
            "pinned": Fact("pinned", (Item("p " * 10, old),), pinned=True),
            "old": Fact("old", (Item("o " * 60, old),)),
            "new": Fact("new", (Item("n " * 10, new),)),
        }
    )
    roomy = await replace(talk, context=8000).compose(turn, facts)
    assert roomy.tokens > talk.room
    for context in range(900, 1200, 10):
        text = str((await replace(talk, context=context).compose(turn, facts)).messages())
        assert '"pinned"' in text or '"new"' not in text
        assert '"new"' in text or '"old"' not in text


async def test_one_giant_message_is_shortened_with_a_mark() -> None:
    talk = Talk(context=4000)
    turn = await talk.begin("begin " + "middle " * 50_000 + "end")
    prompt = await talk.compose(turn)
    assert talk.size(prompt) <= talk.room
    asked = prompt.messages()[-1].content
    assert asked.startswith("begin")
    assert asked.endswith("end")
    assert CUT.strip() in asked


async def test_a_giant_attachment_is_shortened_and_the_talk_around_it_is_kept() -> None:
    talk = Talk(context=4000)
    for number in range(10):
        await talk.add(f"earlier {number}")
    turn = await talk.begin("what does it say?", Attachment("file", "book.txt", "text/plain", "page " * 90_000))
    prompt = await talk.compose(turn)
    assert talk.size(prompt) <= talk.room
    assert prompt.messages()[-1].content.startswith("what does it say?")
    assert sum(isinstance(s, Turn) for s in prompt.history) == 10


async def test_an_older_turn_larger_than_the_budget_is_folded_not_dropped() -> None:
    talk = Talk(context=3000)
    await talk.add("giant " * 5000, "an answer")
    turn = await talk.begin("and?")
    prompt = await talk.compose(turn)
    assert [type(s) for s in prompt.history] == [Segment]
    assert "giant" in prompt.messages()[1].content
    assert (await talk.store.load(ANNA)).segments[0].made_by == "extract"


async def test_a_stranded_giant_turn_locks_nobody_out() -> None:
    talk = Talk(context=3000)
    await talk.begin("stranded " * 5000)
    await talk.add("later")
    turn = await talk.begin("and?")
    prompt = await talk.compose(turn)
    assert talk.size(prompt) <= talk.room
    assert prompt.messages()[-1].content == "and?"
    assert CUT.strip() in str(prompt.messages()[1:-1])


@pytest.mark.parametrize("persona", ["short", "long " * 20_000])
@pytest.mark.parametrize("context", [2, 64, 300, 500, 1000, 4000])
async def test_a_system_prompt_larger_than_the_budget_still_leaves_the_message(context: int, persona: str) -> None:
    talk = Talk(context=context, persona=persona)
    for number in range(5):
        await talk.add(f"earlier {number}")
    turn = await talk.begin("what is the answer?")
    prompt = await talk.compose(turn, known(name="Anna"))
    assert talk.size(prompt) <= talk.room
    assert "what is" in prompt.messages()[-1].content
    check_request(Request(prompt.messages(), prompt.tools))


async def test_many_images_do_not_crowd_out_the_words() -> None:
    talk = Talk(context=4000)
    images = [Attachment("image", f"{n}.png", "image/png", data=b"x") for n in range(10)]
    prompt = await talk.compose(await talk.begin("which is best?", *images))
    assert talk.size(prompt) <= talk.room
    assert 0 < len(prompt.messages()[-1].images) < 10
    assert "which is best?" in prompt.messages()[-1].content


texts = st.one_of(
    st.text(max_size=40),
    st.builds(
        lambda unit, times: unit * times,
        st.sampled_from(["a", "word ", "语", "👍", "\n", "<remembered", " "]),
        st.integers(0, 4000),
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    context=st.one_of(st.integers(300, 3000), st.integers(300, 100_000)),
    persona=texts,
    said=st.lists(st.tuples(texts, texts), max_size=25),
    asked=texts,
    facts=st.dictionaries(st.sampled_from([f"k{n}" for n in range(12)]), texts.filter(str.strip), max_size=12),
    seed=st.integers(0, 1),
)
async def test_any_talk_fits_any_context(
    context: int, persona: str, said: list[tuple[str, str]], asked: str, facts: dict[str, str], seed: int
) -> None:
    counter = Bytes() if seed % 2 else COUNTER
    talk = Talk(counter, context, persona)
    for number, (text, answer) in enumerate(said):
        await talk.add(f"m{number} {text}", answer)
    turn = await talk.begin(f"newest {asked}")
    for share in (1.0, 0.5):
        prompt = await talk.compose(turn, known(**facts), share=share)
        assert talk.size(prompt) <= max(int(talk.room * share), 64)
        check_request(Request(prompt.messages(), prompt.tools))
        newest = prompt.messages()[-1].content
        assert newest == neutral(storable(f"newest {asked}")) or CUT.strip() in newest
        assert await talk.store.verify() == []


# -- while tools run, and when the server says that it was too much ----------------------------------------------------


@tool
async def read(page: int) -> str:
    """Read a page."""
    return f"page {page} " + "word " * 3000


async def test_requests_fit_however_much_the_tools_bring() -> None:
    def script(request: Request) -> Completion:
        assert cost(request.messages, COUNTER) + tools_cost(request.tools, COUNTER) <= budget(world.llm, 1024)
        rounds = sum(m.role == "tool" for m in request.messages)
        return calling(("read", f'{{"page": {rounds}}}')) if request.tools else Completion("Read.")

    world = World(llm=ScriptedLLM(script, context=3000), bot=Bot(tools=[read]))
    assert await world.said("read it all") == "Read."
    assert len(world.llm.of("answer")) == 6
    for request in world.llm.requests:
        check_request(request)
    stored = await world.store.turn(1)
    assert stored is not None
    assert [len(r.content.split()) > 3000 for one in stored.rounds for r in one.results] == [True] * 5
    assert CUT.strip() in str(world.llm.of("answer")[-1].messages)


async def test_an_overflow_folds_memory_and_asks_once_more() -> None:
    world = World()
    for number in range(30):
        await world.say(f"message {number} " + "word " * 50)
    sizes: list[int] = []

    def overflowing(request: Request) -> Completion | Exception:
        sizes.append(cost(request.messages, COUNTER))
        return ContextOverflow("exceeds the available context size") if len(sizes) == 1 else Completion("It fits.")

    world.llm.answer = overflowing
    assert await world.said("one more") == "It fits."
    assert len(sizes) == 2
    assert sizes[1] < 0.6 * sizes[0]


async def test_tools_that_ran_before_an_overflow_stay_run() -> None:
    ran: list[int] = []

    @tool
    async def once() -> str:
        """Do it once."""
        ran.append(1)
        return "done"

    answers: list[Completion | Exception] = [calling(("once", "{}")), ContextOverflow("too long"), Completion("Fine.")]
    world = World(bot=Bot(tools=[once]), llm=ScriptedLLM(lambda r: answers.pop(0)))
    assert await world.said("go") == "Fine."
    assert ran == [1]
    check_request(world.llm.requests[-1])
    assert [m.role for m in world.llm.requests[-1].messages][-2:] == ["assistant", "tool"]


async def test_an_answer_is_never_allowed_more_than_its_reserve() -> None:
    world = World(llm=ScriptedLLM(context=1000))
    await world.say("hi")
    assert world.llm.requests[0].max_tokens == 500
