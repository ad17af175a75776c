"""Tells the admins what they should know at once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.adapter import Outgoing
from core.delivery import Delivery
from core.messages import ChatKey, Person
from core.translation import ENGLISH, marked, speaking, spoken

logger = logging.getLogger("keepmind.engine")
BOT_SPENT = marked(
    "The budget of the whole bot is used up, so I answer nobody until {until:%Y-%m-%d %H:%M} UTC. /admin usage shows "
    "what it went into; the limits are in the settings, [budget]."
)


@dataclass
class Notices:
    """Says each thing once to every admin that is named by an id and can be reached in private."""

    deliveries: Mapping[str, Delivery] = field(default_factory=dict)
    admins: Sequence[str] = ()
    language: str = ENGLISH
    _told: datetime | None = None

    async def spent(self, until: datetime) -> None:
        """Tell that the budget of the whole bot is used up, once until it begins anew."""
        if until == self._told:
            return
        self._told = until
        logger.warning("the budget of the bot is used up until %s", until)
        with speaking(self.language):
            await self._tell(spoken(BOT_SPENT, until=until))

    async def _tell(self, text: str) -> None:
        for admin in map(Person.parse, self.admins):
            delivery = self.deliveries.get(admin.platform)
            if delivery is not None and admin.user != "*":
                chat = ChatKey(admin.platform, admin.user)
                await delivery.say(Outgoing(chat, text, only_for=admin))
