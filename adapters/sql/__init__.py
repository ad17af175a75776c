"""The store in a SQL database: `open_store` makes or upgrades it and opens it."""

from adapters.sql.backup import back_up
from adapters.sql.store import SqlStore, open_store, read_schema
from adapters.sql.upgrade import Schema

__all__ = ["Schema", "SqlStore", "back_up", "open_store", "read_schema"]
