"""How the model is asked for one summary of all: a form that is shipped, or a text file."""

from __future__ import annotations

from config.files import path_of, text_of
from core.errors import ConfigError
from core.memory.progressive import Form, shipped, shipped_form


def load_form(name: str) -> Form:
    """Read a form by its language, or by the path of a file. Raises ConfigError when it can't be used."""
    if name in shipped():
        return shipped_form(name)
    try:
        return Form(text_of(path_of(name)))
    except UnicodeDecodeError:
        raise ConfigError(f"summary.form is {name!r}, and that file is not UTF-8 text") from None
    except OSError:
        raise ConfigError(f"summary.form is {name!r}; it must be {', '.join(shipped())} or a text file") from None
    except ValueError as error:
        raise ConfigError(f"summary.form is {name!r}, and {error}") from None
