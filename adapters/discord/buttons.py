"""Buttons under a message: whose they are and what pressing one says."""

from __future__ import annotations

import discord

from core.adapter import Outgoing


class Buttons:
    """Makes the buttons of choices for the one person who may press them."""

    async def view(self, out: Outgoing) -> discord.ui.View | None:  # noqa: ARG002
        """Make the buttons of a message; None without choices, or with nobody they are for."""
        return None
