"""What the bot says in its own name on Discord alone."""

from core.translation import marked

IN_PRIVATE = marked(
    "This is for your eyes only, but you take no direct messages of mine. Let me write to you, and ask again."
)
JOINED = marked(
    "Hello! Here I remember {what}, and facts that people tell me about themselves; /privacy says more, /memory off "
    "keeps me from learning about you, and removing me from this server ends it."
)
JOINED_MENTION = marked("what is addressed to me")
JOINED_ALL = marked("what is said")
CONVERSATION = marked("Conversation")
NO_ANSWER = marked("I can't answer that for you here.")
FOR_ONE = marked("The answer is for one person alone.")
NO_BUTTON = marked("This button is somebody else's, or too old.")
NO_COMMAND = marked("This command has changed since you saw it. Discord will show the new one in a while.")
NOT_YOURS_TO_FORGET = marked("Choose a message that somebody wrote to me, not one of mine.")
GAP = marked("Please say it as {usage}, leaving nothing out in between.")
