"""On a Discord that others made, the bot behaves as on our own test server."""

from __future__ import annotations

from tests.adapters.discord.life import saying
from tests.adapters.discord.simulated import contents, simulated
from tests.fakes import ScriptedLLM


async def test_a_direct_message_is_answered() -> None:
    async with simulated(llm=ScriptedLLM(saying("Hello!"))) as life:
        ann = life.discord.create_user("ann")
        await ann.send_dm("hi")
        assert life.asked() == ["hi"]
        assert contents(ann.dm_channel) == ["hi", "Hello!"]


async def test_in_a_server_a_mention_is_answered_and_other_talk_is_not() -> None:
    async with simulated(llm=ScriptedLLM(saying("Hello!"))) as life:
        guild = life.discord.create_guild()
        general = guild.create_text_channel("general")
        ann = guild.add_member(life.discord.create_user("ann"))
        await ann.send(general, "nice weather")
        await ann.send(general, f"<@{life.me}> hi")
        assert life.asked() == ["[ann] hi"]
        assert contents(general)[-1] == "Hello!"
