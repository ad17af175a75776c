"""Telegram's messages made into ours: who said what, where, and in answer to what."""

from __future__ import annotations

from datetime import UTC, datetime

from telegram import (
    CallbackQuery,
    Chat,
    Message,
    MessageOrigin,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
    User,
)
from telegram.constants import ChatID, ChatType

from core import messages
from core.messages import ChatKey, Person, Quote

PLATFORM = "telegram"
_STAND_INS = {ChatID.ANONYMOUS_ADMIN, ChatID.FAKE_CHANNEL, ChatID.SERVICE_CHAT}
_KINDS = {
    "photo": "a photo",
    "voice": "a voice message",
    "audio": "an audio file",
    "document": "a file",
    "video": "a video",
    "sticker": "a sticker",
    "location": "a location",
    "contact": "a contact",
    "poll": "a poll",
}


def to_key(message: Message) -> ChatKey:
    """Name the conversation: the chat, and its topic only where Telegram says that it is one."""
    topic = message.message_thread_id if message.is_topic_message else None
    return ChatKey(PLATFORM, str(message.chat.id), str(topic) if topic else None)


def to_message(message: Message, me: User, text: str | None = None, *, addressed: bool = True) -> messages.Message:
    """Convert what was said; `text` stands in for its words. Files are read elsewhere."""
    sender = message.from_user
    chat = message.sender_chat or message.chat
    return messages.Message(
        id=str(message.message_id),
        chat=to_key(message),
        sender=Person(PLATFORM, str(chat.id if _is_anonymous(message) else sender.id if sender else chat.id)),
        text=words(message) if text is None else text,
        sent_at=message.date.astimezone(UTC),
        name=_name(message),
        private=is_private(message.chat),
        addressed=addressed,
        anonymous=_is_anonymous(message),
        language=language_of(sender),
        quote=_quote(message, me),
        forwarded=_origin(message.forward_origin) if message.forward_origin else "",
    )


def to_press(
    query: CallbackQuery, command: str, at: datetime, said_in: ChatKey | None = None
) -> messages.Message | None:
    """Convert the press of a button into the command it stands for; None when its message is too old to be known.

    It is said in a group (`said_in`) when that is where the button's message answered, though shown in private.
    """
    shown = query.message
    if shown is None:
        return None
    key = to_key(shown) if isinstance(shown, Message) else ChatKey(PLATFORM, str(shown.chat.id))
    return messages.Message(
        id=f"press {query.id}",
        chat=said_in or key,
        sender=Person(PLATFORM, str(query.from_user.id)),
        text=command,
        sent_at=at,
        name=str(query.from_user.full_name),
        private=said_in is None and is_private(shown.chat),
        pressed=str(shown.message_id) if is_private(shown.chat) else "",
        language=language_of(query.from_user),
    )


def language_of(user: User | None) -> str:
    """Give the language of somebody's app; empty where Telegram does not tell."""
    return str(user.language_code or "") if user else ""


def is_private(chat: Chat) -> bool:
    """Tell whether a chat is one person's own with the bot."""
    return chat.type == ChatType.PRIVATE


def words(message: Message) -> str:
    """Give what a message says in words, empty when it has none."""
    return str(message.text or message.caption or _place(message) or _contact(message))


def _place(message: Message) -> str:
    if message.venue:
        venue = message.venue
        return f"(a place: {venue.title}, {venue.address}, at {_coordinates(venue.location)})"
    return f"(a location: {_coordinates(message.location)})" if message.location else ""


def _coordinates(location: object) -> str:
    return f"{getattr(location, 'latitude', 0):.6f}, {getattr(location, 'longitude', 0):.6f}"


def _contact(message: Message) -> str:
    contact = message.contact
    if contact is None:
        return ""
    name = " ".join(part for part in (contact.first_name, contact.last_name) if part)
    return f"(a contact: {name}, {contact.phone_number})"


def _is_anonymous(message: Message) -> bool:
    """Tell whether the sender stands for nobody: an anonymous admin, a channel, Telegram itself."""
    sender = message.from_user
    return sender is None or message.sender_chat is not None or sender.id in _STAND_INS


def is_bots(message: Message) -> bool:
    """Tell whether another bot said it: two that answer each other never end."""
    sender = message.from_user
    return sender is not None and sender.is_bot and not _is_anonymous(message)


def _name(message: Message) -> str:
    if message.sender_chat or not message.from_user:
        return str(message.author_signature or (message.sender_chat or message.chat).effective_name or "")
    return str(message.from_user.full_name)


def replied(message: Message) -> Message | None:
    """Give the message this one answers; the one that opens a topic, which all its messages point to, is none."""
    earlier = message.reply_to_message
    return None if earlier is None or earlier.forum_topic_created else earlier


def _quote(message: Message, me: User) -> Quote | None:
    chosen = str(message.quote.text) if message.quote else ""
    earlier = replied(message)
    if earlier is not None:
        own = earlier.from_user is not None and earlier.from_user.id == me.id
        return Quote(_name(earlier), chosen or words(earlier) or _kind(earlier), own)
    if message.external_reply is not None:
        return Quote(_origin(message.external_reply.origin), chosen or "(a message of another chat)")
    return None


def _kind(message: Message) -> str:
    return next((f"({words})" for name, words in _KINDS.items() if getattr(message, name)), "(a message)")


def _origin(origin: MessageOrigin) -> str:
    name = None
    if isinstance(origin, MessageOriginUser):
        name = origin.sender_user.full_name
    elif isinstance(origin, MessageOriginHiddenUser):
        name = origin.sender_user_name
    elif isinstance(origin, MessageOriginChat):
        name = origin.sender_chat.effective_name
    elif isinstance(origin, MessageOriginChannel):
        name = origin.chat.effective_name
    return str(name or "somebody")
