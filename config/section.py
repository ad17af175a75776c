"""The form of every group of settings, and of lists and kinds among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, model_validator

from config import checks

Names = Annotated[tuple[str, ...], BeforeValidator(checks.split)]
Kind = Annotated[str, AfterValidator(checks.kind)]
Kinds = Annotated[Names, AfterValidator(checks.kinds)]


def pairs(entries: Iterable[str]) -> dict[str, str]:
    """Read a list of NAME=VALUE; what follows the first `=` is the value."""
    return {name: value for name, _, value in (entry.partition("=") for entry in entries)}


class Section(BaseModel):
    """A group of settings. A blank value means the default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _blank_is_default(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        return {name: value for name, value in values.items() if value != "" or name not in cls.model_fields}
