"""What the bot says in its own name on Telegram alone."""

TOO_LARGE = "This file is too large for me to read: I take up to {megabytes} MB."
UNSUPPORTED = "I can't read this kind of file yet. I read text, Markdown, code, CSV, JSON and PDF."
BROKEN = "I could not read this file; it may be damaged."
UNFETCHED = "I could not fetch this from Telegram. Please send it again."
NO_EARS = "I can't listen to recordings here. Please write to me."
DEAF_NOW = "I can't listen to recordings just now. Please write to me, or send it again later."
UNHEARD = "I could not make out this recording. Please write to me."
JOINED = (
    "Hello! Here I remember {what}, and facts that people tell me about themselves; /privacy says more, /memory off "
    "keeps me from learning about you, and removing me from this group ends it."
)
JOINED_MENTION = "what is addressed to me"
JOINED_ALL = "what is said"
IN_PRIVATE = "This is for your eyes only. Press the button to open our private chat, press Start, and ask me there."
OPEN_PRIVATE = "Open the private chat"
NO_BUTTON = "This button is somebody else's, or too old."
