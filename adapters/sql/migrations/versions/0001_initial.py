"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

KEY = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "allow",
        sa.Column("entry", KEY, nullable=False),
        sa.Column("by", KEY, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("entry"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "archive",
        sa.Column("chat", KEY, nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("parent", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("said", sa.Text(), nullable=False),
        sa.Column("replied", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("chat", "turn"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("admin", KEY, nullable=False),
        sa.Column("action", KEY, nullable=False),
        sa.Column("target", KEY, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "block",
        sa.Column("entry", KEY, nullable=False),
        sa.Column("by", KEY, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("entry"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "bot",
        sa.Column("platform", KEY, nullable=False),
        sa.Column("bot", KEY, nullable=False),
        sa.PrimaryKeyConstraint("platform"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "button",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("owner", KEY, nullable=False),
        sa.Column("command", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_button_at"), "button", ["at"], unique=False)
    op.create_index(op.f("ix_button_owner"), "button", ["owner"], unique=False)
    op.create_table(
        "change",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person", KEY, nullable=False),
        sa.Column("scope", KEY, nullable=False),
        sa.Column("key", KEY, nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=True),
        sa.Column("call", KEY, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "change_bare_call",
        "change",
        ["person", "scope", "call"],
        unique=True,
        sqlite_where=sa.text("turn IS NULL"),
        postgresql_where=sa.text("turn IS NULL"),
    )
    op.create_index(
        "change_call",
        "change",
        ["turn", "call"],
        unique=True,
        sqlite_where=sa.text("turn IS NOT NULL"),
        postgresql_where=sa.text("turn IS NOT NULL"),
    )
    op.create_index("change_owner", "change", ["person", "scope", "id"], unique=False)
    op.create_table(
        "chat",
        sa.Column("key", KEY, nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("head", sa.BigInteger(), nullable=True),
        sa.Column("asides", sa.Text(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("edition", sa.Integer(), nullable=False),
        sa.Column("active_at", sa.BigInteger(), nullable=True),
        sa.Column("awake_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_chat_awake_at"), "chat", ["awake_at"], unique=False)
    op.create_table(
        "duty",
        sa.Column("bot", KEY, nullable=False),
        sa.Column("term", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("bot"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "entity",
        sa.Column("chat", KEY, nullable=False),
        sa.Column("key", KEY, nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("name", KEY, nullable=False),
        sa.PrimaryKeyConstraint("chat", "key", "turn"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "fact",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person", KEY, nullable=False),
        sa.Column("scope", KEY, nullable=False),
        sa.Column("key", KEY, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("person", "scope", "key"),
    )
    op.create_table(
        "inbox",
        sa.Column("chat", KEY, nullable=False),
        sa.Column("message", KEY, nullable=False),
        sa.Column("place", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("chat", "message"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "inbox_bare",
        "inbox",
        ["at"],
        unique=False,
        sqlite_where=sa.text("body IS NULL"),
        postgresql_where=sa.text("body IS NULL"),
    )
    op.create_index(
        "inbox_waiting",
        "inbox",
        ["place"],
        unique=False,
        sqlite_where=sa.text("body IS NOT NULL"),
        postgresql_where=sa.text("body IS NOT NULL"),
    )
    op.create_table(
        "job",
        sa.Column("kind", KEY, nullable=False),
        sa.Column("key", KEY, nullable=False),
        sa.Column("due", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("owner", KEY, nullable=True),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("kind", "key"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_job_due"), "job", ["due"], unique=False)
    op.create_table(
        "move",
        sa.Column("old", KEY, nullable=False),
        sa.Column("new", KEY, nullable=False),
        sa.PrimaryKeyConstraint("old"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "note",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person", KEY, nullable=False),
        sa.Column("scope", KEY, nullable=False),
        sa.Column("memory", KEY, nullable=False),
        sa.Column("key", KEY, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("chat", KEY, nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("person", "scope", "memory", "key"),
    )
    op.create_index(op.f("ix_note_chat"), "note", ["chat"], unique=False)
    op.create_index(op.f("ix_note_turn"), "note", ["turn"], unique=False)
    op.create_table(
        "link",
        sa.Column("person", KEY, nullable=False),
        sa.Column("view", KEY, nullable=False),
        sa.PrimaryKeyConstraint("person"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_link_view"), "link", ["view"], unique=False)
    op.create_table(
        "link_code",
        sa.Column("person", KEY, nullable=False),
        sa.Column("code", KEY, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("person"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_link_code_code"), "link_code", ["code"], unique=False)
    op.create_table(
        "wrong_code",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("person", KEY, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_wrong_code_person"), "wrong_code", ["person"], unique=False)
    op.create_table(
        "pairing",
        sa.Column("person", KEY, nullable=False),
        sa.Column("code", KEY, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("person"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_pairing_code"), "pairing", ["code"], unique=False)
    op.create_table(
        "person",
        sa.Column("key", KEY, nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "source",
        sa.Column("person", KEY, nullable=False),
        sa.Column("scope", KEY, nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("chat", KEY, nullable=False),
        sa.PrimaryKeyConstraint("person", "scope", "turn", "chat"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_source_chat"), "source", ["chat"], unique=False)
    op.create_index(op.f("ix_source_turn"), "source", ["turn"], unique=False)
    op.create_table(
        "turn",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("chat", KEY, nullable=False),
        sa.Column("sender", KEY, nullable=False),
        sa.Column("parent", sa.BigInteger(), nullable=True),
        sa.Column("inside", sa.Boolean(), nullable=False),
        sa.Column("retry_of", sa.BigInteger(), nullable=True),
        sa.Column("checkpoint", sa.BigInteger(), nullable=True),
        sa.Column("state", KEY, nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("chunk", sa.Integer(), nullable=False),
        sa.Column("preview", KEY, nullable=False),
        sa.Column("failure", KEY, nullable=False),
        sa.Column("heavy", sa.Boolean(), nullable=False),
        sa.Column("messages", sa.Text(), nullable=False),
        sa.Column("rounds", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["chat"],
            ["chat.key"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("turn_chat", "turn", ["chat", "sender"], unique=False)
    op.create_index(
        "turn_open",
        "turn",
        ["id"],
        unique=False,
        sqlite_where=sa.text("state IN ('received', 'answered')"),
        postgresql_where=sa.text("state IN ('received', 'answered')"),
    )
    op.create_table(
        "vector",
        sa.Column("chat", KEY, nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("model", KEY, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("chat", "turn"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "postings",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("chat", KEY, nullable=False),
        sa.Column("places", sa.LargeBinary(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("says", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_postings_chat"), "postings", ["chat"], unique=False)
    op.create_table(
        "segment",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("chat", KEY, nullable=False),
        sa.Column("before", sa.BigInteger(), nullable=True),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("made_by", KEY, nullable=False),
        sa.ForeignKeyConstraint(
            ["chat"],
            ["chat.key"],
        ),
        sa.ForeignKeyConstraint(
            ["last"],
            ["turn.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "usage",
        *(sa.Column(name, KEY, nullable=False) for name in ("person", "day", "chat", "model", "purpose")),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("requests", "prompt", "cached", "completion", "memory")
        ),
        sa.PrimaryKeyConstraint("person", "day", "chat", "model", "purpose"),
        sqlite_with_rowid=False,
    )
    op.create_index("usage_chat", "usage", ["chat", "day"], unique=False)
    op.create_index(op.f("ix_usage_day"), "usage", ["day"], unique=False)
    op.create_index(op.f("ix_segment_chat"), "segment", ["chat"], unique=False)
    op.create_index(op.f("ix_segment_last"), "segment", ["last"], unique=False)
