"""The in-memory store, the twin of the database."""

from adapters.inmemory.store import InMemoryStore

__all__ = ["InMemoryStore"]
