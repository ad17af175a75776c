"""The row of a chat: its head, its epoch, its edition, and when it was last spoken in."""

from __future__ import annotations

import json
from typing import NamedTuple

from sqlalchemy import BindParameter, Boolean, bindparam, case, func, literal, null, select, update

from adapters.sql.database import Transaction
from adapters.sql.rows import chat_key
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import CHAT, PERSON
from core.messages import ChatKey

_one = select(literal(1).label("one")).subquery("one")
STATE = Statement(
    select(
        CHAT.c.private, CHAT.c.head, CHAT.c.epoch, CHAT.c.edition, CHAT.c.active_at, PERSON.c.settings,
        CHAT.c.asides,
    ).select_from(
        _one.outerjoin(CHAT, CHAT.c.key == bindparam("chat")).outerjoin(PERSON, PERSON.c.key == bindparam("person"))
    )
)  # fmt: skip
ADD_CHAT = Statement(
    insert(CHAT)
    .values(key=bindparam("chat"), private=bindparam("private"), asides="[]", epoch=0, edition=0)
    .on_conflict_do_nothing()
)
_this = update(CHAT).where(CHAT.c.key == bindparam("of_chat"))
MOVE_HEAD = Statement(
    _this.values(
        {
            CHAT.c.head: bindparam("head"),
            CHAT.c.private: bindparam("private"),
            CHAT.c.active_at: bindparam("at"),
            CHAT.c.awake_at: func.coalesce(CHAT.c.awake_at, bindparam("at")),
        }
    )
)
_private: BindParameter[bool] = bindparam("private", type_=Boolean)
TOUCH = Statement(
    _this.values(
        {
            CHAT.c.private: case((CHAT.c.active_at.is_(None), _private), else_=CHAT.c.private),
            CHAT.c.active_at: case((CHAT.c.active_at > bindparam("at"), CHAT.c.active_at), else_=bindparam("at")),
        }
    )
)
RAISE_EPOCH = Statement(_this.values(epoch=CHAT.c.epoch + 1).returning(CHAT.c.epoch))
RAISE_EDITION = Statement(_this.values(edition=CHAT.c.edition + 1))
AFTER_ERASURE = Statement(
    _this.values(
        {
            CHAT.c.head: bindparam("head"),
            CHAT.c.asides: bindparam("asides"),
            CHAT.c.epoch: CHAT.c.epoch + 1,
            CHAT.c.edition: CHAT.c.edition + 1,
        }
    )
)
_as_seen = CHAT.c.head.is_not_distinct_from(bindparam("seen")) & (CHAT.c.epoch == bindparam("in_epoch"))
LEAD = Statement(_this.where(_as_seen).values({CHAT.c.head: bindparam("head"), CHAT.c.asides: bindparam("asides")}))
SET_ASIDES = Statement(_this.values(asides=bindparam("asides")))
SILENCE = Statement(_this.values({CHAT.c.active_at: null(), CHAT.c.awake_at: null()}))


class ChatState(NamedTuple):
    """The row of a chat, and what the person who asks chose beside it; `epoch` None: no such chat."""

    private: bool
    head: int | None
    epoch: int | None
    edition: int | None
    active_at: int | None
    settings: str | None
    asides: str | None = "[]"

    @property
    def open_asides(self) -> tuple[int | None, ...]:
        """The turns at which the open asides were begun."""
        return () if self.asides in (None, "[]") else tuple(json.loads(self.asides or ""))


def state_of(tx: Transaction, chat: str, person: str) -> ChatState:
    """Read the state of a chat, and of a person with it."""
    return ChatState(*(tx.row(STATE, chat=chat, person=person) or ()))


def ensure(tx: Transaction, chat: str, private: bool = True) -> None:
    """Add the chat, unless it is there."""
    tx.run(ADD_CHAT, chat=chat, private=private)


def raise_epoch(tx: Transaction, chat: ChatKey) -> int:
    """Raise the epoch of a chat, known or not."""
    key = chat_key(chat)
    ensure(tx, key)
    return int(tx.value(RAISE_EPOCH, of_chat=key))
