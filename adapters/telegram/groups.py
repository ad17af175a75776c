"""Which of a group's talk is for the bot."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from telegram import Message, MessageEntity, User

from adapters.telegram.conversion import is_bots, is_private, replied, to_key
from core.messages import ChatKey
from core.modes import LISTEN, OPEN, Hearing, Modes, heard

_ALBUMS = 256


@dataclass
class Groups(Modes):
    """How the bot behaves in groups; `modes` are those of chats (`-1001`) and topics (`-1001/17`)."""

    _albums: OrderedDict[str, Hearing] = field(default_factory=OrderedDict)
    _were: dict[str, str] = field(default_factory=dict)

    def hearing(self, message: Message, me: User) -> Hearing:
        """Decide about a message; the parts of an album go with the one before."""
        if is_private(message.chat):
            return Hearing.ADDRESSED
        if message.is_automatic_forward or is_bots(message):
            return Hearing.NOTHING
        return self._album(message, self._alone(message, me))

    def of(self, chat: ChatKey) -> str:
        """Give the mode of a group, which may be set by the id that it had before."""
        return self.named(f"{chat.chat}/{chat.topic}", chat.chat, self._were.get(chat.chat, ""))

    @property
    def hear_all(self) -> bool:
        """Whether there is a group in which all that is said is to be heard."""
        return not {self.mode, *self.modes.values()}.isdisjoint((LISTEN, OPEN))

    def follow(self, old: int, new: int) -> None:
        """Take notice of what a group has become."""
        self._were[str(new)] = str(old)

    def _alone(self, message: Message, me: User) -> Hearing:
        return heard(self.of(to_key(message)), called=calls(message, me))

    def _album(self, message: Message, alone: Hearing) -> Hearing:
        album = message.media_group_id
        if not album:
            return alone
        found = self._albums[album] = alone if alone is Hearing.ADDRESSED else self._albums.get(album, alone)
        if len(self._albums) > _ALBUMS:
            self._albums.popitem(last=False)
        return found


def calls(message: Message, me: User) -> bool:
    """Tell whether a message names the bot, answers it, or is a command."""
    earlier = replied(message)
    if earlier is not None and earlier.from_user is not None and earlier.from_user.id == me.id:
        return True
    named = _entities(message, MessageEntity.MENTION, MessageEntity.TEXT_MENTION)
    if any(_names(entity, text, me) for entity, text in named.items()):
        return True
    return is_command(message)


def is_command(message: Message) -> bool:
    """Tell whether a message begins with a command of the sender's own."""
    return not message.forward_origin and any(
        entity.offset == 0 for entity in _entities(message, MessageEntity.BOT_COMMAND)
    )


def _names(entity: MessageEntity, text: str, me: User) -> bool:
    if entity.type == MessageEntity.TEXT_MENTION:
        return entity.user is not None and entity.user.id == me.id
    return text.casefold() == f"@{me.username}".casefold()


def _entities(message: Message, *kinds: str) -> dict[MessageEntity, str]:
    if message.text:
        return message.parse_entities(list(kinds))
    return message.parse_caption_entities(list(kinds)) if message.caption else {}
