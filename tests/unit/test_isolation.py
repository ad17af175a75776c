"""What one person said in private, or of themselves, is in no request made for another; a group's talk stays there."""

from __future__ import annotations

import asyncio
import json
import random
import re
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from core.bot import Bot
from core.llm import Completion, PromptMessage, Request, ToolCall
from core.memory.archive import Archive
from core.memory.keepmind import Keepmind, SummaryLimits
from core.memory.profile import Profile
from core.memory.window import WindowLimits
from core.messages import ChatKey, Message, Person
from tests.fakes import START, ScriptedLLM, World, check_request

MARK = re.compile(r"\b(?:talk|fact)\d+x\b")


def written(request: Request) -> str:
    return "\n".join(m.content for m in request.messages)


@dataclass
class Crowd:
    """Two hundred people who talk in private, in groups and in topics; each marker they say is used once."""

    seed: int
    people: int = 200
    where: dict[str, Message] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)
    sharing: set[Person] = field(default_factory=set)
    hidden: set[Person] = field(default_factory=set)
    linked: dict[Person, Person] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.llm = ScriptedLLM(self.answer, context=self.random.choice([900, 3000, 8192]))
        self.llm.summary, self.llm.extract = self.summary, self.extract
        memory = [Keepmind(WindowLimits(6, 3, 400, 200, 2), SummaryLimits(60, 200)), Profile(), Archive()]
        self.world = World(llm=self.llm, bot=Bot(memory=memory))

    # -- the model: it remembers all it can, for whomever it can -----------------------------------------------------

    def answer(self, request: Request) -> Completion:
        check_request(request)
        asked = next(m.content for m in reversed(request.messages) if m.role == "user")
        current = self.where[MARK.findall(asked)[-1]]
        self.look(request, current)
        facts = [m for m in MARK.findall(asked) if m.startswith("fact")]
        if request.tools and request.messages[-1].role == "user" and facts:
            return Completion("Noted.", (self.remember(facts[-1], current),))
        if request.tools and request.messages[-1].role == "user" and self.random.random() < 0.2:
            return Completion(
                "", (ToolCall("c0", "search_memory", json.dumps({"query": self.random_mark() + " say"})),)
            )
        return Completion(f"I see, {asked[-40:]}")

    def random_mark(self) -> str:
        return self.random.choice(list(self.where))

    def remember(self, fact: str, current: Message) -> ToolCall:
        other = f"test:p{self.random.randrange(self.people)}"
        arguments = {
            "action": "add",
            "key": "notes",
            "value": fact,
            "person": other,
            "user_id": other,
            "scope": "private",
        }
        return ToolCall("c0", "update_memory", json.dumps(arguments))

    def summary(self, request: Request) -> Completion:
        marks = MARK.findall(written(request))
        chats = {self.where[m].chat for m in marks}
        if len(chats) > 1:
            self.leaks.append(f"a summary mixes {chats}")
        return Completion(" ".join(marks[-8:]) or "small talk")

    def extract(self, request: Request) -> Completion:
        marks = MARK.findall(written(request))
        if len({(self.where[m].chat, self.where[m].sender) for m in marks}) > 1:
            self.leaks.append("a second look mixes people or chats")
        found = [{"key": "interests", "value": m, "quote": f"I say {m}"} for m in marks[:2]]
        return Completion(json.dumps({"facts": found}))

    def look(self, request: Request, current: Message) -> None:
        for message in request.messages:
            for block in message.content.split("\n\n"):
                for mark in MARK.findall(block):
                    if not self.may_be_seen(self.where[mark], current, replace(message, content=block)):
                        said = self.where[mark].chat
                        self.leaks.append(f"{mark} of {said} is in a prompt for {current.chat}: {message}")

    def may_be_seen(self, said: Message, current: Message, where: PromptMessage) -> bool:
        if where.content.startswith('<remembered what="known facts'):
            one_is_private = "private" in (said.scope, current.scope)
            shared = said.sender in self.sharing and one_is_private
            linked = self.linked.get(said.sender) == current.sender and said.private and current.private
            return linked or (said.sender == current.sender and (said.scope == current.scope or shared))
        if self.hidden & {said.sender, current.sender}:
            return said.sender == current.sender and said.chat == current.chat
        if where.role == "tool":  # what a group's member had noted there, in any of its topics
            return said.chat == current.chat or said.scope == current.scope != "private"
        return said.chat == current.chat

    # -- the people -------------------------------------------------------------------------------------------------

    def message(self, number: int) -> Message:
        who = f"p{self.random.randrange(self.people)}"
        mark = f"{self.random.choice(['talk', 'fact'])}{number}x"
        group = self.random.random() < 0.5
        chat = f"g{self.random.randrange(8)}" if group else who
        text = f"I say {mark}" + self.random.choice(["", ", as last time"])
        message = self.world.message(text, who, chat, group=group)
        if group and self.random.random() < 0.5:
            message = replace(message, chat=ChatKey("test", chat, str(self.random.randrange(3))))
        if group and self.random.random() < 0.2:
            message = replace(message, addressed=False)
        self.where[mark] = message
        return message

    async def choose(self) -> None:
        """Let some share what is known of them, some go incognito, and some be two accounts of one person."""
        for number in range(0, self.people, 5):
            who, chosen = f"p{number}", "/memory share on" if number % 10 else "/incognito"
            (self.sharing if number % 10 else self.hidden).add(Person("test", who))
            await self.world.say(chosen, who)
            await self.link(Person("test", f"p{number + 1}"), Person("test", f"p{number + 2}"))

    async def link(self, one: Person, other: Person) -> None:
        await self.world.store.offer_link(one, str(one), START + timedelta(hours=1))
        await self.world.store.link(str(one), other, START)
        self.linked |= {one: other, other: one}

    async def talk(self, messages: int) -> None:
        number = 0
        while number < messages:
            burst = [self.message(number + n) for n in range(self.random.randrange(1, 30))]
            number += len(burst)
            await asyncio.gather(*(self.world.engine.handle(m) for m in burst))
            if self.random.random() < 0.3:
                self.world.clock.time += timedelta(minutes=40)
                await self.world.engine.compactor.tick()
                await self.world.settle()

    async def check_facts(self) -> int:
        count = 0
        for person in [Person("test", f"p{n}") for n in range(self.people)]:
            for scope in await self.world.store.scopes(person):
                chat = ChatKey("test", person.user) if scope == "private" else ChatKey.parse(scope)
                facts = (await self.world.store.load(chat, person, private=scope == "private")).facts
                for mark in MARK.findall(json.dumps(dict(facts))):
                    assert (self.where[mark].sender, self.where[mark].scope) == (person, scope)
                    count += 1
        return count


async def check_crowd(seed: int, messages: int) -> None:
    crowd = Crowd(seed)
    await crowd.choose()
    await crowd.talk(messages)
    assert crowd.leaks == []
    assert await crowd.check_facts() > 100, "facts were learned at all"
    assert any("known facts" in written(r) for r in crowd.llm.requests)
    assert any("summary of earlier talk" in written(r) for r in crowd.llm.requests)
    if crowd.llm.context > 900:  # where there is no room, excerpts and tools go first
        assert any("excerpts of earlier talk" in written(r) for r in crowd.llm.requests)
        assert any(m.role == "tool" and " p" in m.content for r in crowd.llm.requests for m in r.messages), (
            "it searched"
        )
    assert await crowd.world.store.verify() == []
    unkept = [mark for mark, said in crowd.where.items() if said.sender in crowd.hidden]
    assert unkept
    for mark in unkept[-20:]:
        assert await crowd.world.store.holds(f"I say {mark}") == []


@pytest.mark.parametrize("seed", [0])
async def test_no_marker_of_one_persons_memory_enters_anothers_prompt(seed: int) -> None:
    await check_crowd(seed, 700)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(10, 16))
async def test_no_marker_enters_anothers_prompt_in_the_long_run(seed: int) -> None:
    await check_crowd(seed, 2000)


async def test_what_was_learned_in_private_is_not_used_in_a_group_nor_the_other_way() -> None:
    crowd = Crowd(0)
    for number, chat in enumerate(["p1", "g1", "p1", "g1"]):
        mark = f"fact{number}x"
        message = crowd.world.message(f"I say {mark}", "p1", chat, group=chat == "g1")
        crowd.where[mark] = message
        await crowd.world.engine.handle(message)
    private, group = crowd.llm.requests[2:4]
    assert '"notes": "fact0x"' in written(private)
    assert "fact1x" not in written(private)
    assert '"notes": "fact1x"' in written(group)
    assert "fact0x" not in written(group)


async def test_a_groups_topics_share_facts_but_not_talk() -> None:
    crowd = Crowd(0)
    for number, topic in enumerate(["1", "2"]):
        mark = f"fact{number}x"
        message = crowd.world.message(f"I say {mark}", "p1", "g1", group=True)
        crowd.where[mark] = message = replace(message, chat=ChatKey("test", "g1", topic))
        await crowd.world.engine.handle(message)
    request = crowd.llm.requests[-1]
    assert '"notes": "fact0x"' in written(request)
    assert sum("fact0x" in m.content for m in request.messages) == 1
