"""Every error of Keepmind, each with one reader."""

from __future__ import annotations

from core.translation import spoken


class KeepmindError(Exception):
    """Anything Keepmind raises on purpose; its text is one clear sentence."""


class ConfigError(KeepmindError):
    """The operator's settings can't be used; the text says which one and what to do, on one line whatever they hold."""

    def __init__(self, sentence: str) -> None:
        super().__init__(" ".join(sentence.splitlines()))


class ToolError(KeepmindError):
    """A tool could not do what the model asked; the model reads it and goes on.

    A person who did the same by a command reads it too, in their language: a marked sentence with its values.
    """

    def __init__(self, sentence: str, **values: object) -> None:
        super().__init__(sentence.format(**values) if values else sentence)
        self._sentence, self._values = sentence, values

    def told(self) -> str:
        """Say it in the language spoken now."""
        return spoken(self._sentence, **self._values)


class CommandError(KeepmindError):
    """A command could not do what the person asked; the person reads it."""


class StoreError(KeepmindError):
    """The database can't be used (locked, full, read-only, damaged, not ours); the operator reads it."""


class Relieved(StoreError):
    """Another process serves the bot now; nothing that this one does is kept any more."""


class StaleEpoch(StoreError):
    """The chat was stopped or cleared since this work began; its result is discarded."""


class StaleBase(StoreError):
    """What a summary was made from has changed meanwhile; the summary is discarded and made again."""


class LLMError(KeepmindError):
    """The model gave no answer; the log reads it, the person gets an apology."""


class LLMUnavailable(LLMError):
    """The server is down, overloaded or silent, and the retries are used up; later it may work."""


class LLMRejected(LLMError):
    """The server refuses for a reason that waiting does not cure: key, quota, unknown model, bad request."""


class ContextOverflow(LLMError):
    """The request is larger than the model's context; folding memory and asking again may help."""


class DeliveryError(KeepmindError):
    """A platform did not take a chunk."""


class Refused(DeliveryError):
    """The platform definitely did not show the chunk, and would refuse it again."""


class RetryLater(DeliveryError):
    """The platform did not show the chunk and says how long to wait.

    `seconds` is the wait the platform asked for.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"retry after {seconds:g} seconds")
        self.seconds = seconds


class Ambiguous(DeliveryError):
    """No reply came back: the chunk may or may not be shown. It is never sent again."""


class Unreachable(DeliveryError):
    """The person blocked the bot, or the chat or topic is gone: nothing more can be sent there."""
