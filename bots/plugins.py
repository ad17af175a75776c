"""Finds what an operator wrote: a memory, a tool, a command, named `package.module:name`."""

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
    except ModuleNotFoundError as error:
        missing = module if error.name == module else f"{error.name}, which {module} needs"
        raise ConfigError(
            f"the {what} {named!r} can't be used: Python finds no module {missing}; "
            f"put it into {Path.cwd()} or install it"
        ) from error
    except AttributeError as error:
        raise ConfigError(f"the {what} {named!r} can't be used: there is no {name} in {module}") from error
    except Exception as error:  # whatever the operator's own code does
        raise ConfigError(f"the {what} {named!r} can't be used: {type(error).__name__}: {error}") from error
