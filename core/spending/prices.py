"""What tokens cost in money, where the operator gave the prices of the models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.llm import Usage
from core.usage import Spent

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens: of the prompt, of what of it the server's cache held, of what is answered."""

    prompt: float
    cached: float
    completion: float

    def of(self, took: Usage | Spent) -> float:
        """Give what a request, or several, cost."""
        asked = (took.prompt - took.cached) * self.prompt + took.cached * self.cached
        return (asked + took.completion * self.completion) / MILLION


@dataclass(frozen=True)
class Prices:
    """The prices by the names of models, in one currency."""

    by_model: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""

    def known(self, model: str) -> Price | None:
        """Give the price of a model: servers add a date or a version to its name, so the longest beginning counts."""
        names = [name for name in self.by_model if model == name or model.startswith((f"{name}-", f"{name}:"))]
        return self.by_model[max(names, key=len)] if names else None

    def cost(self, spent: Iterable[Spent]) -> float | None:
        """Give what entries cost together; None when the price of any model among them is not known."""
        total = 0.0
        for one in spent:
            price = self.known(one.model)
            if price is None:
                return None
            total += price.of(one)
        return total

    def written(self, amount: float) -> str:
        """Write an amount of money: with cents, a small one as exactly as shows what it is."""
        digits = 2 if amount >= 1 or not amount else 4
        return f"{amount:,.{digits}f} {self.currency}".rstrip()
