"""One use of a command, button, select or modal by a person, and what the bot has made of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from adapters.discord.server.refusals import Json
from adapters.discord.server.world import Channel, Message, User

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL = 2, 3, 4, 5
IN_TIME = 3.0
LIFETIME = 15 * 60.0


@dataclass(eq=False, slots=True)
class Using:
    """An interaction: `answer` is the type of the first response, `response` the message that it made or changed.

    `modal` is the form that the bot opened, `choices` what it proposed, `messages` all that it has said since. It
    `is_done` when the person sees one of these, and not only that the bot is thinking.
    """

    id: int
    token: str
    type: int
    user: User
    channel: Channel
    at: float
    data: Json
    message: Message | None = None
    name: str = ""
    came_from: Using | None = None
    answer: int | None = None
    response: Message | None = None
    modal: Json | None = None
    choices: list[Json] | None = None
    messages: list[Message] = field(default_factory=list)
    is_done: bool = False

    def is_late(self, now: float) -> bool:
        """Tell whether the person has been told that the application did not respond."""
        return self.answer is None and now - self.at > IN_TIME

    def is_over(self, now: float) -> bool:
        """Tell whether its token is worth nothing any more."""
        return now - self.at > LIFETIME
