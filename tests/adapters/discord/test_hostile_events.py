"""Events as no Discord gives them: whatever comes, the next person is answered."""

from __future__ import annotations

import copy
import logging
import random
from dataclasses import replace

import pytest

from adapters.discord.server import DiscordServer
from tests.adapters.discord.life import a_club, answered, called, living
from tests.spoilt import ODD, places, spoil


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak), pytest.param(3, marks=pytest.mark.soak)])
async def test_after_spoilt_events_the_next_is_answered(
    server: DiscordServer, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    chance, club = random.Random(seed), a_club(server)
    async with living(server) as life:
        said = server.say(club.ann, club.general, called(server, "hello"))
        await answered(server, said)
        [event] = [one for one in server.gateway.of("MESSAGE_CREATE") if one.data["id"] == str(said.id)]
        found = list(places(event.data))
        with caplog.at_level(logging.INFO, "keepmind"):
            for number in range(30):
                data = copy.deepcopy(event.data) | {"id": str(int(event.data["id"]) + number)}
                server.gateway.repeat(replace(event, data=spoil(data, chance.choice(found), chance.choice(ODD[:18]))))
            await answered(server, server.say(club.bob, club.general, called(server, "still there?")))
        assert not life.running.done()
        assert not [record for record in caplog.records if record.exc_info and record.levelno >= logging.INFO]
