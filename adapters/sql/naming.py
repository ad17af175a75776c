"""Finding the turns that speak of what a message names."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import bindparam, select

from adapters.sql import archive
from adapters.sql.database import Transaction
from adapters.sql.rows import chat_key
from adapters.sql.statement import Statement
from adapters.sql.tables import ENTITY
from core.conversation import Turn
from core.kept import storable
from core.messages import ChatKey
from core.search.terms import Terms

MOST_PARTS = 200
"""Words, and words together, of a message that are looked up."""
SPEAKING_OF = Statement(
    select(ENTITY.c.turn)
    .where(ENTITY.c.chat == bindparam("in_chat"), ENTITY.c.key == bindparam("of_key"))
    .order_by(ENTITY.c.turn.desc())
    .limit(bindparam("limit"))
)


def named(tx: Transaction, chat: ChatKey, text: str, limit: int, without: Collection[int], terms: Terms) -> list[Turn]:
    """Read the newest turns that speak of a name in the text."""
    key, parts = chat_key(chat), sorted(terms.parts(storable(text)))[:MOST_PARTS]
    most = limit + len(without)
    turns = {turn for part in parts for (turn,) in tx.rows(SPEAKING_OF, in_chat=key, of_key=part, limit=most)}
    if turns:
        turns &= archive.path(tx, key)
    newest = sorted(turns - set(without), reverse=True)[:limit]
    return archive.read(tx, chat, newest)
