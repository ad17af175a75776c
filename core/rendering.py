"""Writes turns as messages for the model, so that nothing said can look like a role, a speaker or a rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from core.llm import PromptMessage
from core.messages import Attachment, Message
from core.text.disguise import disarmed
from core.text.letters import words_of
from core.text.splitting import utf16_length

if TYPE_CHECKING:
    from core.conversation import Turn

QUOTE_LIMIT = 1000
CUT_AT = 4096
"""UTF-16 units of a message that may be cut off: what is longer is sent in several."""
_ROLES = {"system", "assistant", "user", "tool", "developer", "function", "bot", "admin", "administrator"}
_BRACKETS = ("[", "［", "【", "〔", "❲", "⟦")
_INVISIBLE = " \t\xa0\u3000\xad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff"


def neutral(text: str, tag: str = "remembered") -> str:
    """Make sure that a text can't open or close a block: of remembered text, or of another tag."""
    return disarmed(text, tag)


def block(label: str, text: str) -> str:
    """Wrap remembered text in a labelled block, as data."""
    what = re.sub(r'[<>＜＞"\s]+', " ", label)
    return f'<remembered what="{what}">\n{neutral(text)}\n</remembered>'


def speaker(name: str) -> str:
    """Neutralise a person's name, so that it cannot look like a role or an instruction: at most 32 characters."""
    plain = " ".join(words_of(name[:200], keep="-'.’_"))[:32].strip()
    parts = re.split(r"[\W_]+", plain.casefold())
    return f"member {plain}".strip() if not plain or not _ROLES.isdisjoint(parts) else plain


def said(message: Message) -> str:
    """Write one message as the model reads it; in a group the line names its speaker, and no other line can."""
    text = neutral(_written(message))
    if message.private:
        return text
    first, *rest = f"[{speaker(message.name)}] {text}".splitlines(keepends=True)
    return "".join([first, *map(_continued, rest)])


def _written(message: Message) -> str:
    if not (message.quote or message.forwarded or message.attachments):
        return message.text
    parts = [*_quoted(message), *_body(message), *(attached(a) for a in message.attachments)]
    return "\n".join(part for part in parts if part)


def set_off(text: str) -> str:
    """Indent every line of a text but the first, so that none looks as if somebody else began to speak."""
    return "\n  ".join(text.splitlines())


def _continued(line: str) -> str:
    """Set off a line of the same speaker that begins as if it named another."""
    return f"· {line}" if line.lstrip(_INVISIBLE).startswith(_BRACKETS) else line


def _quoted(message: Message) -> Iterable[str]:
    if message.quote is not None:
        text = message.quote.text
        text = text if len(text) <= QUOTE_LIMIT else text[:QUOTE_LIMIT] + " […]"
        author = "your message" if message.quote.own else f"a message of {speaker(message.quote.author)}"
        yield f"(in reply to {author}: {_guillemets(text)})"


def _guillemets(text: str) -> str:
    """Put a text in quotation marks that it can't close."""
    return f"«{text.replace('»', '›')}»"


def _body(message: Message) -> Iterable[str]:
    if message.forwarded:
        yield f"(forwarded from {speaker(message.forwarded)}: {_guillemets(message.text)})"
    else:
        yield message.text


def attached(attachment: Attachment) -> str:
    """Write an attachment as words: what could be read of it, else a placeholder."""
    label = f"({attachment.kind}: {speaker(attachment.name)})" if attachment.name else f"({attachment.kind})"
    return f"{label}\n{attachment.text}" if attachment.text else label


def segment_block(text: str) -> str:
    """Write the text of a segment as a block of data."""
    return block("summary of earlier talk", text)


def person_message(turn: Turn) -> PromptMessage:
    """Write what was said in a turn as one user message, with the images it still holds."""
    images = tuple(a for m in turn.messages for a in m.attachments if a.kind == "image" and a.data)
    return PromptMessage("user", "\n".join(said(m) for m in _pasted(turn.messages)), images)


def _pasted(messages: Sequence[Message]) -> Sequence[Message]:
    """Put the parts of a long paste, which the person's app cut for its length, together again."""
    if len(messages) == 1:
        return messages
    whole: list[Message] = []
    full = False
    for message in messages:
        plain = not (message.quote or message.forwarded or message.attachments)
        if full and plain:
            whole[-1] = replace(whole[-1], text=whole[-1].text + message.text)
        else:
            whole.append(message)
        full = utf16_length(message.text) == CUT_AT and not (message.forwarded or message.attachments)
    return whole


def bot_messages(turn: Turn) -> list[PromptMessage]:
    """Write the tool rounds of a turn, each call directly followed by its results, and its answer if there is one."""
    messages: list[PromptMessage] = []
    for one in turn.rounds:
        messages.append(PromptMessage("assistant", one.text, calls=one.calls))
        messages.extend(PromptMessage("tool", r.content, call_id=r.call_id) for r in one.results)
    if turn.answer is not None and turn.answer.text.strip():
        messages.append(PromptMessage("assistant", turn.answer.text))
    return messages
