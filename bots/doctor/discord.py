"""What Discord says of the bot: its token, its switches, its gateway, what it may do in each server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING

from bots.doctor.clocks import compared
from bots.doctor.finding import Check, Finding, broken, fine, warning
from config.settings import Settings

if TYPE_CHECKING:
    from adapters.discord.health import Gateway, Guild, Identity

ROOM = "discord"
FEW = 20
_SHOWN = 5


def checks(settings: Settings, now: Callable[[], float]) -> Sequence[Check]:
    """Name what is to be looked at, nothing without a token."""
    if settings.discord.token is None:
        return []
    return [Check(ROOM, "token", lambda: _look(settings, now), seconds=40)]


async def _look(settings: Settings, now: Callable[[], float]) -> AsyncGenerator[Finding, None]:
    from adapters.discord.client import API_URL
    from adapters.discord.health import Health, invite

    chosen = settings.discord
    assert chosen.token is not None
    token = chosen.token.get_secret_value()
    async with Health(token, chosen.api_url or API_URL, chosen.gateway_url or "", now) as health:
        me = await health.identity()
        yield fine(ROOM, "token", f"It is that of {me.name} ({me.id}).")
        yield compared("Discord", health.skew)
        yield _intents(settings, me)
        for finding in _servers(await health.guilds(threads=chosen.threads), invite(me.id)):
            yield finding
        yield _gateway(await health.gateway())


def _intents(settings: Settings, me: Identity) -> Finding:
    if not settings.discord.message_content:
        says = "The text of messages is not asked for: it is heard in direct messages and mentions alone."
        return fine(ROOM, "intents", says)
    if me.content:
        return fine(ROOM, "intents", "Message Content Intent is on.")
    fix = (
        f"Turn it on at https://discord.com/developers/applications/{me.id}/bot, "
        "or set KEEPMIND_DISCORD__MESSAGE_CONTENT=false."
    )
    return broken(ROOM, "intents", "Message Content Intent is off, and Discord lets the bot not start so.", fix)


def _servers(guilds: Sequence[Guild], link: str) -> Sequence[Finding]:
    if not guilds:
        return [warning(ROOM, "servers", "It is in no server.", f"Invite it: {link}")]
    lacking = [guild for guild in guilds if guild.missing]
    found = [_lacks(guild, link) for guild in lacking[:_SHOWN]]
    if len(lacking) > _SHOWN:
        says = f"{len(lacking) - _SHOWN} more servers lack something."
        found.append(warning(ROOM, "servers", says, f"Invite it there again: {link}"))
    return found or [
        fine(ROOM, "servers", f"It is in {_count(guilds)}, and may do there what it needs. Invite: {link}")
    ]


def _lacks(guild: Guild, link: str) -> Finding:
    missing = ", ".join(name.replace("_", " ") for name in guild.missing)
    says = f"In {guild.name} ({guild.id}) it lacks: {missing}."
    return warning(ROOM, "servers", says, f"Give its role these permissions, or invite it again: {link}")


def _count(guilds: Sequence[Guild]) -> str:
    return "1 server" if len(guilds) == 1 else f"{len(guilds)} servers"


def _gateway(gateway: Gateway) -> Finding:
    if gateway.remaining < FEW:
        says = f"It answers, but only {gateway.remaining} of {gateway.total} starts a day are left."
        return warning(
            ROOM, "gateway", says, "Find what starts the bot again and again: at none left the token changes."
        )
    return fine(ROOM, "gateway", f"It answers; {gateway.remaining} of {gateway.total} starts a day are left.")
