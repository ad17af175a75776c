"""What the methods of the Bot API share: the world they act on, and who may be written to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from adapters.telegram.server.arguments import Arguments
from adapters.telegram.server.refusals import bad_request, forbidden, upgraded
from adapters.telegram.server.updates import Updates
from adapters.telegram.server.webhook import Webhook
from adapters.telegram.server.world import Chat, Message, User, World

OWN_GROUP = {"kicked": "bot was kicked from the {} chat", "left": "bot is not a member of the {} chat"}


@dataclass(slots=True)
class Api:
    """One bot's Bot API."""

    world: World
    updates: Updates = field(default_factory=Updates)
    webhook: Webhook = field(init=False)

    def __post_init__(self) -> None:
        self.webhook = Webhook(self.updates)

    def chat(self, arguments: Arguments) -> Chat:
        """Find the chat that a call is about. Raises Refusal."""
        if arguments.chat is None:
            raise bad_request("chat_id is empty")
        chat = self.world.find_chat(arguments.chat)
        if chat is None:
            raise bad_request("chat not found")
        if chat.migrated_to is not None:
            raise upgraded(chat.migrated_to)
        return chat

    def open_chat(self, arguments: Arguments) -> Chat:
        """Find the chat that a call writes to. Raises Refusal when the bot may not write there."""
        chat = self.chat(arguments)
        if chat.user:
            _check_person(chat.user)
        else:
            _check_membership(chat, chat.members.get(self.world.bot.id, "left"))
        return chat

    def topic(self, chat: Chat, arguments: Arguments) -> int | None:
        """Read the topic that a call writes to. Raises Refusal when there is no such."""
        topic = arguments.integer("message_thread_id")
        if not topic:
            return None
        threads = chat.topics if chat.is_forum or chat.is_private else chat.by_id
        if topic not in threads or chat.type not in ("private", "supergroup"):
            raise bad_request("message thread not found")
        if topic in chat.closed_topics:
            raise bad_request("TOPIC_CLOSED")
        return topic

    def replied(self, chat: Chat, arguments: Arguments) -> Message | None:
        """Read the message that a call replies to. Raises Refusal when there is no such."""
        given = arguments.json("reply_parameters") or {}
        message_id = int(given.get("message_id") or arguments.integer("reply_to_message_id"))
        message = chat.by_id.get(message_id)
        spared = given.get("allow_sending_without_reply") or arguments.flag("allow_sending_without_reply")
        if message_id and message is None and not spared:
            raise bad_request("message to be replied not found")
        quoted = given.get("quote")
        if message and quoted and quoted not in message.text:
            raise bad_request("QUOTE_TEXT_INVALID")
        return message

    def own_message(self, chat: Chat, arguments: Arguments, deed: str) -> Message:
        """Find the bot's own message that a call changes. Raises Refusal."""
        message = chat.by_id.get(arguments.integer("message_id"))
        if message is None:
            raise bad_request(f"message to {deed} not found")
        if not message.by_bot:
            raise bad_request(f"message can't be {deed}ed")
        return message


def _check_person(user: User) -> None:
    if user.deactivated:
        raise forbidden("user is deactivated")
    if user.is_bot:
        raise forbidden("bot can't send messages to bots")
    if not user.started:
        raise forbidden("bot can't initiate conversation with a user")
    if user.blocked:
        raise forbidden("bot was blocked by the user")


def _check_membership(chat: Chat, status: str) -> None:
    if status in OWN_GROUP:
        raise forbidden(OWN_GROUP[status].format(chat.type))
    if status == "restricted":
        raise bad_request("not enough rights to send text messages to the chat")
    if chat.type == "channel" and status != "administrator":
        raise bad_request("need administrator rights in the channel chat")


Result = Any
Method = Callable[[Api, Arguments], Result | Awaitable[Result]]
