"""What the bot says in its own name on Discord alone."""

from core.translation import marked

IN_PRIVATE = marked(
    "This is for your eyes only, but you take no direct messages of mine. Let me write to you, and ask again."
)
