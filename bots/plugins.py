"""Finds what an operator wrote: a memory, a tool, named `package.module:name`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from core.errors import ConfigError


def plugin(what: str, named: str) -> Any:
    """Give what is named; the working directory is looked in last. Raises ConfigError, where it is called `what`."""
    module, _, name = named.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # whatever the operator's own code does
        raise ConfigError(f"the {what} {named!r} can't be used: {type(error).__name__}: {error}") from error
