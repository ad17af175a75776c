"""What the bot says in its own name on Telegram alone."""

from core.translation import marked

TOO_LARGE = marked("This file is too large for me to read: I take up to {megabytes} MB.")
UNSUPPORTED = marked("I can't read this kind of file yet. I read text, Markdown, code, CSV, JSON and PDF.")
BROKEN = marked("I could not read this file; it may be damaged.")
UNFETCHED = marked("I could not fetch this from Telegram. Please send it again.")
NO_EARS = marked("I can't listen to recordings here. Please write to me.")
DEAF_NOW = marked("I can't listen to recordings just now. Please write to me, or send it again later.")
UNHEARD = marked("I could not make out this recording. Please write to me.")
JOINED = marked(
    "Hello! Here I remember {what}, and facts that people tell me about themselves; /privacy says more, /memory off "
    "keeps me from learning about you, and removing me from this group ends it."
)
JOINED_MENTION = marked("what is addressed to me")
JOINED_ALL = marked("what is said")
IN_PRIVATE = marked(
    "This is for your eyes only. Press the button to open our private chat, press Start, and ask me there."
)
OPEN_PRIVATE = marked("Open the private chat")
NO_BUTTON = marked("This button is somebody else's, or too old.")
