"""The cheaper model near the end of a budget, and the usual one in its place while it can't be used."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from core.clock import Clock
from core.errors import ContextOverflow, LLMError
from core.llm import LLM, Completion, OnText, Request, Wrapped

logger = logging.getLogger("keepmind.engine")
TRIED_AGAIN = timedelta(minutes=1)
"""How long a cheaper model that could not be used is left alone."""


class Frugal:
    """A cheaper model, and whether it can be used: that it can't is no outage of the usual one."""

    def __init__(self, llm: LLM, clock: Clock) -> None:
        self.llm = llm
        self._clock = clock
        self._failed_at: datetime | None = None

    def instead_of(self, usual: LLM) -> LLM:
        """Give what asks this model, and the usual one where that fails."""
        return _Saving(self, usual)

    @property
    def rests(self) -> bool:
        """Whether it could not be used a moment ago."""
        return self._failed_at is not None and abs(self._clock.now() - self._failed_at) < TRIED_AGAIN

    def failed(self, error: LLMError) -> None:
        """Note that it could not be used."""
        self._failed_at = self._clock.now()
        logger.warning("the cheaper model can't be used, so the usual one is asked: %s", error)


class _Saving(Wrapped):
    def __init__(self, frugal: Frugal, usual: LLM) -> None:
        super().__init__(frugal.llm)
        self._frugal, self._usual = frugal, usual

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Answer a request. Raises LLMError; before any text is shown, as a model does."""
        if self._frugal.rests:
            return await self._usual.complete(request, on_text)
        try:
            return await self._llm.complete(request, on_text)
        except ContextOverflow:
            raise
        except LLMError as error:
            self._frugal.failed(error)
        return await self._usual.complete(request, on_text)
