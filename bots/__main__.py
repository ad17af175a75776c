"""`python -m bots` is the command `keepmind`."""

from bots.cli import main

main()
