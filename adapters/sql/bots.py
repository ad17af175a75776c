"""Which bot of a platform is served from a database."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, select

from adapters.sql.database import Transaction
from adapters.sql.statement import Statement, insert
from adapters.sql.tables import BOT

NOTE = Statement(insert(BOT).values({c: bindparam(c.name) for c in BOT.c}).on_conflict_do_nothing())
NOTED = Statement(select(BOT.c.bot).where(BOT.c.platform == bindparam("platform")))
DISMISS = Statement(delete(BOT).where(BOT.c.platform == bindparam("of_platform")))


def introduce(tx: Transaction, bot: str) -> str:
    """Note the bot of a platform, unless one is noted; give the one that is."""
    platform = bot.partition(":")[0]
    tx.run(NOTE, platform=platform, bot=bot)
    return str(tx.value(NOTED, platform=platform))


def dismiss(tx: Transaction, platform: str) -> bool:
    """Note the bot of a platform no longer."""
    return tx.run(DISMISS, of_platform=platform) > 0
