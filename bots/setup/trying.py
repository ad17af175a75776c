"""Tries what the operator answers: asks the platform, the model server or the database whether it will do."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from pydantic import SecretStr

from bots.doctor.finding import Finding
from bots.doctor.threads import Leaving
from config import checks
from config.settings import Model, Settings
from core.errors import ConfigError, LLMRejected

T = TypeVar("T")
_SECONDS = 60.0


def telegram_token(token: str, api_url: str) -> str:
    """Ask Telegram whose token it is. Raises KeepmindError."""
    from adapters.telegram.adapter import API_URL
    from adapters.telegram.health import Health

    async def asked() -> str:
        async with Health(token, api_url or API_URL) as health:
            return f"It is that of @{(await health.identity()).username}."

    return _done(asked())


def discord_token(token: str, api_url: str) -> str:
    """Ask Discord whose token it is. Raises KeepmindError."""
    from adapters.discord.client import API_URL
    from adapters.discord.health import Health, invite

    async def asked() -> str:
        async with Health(token, api_url or API_URL) as health:
            me = await health.identity()
            switch = "" if me.content else " Turn on MESSAGE CONTENT INTENT on the Bot page of the developer portal."
            return f"It is that of {me.name}.{switch} Invite it to a server: {invite(me.id)}"

    return _done(asked())


def model_server(url: str) -> Sequence[str]:
    """Ask a model server which models it has; that it wants a key is no fault. Raises KeepmindError."""
    from adapters.openai.listing import models

    try:
        return _done(models("", checked(checks.web_address, url)))
    except LLMRejected:
        return ()


def model_key(key: str, base_url: str) -> Sequence[str]:
    """Ask a model server which models a key opens. Raises KeepmindError."""
    from adapters.openai.listing import models

    return _done(models(key, base_url or None))


def model_name(name: str, key: str, base_url: str) -> str:
    """Ask a model for an answer and for a call of a function. Raises KeepmindError."""
    from bots.doctor.model import look_server

    chosen = Model(name=name, api_key=SecretStr(key) if key else None, base_url=base_url or None)

    async def asked() -> list[Finding]:
        return [finding async for finding in look_server(Settings(model=chosen))]

    found = _done(asked())
    if found[0].level == "broken":
        raise ConfigError(f"{found[0].says} {found[0].fix}")
    return " ".join([found[0].says, *(one.says for one in found[1:] if one.level != "fine")])


def database_url(url: str) -> str:
    """Look whether a database can be used. Raises KeepmindError."""
    from adapters.sql.health import examine, file_of, place

    checked(checks.database, SecretStr(url))
    health = _done(examine(url))
    if health is not None:
        return f"{health.engine} at {place(url)} can be used."
    file = file_of(url)
    if file is not None and not file.parent.is_dir():
        raise ConfigError(f"The folder {file.parent} does not exist; create it or name another")
    return f"{place(url)} is made when the bot starts."


def checked(check: Any, value: Any) -> Any:
    """Take a value as the settings would. Raises ConfigError."""
    try:
        return check(value)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _done(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(_in_time(work))


async def _in_time(work: Coroutine[Any, Any, T]) -> T:
    asyncio.get_running_loop().set_default_executor(Leaving())
    try:
        async with asyncio.timeout(_SECONDS):
            return await work
    except TimeoutError:
        raise ConfigError(f"there was no answer within {_SECONDS:g} seconds; try again") from None
