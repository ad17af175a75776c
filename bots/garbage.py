"""When Python looks for garbage, set for a program that serves: seldom, and not in what was loaded at the start."""

from __future__ import annotations

import gc

FRESH = 10_000
"""How many more objects than at the last look there must be until Python looks again, in place of its own 700.

A turn leaves few behind, and hardly any in cycles: what it drops is freed at once. Each look through all that lives
takes a tenth of a second in which nobody is answered.
"""


def settle() -> None:
    """Let Python look for garbage only among what comes from now on, and not before there is much of it."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    gc.set_threshold(FRESH, 10, 10)
