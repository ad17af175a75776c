"""Who may speak with the bot, and who is an admin: closed by default."""

from __future__ import annotations

from collections.abc import Collection

from core.messages import ChatKey, Message, Person
from core.store import ConversationStore


class Access:
    """Answers from the configuration and the allow table; both hold `platform:id`, `platform:*` or `*`.

    Admins come from the configuration alone and may always speak. A chat's id lets everyone in that chat speak.
    A sender that stands for nobody is known by the chat alone.
    """

    def __init__(self, admins: Collection[str], allowed: Collection[str], store: ConversationStore) -> None:
        self._admins = frozenset(admins)
        self._allowed = frozenset(allowed)
        self._store = store

    def is_admin(self, person: Person, *, anonymous: bool = False) -> bool:
        """Say whether a person is an admin; a sender that stands for nobody never is, and `*` makes nobody one."""
        return not anonymous and not self._admins.isdisjoint((str(person), f"{person.platform}:*"))

    def names(self, chat: ChatKey) -> bool:
        """Say whether the configuration lets this very chat speak."""
        return str(chat) in self._allowed

    async def may_speak(self, message: Message) -> bool:
        """Say whether a message is to be heard at all."""
        names = {"*", f"{message.chat.platform}:*", message.chat.scope}
        if not message.anonymous:
            names.add(str(message.sender))
        if not self._allowed.isdisjoint(names) or self.is_admin(message.sender, anonymous=message.anonymous):
            return True
        return not names.isdisjoint(await self._store.allowed())
