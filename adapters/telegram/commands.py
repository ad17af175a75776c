"""Commands as Telegram writes them, and the menus that list them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol

from telegram import (
    Bot,
    BotCommand,
    BotCommandScope,
    BotCommandScopeAllChatAdministrators,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    BotCommandScopeChat,
    BotCommandScopeDefault,
)
from telegram.error import RetryAfter, TelegramError

from adapters.telegram.trouble import retry_seconds
from core.translation import languages

logger = logging.getLogger("keepmind.telegram")
MAX_WAITS = 5
MOST = 100
"""Most commands of one menu: https://core.telegram.org/bots/api#setmycommands."""


class Command(Protocol):
    """What a menu shows of a command: a name such as `memory why`, and what it does."""

    @property
    def name(self) -> str:
        """The command without its slash."""
        ...

    def summary_in(self, language: str) -> str:
        """Say what it does, in a few words."""
        ...

    @property
    def admin(self) -> bool:
        """Whether only admins may call it."""
        ...


class Names:
    """The commands' names here and there: Telegram's have no spaces, so `memory why` is `/memory_why` as well."""

    def __init__(self, commands: Iterable[Command], username: str) -> None:
        self._by_name = {telegram_name(command.name): command.name for command in commands}
        self._username = username.casefold()

    def read(self, text: str, *, private: bool) -> str | None:
        """Rewrite a command the way the engine reads it; None when it is another bot's.

        In a group a command that names no bot and is none of ours is taken for another bot's.
        """
        first, *rest = text.lstrip().split(maxsplit=1)
        name, _, bot = first[1:].partition("@")
        known = self._by_name.get(name.casefold())
        if not private and (bot.casefold() != self._username if bot else known is None):
            return None
        return " ".join([f"/{known or name}", *rest])


def telegram_name(name: str) -> str:
    """Write a command's name as Telegram takes it: lowercase letters, digits and underscores, at most 32."""
    return re.sub(r"[^a-z0-9_]", "_", name.casefold())[:32]


async def set_menus(bot: Bot, commands: Iterable[Command], admins: Sequence[int], language: str) -> None:
    """Set the menu of every kind of chat, and that of each admin's own; failing to is only logged.

    There is one for each language that is spoken; `language` is that of people with none of these.
    """
    listed = list(commands)
    common = [command for command in listed if not command.admin]
    for spoken in sorted(languages(), key=lambda one: one != language):
        code = spoken if spoken != language else None
        for scope in _wide():
            await _set(bot, _menu(common, spoken), scope, code)
        for admin in admins:
            await _set(bot, _menu(listed, spoken), BotCommandScopeChat(admin), code)


def _wide() -> list[BotCommandScope]:
    return [
        BotCommandScopeDefault(),
        BotCommandScopeAllPrivateChats(),
        BotCommandScopeAllGroupChats(),
        BotCommandScopeAllChatAdministrators(),
    ]


def _menu(commands: Iterable[Command], language: str) -> list[BotCommand]:
    menu = {telegram_name(c.name): c.summary_in(language)[:256] or c.name for c in commands}
    return [BotCommand(name, summary) for name, summary in menu.items()][:MOST]


async def _set(bot: Bot, menu: Sequence[BotCommand], scope: BotCommandScope, language: str | None) -> None:
    try:
        await _patiently(lambda: bot.set_my_commands(menu, scope, language))
    except TelegramError as error:
        logger.warning("the menu of commands for %s could not be set: %s", scope.type, error.message)


async def _patiently(call: Callable[[], Awaitable[object]]) -> None:
    """Call Telegram, waiting as long as it asks a few times: a menu that is not set stays as it was till a restart."""
    for _ in range(MAX_WAITS):
        try:
            await call()
            return
        except RetryAfter as error:
            await asyncio.sleep(retry_seconds(error))
    await call()
