"""Commands are declared over the wire once, to everybody or to one server."""

from __future__ import annotations

import logging

import pytest

from adapters.discord.server import DiscordServer
from core import Bot, Context, command
from tests.adapters.discord.life import Club, living


@command
async def ping(context: Context) -> str:
    """Answer at once."""
    return "pong"


def declarations(server: DiscordServer) -> int:
    return len(server.journal.of("put_commands") + server.journal.of("put_guild_commands"))


async def test_the_same_commands_are_declared_once_and_new_ones_when_they_come(
    server: DiscordServer, club: Club
) -> None:
    for _ in range(2):
        async with living(server):
            assert "memory view" in server.menu_names(club.ann, club.general)
        assert declarations(server) == 1
    async with living(server, bot=Bot(commands=[ping])):
        assert "ping" in server.menu_names(club.ann, club.ann)
        assert declarations(server) == 2


async def test_when_development_is_over_no_server_shows_them_twice(
    server: DiscordServer, club: Club, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with living(server, guild=club.guild.id):
        pass
    async with living(server):
        names = server.menu_names(club.ann, club.general)
        assert "help" in names
        assert len(set(names)) == len(names)
        assert f"took back the commands of the guild {club.guild.id}" in caplog.text
    before = declarations(server)
    async with living(server):
        assert declarations(server) == before


async def test_in_development_each_is_shown_once_in_that_server_and_nowhere_else(
    server: DiscordServer, club: Club
) -> None:
    other = server.text_channel(server.guild("Other", [club.ann]))
    for _ in range(2):
        async with living(server, guild=club.guild.id):
            names = server.menu_names(club.ann, club.general)
            assert len(names) == len(set(names))
            assert "memory view" in names
            assert server.menu_names(club.ann, other) == []
            used = server.use(club.ann, club.general, "memory view")
            assert "I know no facts" in (await server.answered(used)).text
    assert declarations(server) == 1
