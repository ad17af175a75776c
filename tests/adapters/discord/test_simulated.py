"""On a Discord that others made, the bot behaves as on our own test server."""

from __future__ import annotations

from adapters.discord.groups import Groups
from core.modes import OPEN
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
        await ann.send(general, "@everyone come")
        await ann.send(general, f"<@{life.me}> hi")
        assert life.asked() == ["[ann] hi"]
        assert contents(general)[-1] == "Hello!"


async def test_a_long_answer_comes_in_parts_that_discord_takes() -> None:
    text = "\n\n".join(f"Part {number}: " + "words " * 200 for number in range(6))
    async with simulated(llm=ScriptedLLM(saying(text))) as life:
        ann = life.discord.create_user("ann")
        await ann.send_dm("tell me")
        shown = contents(ann.dm_channel)[1:]
        assert len(shown) > 3
        assert "".join("".join(shown).split()) == "".join(text.split())


async def test_edits_and_deletions_are_followed_though_nothing_is_cached() -> None:
    async with simulated(llm=ScriptedLLM(saying("Noted."))) as life:
        ann = life.discord.create_user("ann")
        said = await ann.send_dm("I live in Rome")
        await ann.edit(said, "I live in Oslo")
        assert await life.store.holds("Oslo")
        assert not await life.store.holds("Rome")
        await ann.delete(said)
        assert not await life.store.holds("Oslo")


async def test_nobody_is_pinged_by_an_answer() -> None:
    async with simulated(llm=ScriptedLLM(saying("@everyone and <@&7>"))) as life:
        guild = life.discord.create_guild()
        general = guild.create_text_channel("general")
        ann = guild.add_member(life.discord.create_user("ann"))
        await ann.send(general, f"<@{life.me}> hi")
        assert general.last_message is not None
        assert not general.last_message.mention_everyone
        assert not general.last_message.role_mentions


async def test_a_webhook_is_not_heard() -> None:
    async with simulated(groups=Groups(OPEN)) as life:
        guild = life.discord.create_guild()
        general = guild.create_text_channel("general")
        await guild.create_webhook(general, "News").send(f"<@{life.me}> hi")
        assert life.asked() == []


async def test_a_server_in_trouble_is_asked_again() -> None:
    async with simulated(llm=ScriptedLLM(saying("Hello!"))) as life:
        ann = life.discord.create_user("ann")
        life.discord.inject_error("POST", "/channels/*/messages", status=503)
        await ann.send_dm("hi")
        await life.discord.advance_time(5)
        assert contents(ann.dm_channel) == ["hi", "Hello!"]
