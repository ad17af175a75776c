"""Discord, on discord.py, and a strict test server in its place."""
