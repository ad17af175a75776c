"""Telegram, on python-telegram-bot, and a strict test server in its place."""
