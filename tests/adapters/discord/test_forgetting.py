""" "Forget this message" takes back what was said, for whoever said it and for admins."""

from __future__ import annotations

from adapters.discord.commands import FORGET_THIS
from adapters.discord.server import DiscordServer, Message, User
from tests.adapters.discord.life import Club, answered, called, living

MARKER = "zanzibar"


async def forgotten(server: DiscordServer, by: User, message: Message) -> Message:
    """Ask the bot to forget a message; give what it says to that."""
    return await server.answered(server.use_on(by, message, FORGET_THIS))


async def test_a_message_is_forgotten_with_its_answer_for_who_wrote_it(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        said = server.say(club.ann, club.general, called(server, f"I like {MARKER}"))
        await answered(server, said)
        told = await forgotten(server, club.ann, said)
        assert (told.text, told.seen_by) == ("Erased: turns: 1.", club.ann)
        assert not await life.store.holds(MARKER)
        assert (await forgotten(server, club.ann, said)).text == "I keep nothing of that message."


async def test_what_somebody_else_wrote_is_forgotten_for_admins_alone(server: DiscordServer, club: Club) -> None:
    async with living(server, admins=[f"discord:{club.bob.id}"]) as life:
        cid = server.person("Cid")
        club.guild.members[cid.id] = club.guild.members[club.ann.id]
        said = server.say(club.ann, club.general, called(server, MARKER))
        await answered(server, said)
        await answered(server, server.say(club.bob, club.general, called(server, "and I")))
        told = await forgotten(server, club.bob, said)
        assert told.text == "Erased: turns: 1."
        assert [entry.action for entry in await life.store.audited()] == [f"/forget message {said.id}"]
        own = server.say(club.bob, club.general, called(server, "mine"))
        await answered(server, own)
        assert (await forgotten(server, club.ann, own)).text.startswith("Only who wrote a message, or an admin,")
        assert await life.store.holds("mine")


async def test_an_answer_is_forgotten_by_what_it_answers(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        answer = await answered(server, server.say(club.ann, club.general, called(server, MARKER)))
        assert (await forgotten(server, club.ann, answer)).text == "Erased: turns: 1."
        assert not await life.store.holds(MARKER)


async def test_a_message_is_forgotten_in_a_direct_chat(server: DiscordServer, club: Club) -> None:
    async with living(server) as life:
        said = server.say(club.ann, club.ann, MARKER)
        answer = await answered(server, said)
        told = await forgotten(server, club.ann, answer)
        assert told.text == "Choose a message that somebody wrote to me, not one of mine."
        assert (await forgotten(server, club.ann, said)).text == "Erased: turns: 1."
        assert not await life.store.holds(MARKER)
