"""Trying a bot on a platform's test server, in the terminal and without a token."""
