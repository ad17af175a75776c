"""The port to a platform: where messages come from and where replies go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.messages import Attachment, ChatKey, Choice, Person


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message to send or to put in the place of another.

    `final` text is formatted as the platform can; text that is not final is a preview and stays plain. `only_for` is
    the one person who may see it (ephemeral, or in their private chat). `nonce` is the same when the same chunk is
    sent again, for platforms that drop repeats by themselves. `asker` is whom the choices are for; None: nobody.
    """

    chat: ChatKey
    text: str
    final: bool = True
    only_for: Person | None = None
    reply_to: str = ""
    choices: tuple[Choice, ...] = ()
    file: Attachment | None = None
    nonce: str = ""
    asker: Person | None = None


class Adapter(Protocol):
    """A platform.

    `quiet` is how many seconds of silence end a burst of one sender. `pace` is the least number of seconds between
    two updates of a preview; None means that answers are not streamed.
    """

    platform: str
    quiet: float
    pace: float | None

    def serves(self, chat: ChatKey) -> bool:
        """Say whether this adapter can reach a chat: what was left open there is taken up again at start."""
        ...

    def split(self, text: str) -> Sequence[str]:
        """Cut a final answer into chunks the platform takes; the same text always gives the same chunks."""
        ...

    async def typing(self, chat: ChatKey) -> None:
        """Show that an answer is being made; failing to is nobody's error."""
        ...

    async def send(self, out: Outgoing) -> str:
        """Send a message; give the platform's id of it.

        Raises `RetryLater`, `Refused`, `Unreachable` or `Ambiguous`, and no other error of the platform.
        """
        ...

    async def edit(self, message_id: str, out: Outgoing) -> None:
        """Put a message in the place of one sent before; raises as `send` does. Unchanged text is success."""
        ...
