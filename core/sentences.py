"""What the bot says in its own name."""

from __future__ import annotations

from core.conversation import Answer
from core.errors import ContextOverflow, LLMError, LLMRejected
from core.messages import Person

BLANK = "I have no words for that. Please ask me in another way."
DECLINED = "I can't answer that one."
TOO_LONG = "The answer ran into its length limit before it began. Please ask for less at once."
CUT_OFF = "… (cut off: the answer reached its length limit)"
INTERRUPTED = "… (interrupted: the connection to the model broke)"
STOPPED = "Stopped. What you said is kept."
NOTHING_TO_STOP = "Nothing is running."
APOLOGY = "Sorry, I can't reach my language model just now. Your message is kept; please try again in a while."
APOLOGY_REJECTED = "Sorry, my language model refuses to work for me. The operator has to look at its settings."
APOLOGY_TOO_LARGE = "Sorry, that is more than my language model can read at once. Your message is kept."
APOLOGY_BUG = "Sorry, something went wrong on my side. Your message is kept."
TOO_OLD = "I was away when you wrote this; please ask again if it still matters."
UNREADABLE = "I can't read this kind of message yet."
NOT_ALLOWED = "I don't know you yet. Ask the operator to let you in; your id is {person}."
NOT_PAIRED = (
    "I don't know you yet. Tell the operator the code {code}, which lets you in and is good for a day; "
    "your id is {person}."
)
TOO_MUCH = (
    "That was a lot at once, so I take a break of half a minute. What is said to me meanwhile I neither answer nor "
    "keep, this message included; commands still work."
)
ADMINS_ONLY = "Only an admin can do that."
NOBODY = "You speak as nobody in particular here, so there is nothing I keep about you. Please ask in your own name."
DONE = "Done."
NO_SUCH_COMMAND = "I don't know /{name}. /help lists what I understand."


def stranger(person: Person, code: str) -> str:
    """Give what a stranger is told; without a code, when there are too many of them."""
    return (NOT_PAIRED if code else NOT_ALLOWED).format(person=person, code=code)


def shown(answer: Answer) -> str:
    """Give what the person sees of an answer: the words themselves, with a mark when they are not whole."""
    text = answer.text.strip()
    if answer.finish == "declined":
        return text or DECLINED
    if not text:
        return TOO_LONG if answer.finish == "length" else BLANK
    mark = {"length": CUT_OFF, "interrupted": INTERRUPTED}.get(answer.finish)
    return f"{text}\n\n{mark}" if mark else text


def apology(error: LLMError) -> str:
    """Give what the person is told when the model gave no answer."""
    if isinstance(error, LLMRejected):
        return APOLOGY_REJECTED
    return APOLOGY_TOO_LARGE if isinstance(error, ContextOverflow) else APOLOGY
