"""People of a simulated Discord, and short ways to see what they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import discord
import simcord

from tests.adapters.discord.simulated import Simulated


@dataclass(frozen=True)
class Club:
    """A server with a channel, and who is in it: `boss` may manage it."""

    general: simcord.ChannelHandle
    ann: simcord.MemberActor
    bob: simcord.MemberActor
    boss: simcord.MemberActor


def club(life: Simulated) -> Club:
    """Make a server."""
    guild = life.discord.create_guild()
    managing = guild.create_role("Managing", permissions=discord.Permissions(manage_guild=True))
    ann, bob = (guild.add_member(life.discord.create_user(name)) for name in ("ann", "bob"))
    boss = guild.add_member(life.discord.create_user("boss"), roles=[managing])
    return Club(guild.create_text_channel("general"), ann, bob, boss)


def said(result: simcord.InteractionResult) -> str:
    """Give all that an interaction was answered, one text a message."""
    shown = [*([result.response] if result.response else []), *result.followups]
    return "\n".join(message.content for message in shown)


def alone(result: simcord.InteractionResult) -> bool:
    """Tell whether all that an interaction was answered is shown to its person alone."""
    shown = [*([result.response] if result.response else []), *result.followups]
    return bool(shown) and all(message.ephemeral for message in shown)


def parts(components: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give the buttons and lists of a message."""
    return [part for row in components for part in row["components"]]


def labels(components: list[dict[str, Any]]) -> list[str]:
    """Give what stands on the buttons and in the lists of a message."""
    found: list[str] = []
    for part in parts(components):
        found += [option["label"] for option in part.get("options", [])] or [part.get("label", "")]
    return found


def calls(life: Simulated, method: str, part: str) -> list[Any]:
    """Give the bodies of the requests of a method whose path holds a part."""
    return [call.json for call in life.discord.http_requests if call.method == method and part in call.path]
