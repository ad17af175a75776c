"""Talk of which nothing is kept: each stretch of it lives in this process, until it is ended or the process is."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from core.conversation import Conversation, PersonSettings, Turn
from core.facts import Facts
from core.messages import ChatKey, Person

MOST_TURNS = 30
"""How many turns of a stretch are kept in mind."""
MOST_STRETCHES = 1000
"""How many stretches are; the one in which nothing was said for longest is let go."""


class Stretches:
    """What was said incognito, by chat and person."""

    def __init__(self) -> None:
        self._turns: OrderedDict[tuple[ChatKey, Person], tuple[Turn, ...]] = OrderedDict()
        self._going: dict[int, tuple[ChatKey, Person]] = {}

    def of(self, chat: ChatKey, person: Person) -> tuple[Turn, ...]:
        """Give the turns of a stretch, oldest first."""
        return self._turns.get((chat, person), ())

    def begin(self, turn: Turn) -> tuple[Turn, ...]:
        """Give the turns before one that is to be answered, and is a part of the stretch until that is ended."""
        self._going[turn.id] = (turn.chat, turn.sender)
        return self.of(turn.chat, turn.sender)

    def leave(self, turn: Turn) -> None:
        """Take notice that a turn ended without an answer."""
        self._going.pop(turn.id, None)

    def add(self, turn: Turn) -> None:
        """Keep a turn in mind that is answered, unless its stretch was ended meanwhile."""
        key = self._going.pop(turn.id, None)
        if key is None:
            return
        self._turns[key] = (*self._turns.pop(key, ()), turn)[-MOST_TURNS:]
        if len(self._turns) > MOST_STRETCHES:
            self._turns.popitem(last=False)

    def drop_last(self, chat: ChatKey, person: Person) -> bool:
        """Let go of the newest turn of a stretch; say whether there was one."""
        turns = self.of(chat, person)
        return bool(turns) and self._drop(chat, lambda turn: turn is turns[-1])

    def drop_message(self, chat: ChatKey, message_id: str) -> bool:
        """Let go of the turn in which a message was said; say whether there was one."""
        return self._drop(chat, lambda turn: any(m.id == message_id for m in turn.messages))

    def _drop(self, chat: ChatKey, gone: Callable[[Turn], bool]) -> bool:
        before = {key: turns for key, turns in self._turns.items() if key[0] == chat}
        after = {key: tuple(t for t in turns if not gone(t)) for key, turns in before.items()}
        self._turns.update(after)
        return after != before

    def end(self, person: Person, chat: ChatKey | None = None) -> None:
        """Let go of all that a person said, in one chat or everywhere."""
        for key in [k for k in self._turns if k[1] == person and chat in (None, k[0])]:
            del self._turns[key]
        for turn in [t for t, k in self._going.items() if k[1] == person and chat in (None, k[0])]:
            del self._going[turn]


def unremembering(conversation: Conversation, turn: Turn, stretch: tuple[Turn, ...]) -> Conversation:
    """Give the conversation as a turn of which nothing is kept meets it: of what is remembered it sees nothing.

    Its path is the stretch and the turn itself; there is nobody whose facts could be read or written.
    """
    chosen = conversation.settings
    settings = PersonSettings("off", chosen.language, chosen.zone, incognito=True)
    return replace(
        conversation, path=(*stretch, turn), head=turn.id, person=None, facts=Facts(), settings=settings, incognito=True
    )
