"""What a bot has heard of since it identified itself, and what it still is to hear."""

from __future__ import annotations

from dataclasses import dataclass, field

from adapters.discord.server.intents import BLANK, MESSAGE_CONTENT
from adapters.discord.server.refusals import Json
from adapters.discord.server.sockets import Socket
from adapters.discord.server.world import User


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: in which guild, if in one, and which intent it takes to hear of it (0 is none).

    `has_content` is for events whose words only some may read.
    """

    name: str
    data: Json
    guild: int | None = None
    intent: int = 0
    has_content: bool = False


@dataclass(eq=False, slots=True)
class Session:
    """A bot's shard: it goes on when its socket breaks, and is over when `is_gone`."""

    id: str
    shard: int
    count: int
    intents: int
    socket: Socket | None
    bot: User
    is_gone: bool = False
    log: list[Json] = field(default_factory=list)

    @property
    def seq(self) -> int:
        """How many events there were."""
        return len(self.log)

    def serves(self, guild: int | None) -> bool:
        """Tell whether a guild is this shard's; what is outside guilds is the first's."""
        return (guild >> 22) % self.count == self.shard if guild else self.shard == 0

    def wants(self, event: Event) -> bool:
        """Tell whether it is to hear of an event."""
        return not self.is_gone and self.serves(event.guild) and event.intent & self.intents == event.intent

    def tell(self, event: Event) -> None:
        """Number an event and send it, or keep it until the bot is back."""
        payload: Json = {"op": 0, "t": event.name, "s": self.seq + 1, "d": self._readable(event)}
        self.log.append(payload)
        if self.socket is not None:
            self.socket.send(payload)

    def replay(self, seq: int) -> None:
        """Send what came after a number again, then say that this was all."""
        assert self.socket is not None
        for payload in self.log[seq:]:
            self.socket.send(payload)
        self.tell(Event("RESUMED", {"_trace": []}))

    def _readable(self, event: Event) -> Json:
        """Blank the words that the bot may not read: https://docs.discord.com/developers/events/gateway#message-content-intent."""
        if not event.has_content or self.intents & MESSAGE_CONTENT or event.guild is None:
            return event.data
        own = str(self.bot.id)
        is_addressed = any(user["id"] == own for user in event.data["mentions"])
        if is_addressed or event.data["author"]["id"] == own:
            return event.data
        return {**event.data, **BLANK}
