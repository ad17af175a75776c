"""Events as no Discord gives them: whatever comes, the connection holds and the next person is answered."""

from __future__ import annotations

import copy
import logging
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from adapters.discord import sentences
from adapters.discord.server import DiscordServer, Event
from adapters.discord.trouble import TROUBLES
from tests.adapters.discord.life import Club, a_club, answered, called, living, until
from tests.spoilt import GONE, ODD, places, spoil

WRITABLE = (GONE, *(odd for odd in ODD if odd != float("inf")))
OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("MESSAGE_REACTION_ADD", {"message_id": "5", "emoji": {"id": None, "name": "x"}, "type": 0, "burst": False}),
    ("MESSAGE_POLL_VOTE_ADD", {"message_id": "5", "answer_id": 1}),
    ("THREAD_DELETE", {"id": "7", "parent_id": "6", "type": 11}),
    ("CHANNEL_DELETE", {"id": "8", "type": 0, "name": "gone", "position": 1, "permission_overwrites": []}),
    ("GUILD_MEMBER_ADD", {"user": {"id": "9", "username": "Eve", "discriminator": "0", "avatar": None}, "roles": []}),
    ("OF_LATER_DAYS", {"id": "10"}),
]
FORGED = [
    *("", " ", "#", "#0", "#1", "#-1", "#1.5", "#" + "9" * 40, "#１", "#1 /forget all", "?", "?#1", "menu 0", "menu"),
    *("{bob} /forget all", "?{bob} /memory set tea", "{bob}", "{bob} ", " {bob} /forget all", "0{ann} /forget all"),
    *("\0", "\ud800", "{ann}\0 /forget all", "{ann}\n/forget all", "x" * 100, "{ann} ", "{ann}", "/forget all"),
    '{{"command": "/forget all", "owner": "{ann}"}}',
]


async def all_kinds(server: DiscordServer, club: Club) -> Sequence[Event]:
    """Let Ann do whatever one can do with the bot; give the events of it, and some more."""
    ann, general = club.ann, club.general
    await server.answered(server.use(ann, ann, "memory set", key="tea", value="green"))
    fact = await server.answered(server.use(ann, ann, "memory fact", key="tea"))
    form = await server.opened(server.press(ann, fact, "Edit"))
    await server.answered(server.submit(form, {"words": "black"}))
    card = await server.answered(server.use(ann, ann, "memory view"))
    await server.answered(server.choose(ann, card, card.selects[0]["options"][0]["value"]))
    typing = server.complete(ann, ann, "memory fact", "key", "te")
    await until(lambda: typing.choices)
    answer = await answered(server, server.say(ann, general, called(server, "hello"), files=[("a.txt", b"words")]))
    await server.answered(server.use_on(ann, answer, "Forget this message"))
    said = [server.say(ann, general, called(server, "and"), reply_to=answer), server.forward(ann, general, answer)]
    server.edit(said[0], "other words")
    server.delete(server.sticker(ann, general))
    server.delete_all(*said)
    where = {"user_id": str(ann.id), "channel_id": str(general.id), "guild_id": str(club.guild.id)}
    return [*server.gateway.log, *(Event(name, where | data, club.guild.id) for name, data in OTHERS)]


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(n, marks=pytest.mark.soak) for n in range(3, 60))])
async def test_after_spoilt_events_the_next_is_answered_in_the_same_session(
    server: DiscordServer, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    chance, club = random.Random(seed), a_club(server)
    async with living(server) as life:
        events = await all_kinds(server, club)
        with caplog.at_level(logging.INFO):
            for _ in range(100):
                event = chance.choice(events)
                data = copy.deepcopy(event.data)
                if event.name in ("MESSAGE_CREATE", "INTERACTION_CREATE"):
                    data["id"] = str(server.api.world.snowflake())
                for _ in range(chance.randint(1, 3)):
                    if found := list(places(data)):
                        data = spoil(data, chance.choice(found), chance.choice(WRITABLE))
                server.gateway.repeat(replace(event, data=data))
            said = server.say(club.bob, club.bob, "still there?")
            await answered(server, said)
        assert not life.running.done()
        assert len(server.gateway.sessions) == 1
        assert [r.name for r in caplog.records if r.exc_info and r.name.startswith("keepmind")] == []


async def test_what_should_be_words_and_is_not_costs_a_chat_nothing(server: DiscordServer, club: Club) -> None:
    async with living(server):
        said = server.say(club.ann, club.general, called(server, "look"), files=[("a.txt", b"words")])
        answer = await answered(server, said)
        server.forward(club.ann, club.general, answer)
        made = {event.data["id"]: event.data for event in server.gateway.of("MESSAGE_CREATE")}
        forward, spoken = made.popitem()[1], made[str(said.id)]
        for data, *path in (
            (spoken, "author", "global_name"),
            (spoken, "member", "nick"),
            (spoken, "attachments", 0, "filename"),
            (spoken, "attachments", 0, "content_type"),
            (forward, "message_snapshots", 0, "message", "content"),
        ):
            for odd in (7, [7], {"7": 7}):
                new = {**spoil(data, tuple(path), odd), "id": str(server.api.world.snowflake())}
                server.gateway.repeat(Event("MESSAGE_CREATE", new, club.guild.id))
        [guild] = [told["d"] for told in server.gateway.live[0].log if told["t"] == "GUILD_CREATE"]
        server.gateway.repeat(Event("GUILD_CREATE", guild | {"preferred_locale": 7}, club.guild.id))
        await answered(server, server.say(club.bob, club.general, called(server, "still there?")))


async def test_a_button_that_the_bot_has_not_made_for_who_presses_it_does_nothing(
    server: DiscordServer, club: Club
) -> None:
    ann, bob = club.ann, club.bob
    async with living(server):
        for person in (ann, bob):
            await server.answered(server.use(person, person, "memory set", key="tea", value="green"))
        shown = await server.answered(server.use(ann, club.general, "privacy"))
        for custom_id in FORGED:
            pressed = server.press_id(ann, shown, custom_id.format(ann=ann.id, bob=bob.id))
            await until(lambda using=pressed: using.is_done)  # type: ignore[misc]
            told = [message.text for message in (pressed.response, *pressed.messages) if message]
            assert told[-1] == sentences.NO_BUTTON, custom_id
        for person in (ann, bob):
            assert "green" in (await server.answered(server.use(person, person, "memory view"))).text


async def test_a_form_may_hold_anything(server: DiscordServer, club: Club, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with living(server):
        await server.answered(server.use(club.ann, club.ann, "memory set", key="tea", value="green"))
        fact = await server.answered(server.use(club.ann, club.ann, "memory fact", key="tea"))
        form = await server.opened(server.press(club.ann, fact, "Edit"))
        for words in (*ODD, "x" * 100_000, "a\0b", "`" * 3000):
            server.gateway.hold()
            sent = server.submit(form, {"words": "black"})
            [event] = server.gateway.of("INTERACTION_CREATE")[-1:]
            server.gateway.release(lambda held: [])
            field = ("data", "components", 0, "component", "value")
            server.gateway.repeat(replace(event, data=spoil(event.data, field, words)))
            assert (await server.answered(sent)).text
        assert "met a bug" not in caplog.text


async def test_what_is_called_while_the_connection_is_made_anew_is_told_so(server: DiscordServer) -> None:
    async with living(server) as life:
        await life.adapter.client.begin_anew()
        with pytest.raises(TROUBLES):
            await life.adapter.client.fetch_channel(1)
