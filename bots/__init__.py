"""Deployable bots: the composition root and the command line."""
