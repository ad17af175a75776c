"""When Python looks for garbage: not while the bot is loaded, then seldom, and not in what was loaded."""

from __future__ import annotations

import gc

FRESH = 10_000
"""How many more objects than at the last look there must be until Python looks again, in place of its own 700.

A turn leaves few behind, and hardly any in cycles: what it drops is freed at once. Each look through all that lives
takes a tenth of a second in which nobody is answered.
"""


def defer() -> None:
    """Let Python look for no garbage until all is loaded: to look takes a fifth of the start."""
    gc.disable()


def resume() -> None:
    """Let Python look for garbage among what comes from now on."""
    gc.freeze()
    gc.enable()


def settle() -> None:
    """Let a program that serves begin without garbage, and look for it among what comes from now on, seldom."""
    gc.unfreeze()
    gc.collect()
    resume()
    gc.set_threshold(FRESH, 10, 10)
