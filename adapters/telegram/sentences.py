"""What the bot says in its own name on Telegram alone."""

from core.translation import marked

JOINED = marked(
    "Hello! Here I remember {what}, and facts that people tell me about themselves; /privacy says more, /memory off "
    "keeps me from learning about you, and removing me from this group ends it."
)
JOINED_MENTION = marked("what is addressed to me")
JOINED_ALL = marked("what is said")
IN_PRIVATE = marked(
    "This is for your eyes only. Press the button to open our private chat, press Start, then ask me here again."
)
OPEN_PRIVATE = marked("Open the private chat")
NO_BUTTON = marked("This button is somebody else's, or too old.")
