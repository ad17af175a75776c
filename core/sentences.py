"""What the bot says in its own name."""

from __future__ import annotations

from datetime import datetime

from core.conversation import Answer
from core.errors import ContextOverflow, LLMError, LLMRejected
from core.messages import Person
from core.text.letters import is_blank
from core.translation import marked, spoken

BLANK = marked("I have no words for that. Please ask me in another way.")
DECLINED = marked("I can't answer that one.")
TOO_LONG = marked("The answer ran into its length limit before it began. Please ask for less at once.")
CUT_OFF = marked("… (cut off: the answer reached its length limit)")
INTERRUPTED = marked("… (interrupted: the connection to the model broke)")
STOPPED = marked("Stopped. What you said is kept.")
STOPPED_INCOGNITO = marked("Stopped. Nothing of it is kept.")
NOTHING_TO_STOP = marked("Nothing is running.")
WAITS = marked(
    "I can't reach my language model just now. I answer what you write as soon as I can; you need not send it again."
)
WAITS_FOR_STORE = marked(
    "I can't get at my memory just now. I answer what you write as soon as I can; you need not send it again."
)
APOLOGY = marked("Sorry, I can't reach my language model just now. Your message is kept; please try again in a while.")
APOLOGY_REJECTED = marked("Sorry, my language model refuses to work for me. The operator has to look at its settings.")
APOLOGY_TOO_LARGE = marked("Sorry, that is more than my language model can read at once. Your message is kept.")
APOLOGY_BUG = marked("Sorry, something went wrong on my side. Your message is kept.")
APOLOGY_COMMAND = marked("Sorry, something went wrong on my side. Please try it again.")
APOLOGY_INCOGNITO = marked(
    "Sorry, I could not answer that. You are incognito, so nothing of it is kept: please send it again in a while."
)
TOO_OLD = marked("I was away when you wrote this; please ask again if it still matters.")
UNREADABLE = marked("I can't read this kind of message yet.")
TOO_LARGE = marked("This file is too large for me to read: I take up to {megabytes} MB.")
TOO_MANY_PIXELS = marked("This picture is too large for me to look at: I take up to {megapixels} million pixels.")
UNSUPPORTED = marked("I can't read this kind of file yet. I read text, Markdown, code, CSV, JSON and PDF.")
BROKEN = marked("I could not read this file; it may be damaged.")
UNFETCHED = marked("I could not fetch this. Please send it again.")
NO_EARS = marked("I can't listen to recordings here. Please write to me.")
DEAF_NOW = marked("I can't listen to recordings just now. Please write to me, or send it again later.")
UNHEARD = marked("I could not make out this recording. Please write to me.")
NOT_ALLOWED = marked("I don't know you yet. Ask the operator to let you in; your id is {person}.")
NOT_PAIRED = marked(
    "I don't know you yet. Tell the operator the code {code}, which lets you in and is good for a day; "
    "your id is {person}."
)
LET_IN = marked("You have been let in, so we can talk now. /help lists what I understand.")
TOO_MUCH = marked(
    "That was a lot at once, so I take a break of half a minute. What is said to me meanwhile I neither answer nor "
    "keep, this message included; commands still work."
)
SPENT = {
    "person": marked("I have used up what I may spend on answers to you. I answer again from {at:%Y-%m-%d %H:%M} on."),
    "chat": marked(
        "I have used up what I may spend on answers in this chat. I answer again from {at:%Y-%m-%d %H:%M} on."
    ),
    "bot": marked("I have used up what I may spend on answers. I answer again from {at:%Y-%m-%d %H:%M} on."),
}
"""What is said when nothing is left to spend, by whose budget it is."""
MEANWHILE = marked("What you say until then is kept, and commands still work.")
MEANWHILE_INCOGNITO = marked("Commands still work. You are incognito, so what you say until then is not kept.")
ADMINS_ONLY = marked("Only an admin can do that.")
NOBODY = marked(
    "You speak as nobody in particular here, so there is nothing I keep about you. Please ask in your own name."
)
DONE = marked("Done.")
NO_SUCH_COMMAND = marked("I don't know /{name}. /help lists what I understand.")
NEARLY_A_COMMAND = marked("I don't know /{name}. Did you mean /{near}?")


def stranger(person: Person, code: str) -> str:
    """Give what a stranger is told; without a code, when there are too many of them."""
    return spoken(NOT_PAIRED if code else NOT_ALLOWED, person=person, code=code)


def spent(whose: str, at: datetime, *, kept: bool) -> str:
    """Give what somebody is told when nothing is left to spend until a time, given in their time zone."""
    meanwhile = MEANWHILE if kept else MEANWHILE_INCOGNITO
    return f"{spoken(SPENT[whose], at=at)} {spoken(meanwhile)}"


def shown(answer: Answer) -> str:
    """Give what the person sees of an answer: the words themselves, with a mark when they are not whole."""
    text = answer.text.strip()
    if answer.finish == "declined":
        return text or spoken(DECLINED)
    if is_blank(text):
        blank = TOO_LONG if answer.finish == "length" else BLANK
        return spoken(blank)
    mark = {"length": CUT_OFF, "interrupted": INTERRUPTED}.get(answer.finish)
    return f"{text}\n\n{spoken(mark)}" if mark else text


def apology(error: LLMError) -> str:
    """Give what the person is told when the model gave no answer."""
    if isinstance(error, LLMRejected):
        return spoken(APOLOGY_REJECTED)
    return spoken(APOLOGY_TOO_LARGE if isinstance(error, ContextOverflow) else APOLOGY)
