"""What `keepmind init` does: it asks for what a bot needs, tries each answer, and writes two files."""

from bots.setup.interview import Wishes, set_up

__all__ = ["Wishes", "set_up"]
