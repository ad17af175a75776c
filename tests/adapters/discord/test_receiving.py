"""What is said on Discord: whom the bot hears, whom it answers, and what it remembers."""

from __future__ import annotations

from adapters.discord.server import DiscordServer
from tests.adapters.discord.life import answered, living, saying
from tests.fakes import ScriptedLLM


async def test_a_direct_message_is_answered(server: DiscordServer) -> None:
    ann = server.person("Ann")
    async with living(server, llm=ScriptedLLM(saying("Hello!"))) as life:
        said = server.say(ann, ann, "hi")
        assert (await answered(server, said)).text == "Hello!"
        assert life.asked() == ["hi"]
