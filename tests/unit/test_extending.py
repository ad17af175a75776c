"""The page on extending Keepmind is true: its snippets run, together, as one bot."""

import re
from pathlib import Path
from typing import Any

from adapters.inmemory import InMemoryStore
from core.bot import Ports, build
from core.llm import Completion, Request
from tests.fakes import FakeClock, ScriptedLLM, WordCounter, calling, echo

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
    assert "great" in "\n".join(m.content for m in llm.requests[1].messages)
