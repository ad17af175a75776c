"""Interactions that wait for their reply: a command or a press of a button is answered where it was made."""

from __future__ import annotations

from core.adapter import Outgoing


class Interactions:
    """The interactions that are not answered yet, by the id of the message each was made into."""

    async def answer(self, out: Outgoing) -> str | None:  # noqa: ARG002
        """Send a message as the reply to the interaction it answers (`out.reply_to`), to one person when it is private.

        Gives its id; None when no interaction with that id waits, or its token has run out. Raises DeliveryError.
        """
        return None

    async def replace(self, message_id: str, out: Outgoing) -> bool:  # noqa: ARG002
        """Put a message in the place of the one whose button was pressed; False when no interaction allows it."""
        return False
