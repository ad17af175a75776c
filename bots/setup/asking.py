"""Questions to the operator: in a terminal, through a pipe, or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click

from bots.doctor.finding import sentence
from bots.output import tell
from core.errors import ConfigError, KeepmindError

NONE = "-"
"""The answer that takes away what was set."""
Check = Callable[[str], str]
"""Tries an answer; gives a remark about it, perhaps empty. Raises KeepmindError with what is wrong."""


class Asking:
    """Asks until an answer will do. With `quiet` nothing is asked: what is given, or the default, has to do."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.in_terminal = sys.stdin.isatty()

    def ask(
        self,
        question: str,
        check: Check,
        *,
        given: str | None = None,
        default: str = "",
        secret: bool = False,
        optional: bool = False,
    ) -> str:
        """Give an answer that the check takes, blank when there may be none. Raises KeepmindError where none is asked.

        What is `given` already is tried first. A blank answer is the default.
        """
        answer = given
        while True:
            answer = self._read(question, default, secret) if answer is None else answer.strip()
            try:
                return self._tried(answer, check, optional)
            except KeepmindError as error:
                if self.quiet:
                    raise
                tell(f"  ✗ {sentence(str(error))}")
                answer = None

    def choose(self, question: str, choices: Sequence[str], default: str, given: str | None = None) -> str:
        """Give one of a few answers."""

        def known(answer: str) -> str:
            if answer.casefold() not in choices:
                raise ConfigError(f"{answer!r} is none of {', '.join(choices)}")
            return ""

        return self.ask(f"{question} ({', '.join(choices)})", known, given=given, default=default).casefold()

    def agree(self, question: str, *, sure: bool) -> bool:
        """Ask whether to do something; nobody agrees to it by saying nothing, unless `sure`."""
        if sure:
            return True
        answer = "" if self.quiet else self._read(f"{question} (yes, no)", "yes" if self.in_terminal else "", False)
        return answer.casefold() in ("y", "yes")

    def _tried(self, answer: str, check: Check, optional: bool) -> str:
        if optional and answer in ("", NONE):
            return ""
        if remark := check(answer):
            tell(f"  ✓ {remark}")
        return answer

    def _read(self, question: str, default: str, secret: bool) -> str:
        if self.quiet:
            return default
        if self.in_terminal:
            return self._prompted(question, default, secret)
        tell(question)
        line = sys.stdin.readline()
        self.quiet = not line  # the rest is by default
        return line.strip() or default

    def _prompted(self, question: str, default: str, secret: bool) -> str:
        if secret and default:
            question = f"{question} [Enter keeps the present one]"
        if secret:
            question = f"{question} (not shown as you type)"
        said: str = click.prompt(
            question, default, hide_input=secret, show_default=not secret and bool(default), err=True
        )
        return said.strip()
