"""What the bot says in its own name on Discord alone."""

IN_PRIVATE = "This is for your eyes only, but you take no direct messages of mine. Let me write to you, and ask again."
