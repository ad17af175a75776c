"""What `keepmind doctor` finds: of sound bots and of broken ones, each with its sentence and its fix."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sqlite3
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from aiohttp import web

from adapters.discord.server import TOKEN as DISCORD_TOKEN
from adapters.discord.server import DiscordServer
from adapters.sql import open_store
from adapters.telegram.health import Health
from adapters.telegram.server import TOKEN, TelegramServer
from bots.doctor import Finding, examine
from bots.doctor.finding import SETTING, refused, worst
from config.settings import load_settings
from core.errors import ConfigError
from tests.adapters.telegram.life import until
from tests.end_to_end.bot import Bot
from tests.end_to_end.model_server import ModelServer
from tests.end_to_end.test_metrics import free_port
from tests.postgresql import Server

Names = dict[str, str]
CALLS = {"match": "function", "calls": [{"name": "note_city", "arguments": {"city": "Rome"}}]}
NOWHERE = "http://127.0.0.1:9"
KEY = "sk-test-0123456789"


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramServer]:
    async with TelegramServer() as server:
        yield server


@pytest.fixture
async def discord() -> AsyncIterator[DiscordServer]:
    async with DiscordServer() as server:
        server.text_channel(server.guild("Club", [server.person("Ann")]))
        yield server


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer([CALLS]) as server:
        yield server


def on_telegram(server: TelegramServer, **more: str) -> Names:
    return {"TELEGRAM_BOT_TOKEN": TOKEN, "TELEGRAM_API_URL": server.url, "KEEPMIND_ADMINS": "telegram:42", **more}


def on_discord(server: DiscordServer, **more: str) -> Names:
    places = {"DISCORD_API_URL": server.api_url, "DISCORD_GATEWAY_URL": server.gateway_url}
    return {"DISCORD_BOT_TOKEN": DISCORD_TOKEN, **places, "KEEPMIND_ADMINS": "discord:42", **more}


def asking(server: ModelServer, **more: str) -> Names:
    return {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY, "KEEPMIND_MODEL": "gpt-4o-mini", **more}


class Page:
    """What was found."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = findings
        assert all(one.fix for one in findings if one.level != "fine")

    def of(self, room: str, about: str) -> Finding:
        """The only finding about something."""
        [found] = self.all_of(room, about)
        return found

    def all_of(self, room: str, about: str) -> list[Finding]:
        """The findings about something."""
        return [one for one in self.findings if (one.room, one.about) == (room, about)]


async def look(folder: Path, names: Names, *, ahead: float = 0.0, seconds: float | None = None) -> Page:
    environ = {"KEEPMIND_DATA_DIR": str(folder / "data"), **names}
    settings = load_settings(environ, folder)
    return Page(await examine(settings, now=lambda: time.time() + ahead, seconds=seconds, listening=1))


def database(folder: Path) -> Path:
    (folder / "data").mkdir(exist_ok=True)
    return folder / "data" / "keepmind.db"


async def test_of_a_sound_bot_everything_is_fine(
    tmp_path: Path, telegram: TelegramServer, discord: DiscordServer, model: ModelServer
) -> None:
    await (await open_store(str(database(tmp_path)))).aclose()
    both = {**on_telegram(telegram), **on_discord(discord), "KEEPMIND_ADMINS": "telegram:42,discord:42"}
    page = await look(tmp_path, {**both, **asking(model)})
    assert [one for one in page.findings if one.level != "fine"] == []
    assert page.of("telegram", "token").says == "It is that of @keepmind_bot (123456789)."
    assert page.of("discord", "token").says.startswith("It is that of Keepmind (")
    assert [one.says for one in page.all_of("machine", "clock")] == [
        "It agrees with Telegram's.",
        "It agrees with Discord's.",
    ]
    assert model.faults == []


async def test_nothing_is_changed_by_looking(tmp_path: Path, telegram: TelegramServer, model: ModelServer) -> None:
    ann = telegram.person("Ann")
    telegram.say(ann, ann, "hello")
    page = await look(tmp_path, {**on_telegram(telegram), **asking(model)})
    assert page.of("telegram", "poller").level == "fine"
    assert len(telegram.api.updates.pending) == 1
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("token", [f"{TOKEN[:-1]}9", "nonsense"])
async def test_a_wrong_token_is_found_and_not_shown(
    tmp_path: Path, telegram: TelegramServer, discord: DiscordServer, token: str
) -> None:
    names = {**on_telegram(telegram), **on_discord(discord), "TELEGRAM_BOT_TOKEN": token, "DISCORD_BOT_TOKEN": token}
    page = await look(tmp_path, names)
    found = page.of("telegram", "token")
    assert (found.level, found.fix) == ("broken", "@BotFather gives the right one.")
    assert "does not know the token in TELEGRAM_BOT_TOKEN" in found.says
    found = page.of("discord", "token")
    assert (found.level, found.fix) == ("broken", "The Bot page of the developer portal gives a new one.")
    assert not any(token in f"{one.says}{one.fix}" for one in page.findings)


async def test_platforms_that_are_down_are_found(
    tmp_path: Path, telegram: TelegramServer, discord: DiscordServer
) -> None:
    names = {**on_telegram(telegram), **on_discord(discord), "TELEGRAM_API_URL": NOWHERE, "DISCORD_API_URL": NOWHERE}
    page = await look(tmp_path, names)
    assert "Telegram can't be reached at 127.0.0.1" in page.of("telegram", "token").says
    assert "Discord's API can't be reached at 127.0.0.1" in page.of("discord", "token").says
    assert "network" in page.of("telegram", "token").fix
    assert "network" in page.of("discord", "token").fix


async def test_a_platform_that_does_not_come_to_an_end_ends_with_its_time(
    tmp_path: Path, telegram: TelegramServer
) -> None:
    telegram.delay("getWebhookInfo", 30)
    page = await look(tmp_path, on_telegram(telegram), seconds=2)
    says = [one.says for one in page.all_of("telegram", "token")]
    assert says == ["It is that of @keepmind_bot (123456789).", "It did not answer within 2 seconds."]


@pytest.mark.parametrize(
    "asked", [{"KEEPMIND_TELEGRAM__GROUP_MODE": "listen"}, {"KEEPMIND_TELEGRAM__GROUP_MODES": "-1=open"}]
)
async def test_privacy_mode_is_found_where_all_is_to_be_heard(tmp_path: Path, asked: Names) -> None:
    async with TelegramServer(privacy=True) as server:
        found = (await look(tmp_path, on_telegram(server, **asked))).of("telegram", "groups")
        assert found.level == "warning"
        assert found.says.startswith("Privacy mode is on")
        assert "/setprivacy" in found.fix
        found = (await look(tmp_path, on_telegram(server))).of("telegram", "groups")
        assert (found.level, found.fix) == ("fine", "")


async def test_a_webhook_of_somebody_else_is_found_and_left(tmp_path: Path, telegram: TelegramServer) -> None:
    await telegram.api.webhook.set("https://other.example/secret-path", "", 40)
    page = await look(tmp_path, on_telegram(telegram))
    found = page.of("telegram", "webhook")
    assert found.level == "warning"
    assert "webhook on other.example" in found.says
    assert "secret-path" not in found.says
    assert page.all_of("telegram", "poller") == []
    assert telegram.api.webhook.url == "https://other.example/secret-path"


async def test_a_webhook_that_telegram_can_not_post_to_is_found(tmp_path: Path, telegram: TelegramServer) -> None:
    url = f"http://127.0.0.1:{free_port()}/telegram"
    port = {"TELEGRAM_WEBHOOK_PORT": str(free_port())}
    names = on_telegram(telegram, TELEGRAM_WEBHOOK_URL=url, TELEGRAM_WEBHOOK_SECRET="a-secret", **port)
    found = (await look(tmp_path, names)).of("telegram", "webhook")
    assert (found.level, found.says) == ("warning", "Telegram does not post to 127.0.0.1 yet.")
    await telegram.api.webhook.set(url, "a-secret", 40)
    ann = telegram.person("Ann")
    telegram.say(ann, ann, "hello")
    await until(lambda: telegram.api.webhook.last_error)
    page = await look(tmp_path, names)
    found = page.of("telegram", "webhook")
    assert found.level == "broken"
    assert "could not post to 127.0.0.1: Connection failed" in found.says
    assert port["TELEGRAM_WEBHOOK_PORT"] in found.fix
    assert page.of("machine", "webhook port").level == "fine"
    with socket.create_server(("0.0.0.0", int(port["TELEGRAM_WEBHOOK_PORT"]))):
        found = (await look(tmp_path, names)).of("machine", "webhook port")
    assert (found.level, "If that is this bot" in found.fix) == ("warning", True)


async def test_another_process_that_asks_is_found(tmp_path: Path, telegram: TelegramServer) -> None:
    async def ask_for_ever() -> None:
        async with Health(TOKEN, telegram.url) as other:
            while True:
                await other.rival(1)
                await asyncio.sleep(0.05)

    asker = asyncio.create_task(ask_for_ever())
    try:
        await until(lambda: telegram.api.updates.polls)
        found = (await look(tmp_path, on_telegram(telegram))).of("telegram", "poller")
    finally:
        asker.cancel()
    assert found.level == "warning"
    assert "409 Conflict" in found.says
    assert "stop the other one" in found.fix


async def test_the_bot_that_runs_here_is_not_disturbed(tmp_path: Path, telegram: TelegramServer) -> None:
    port = str(free_port())
    async with ModelServer([CALLS]) as model:
        names = {**on_telegram(telegram), **asking(model), "KEEPMIND_METRICS__PORT": port}
        async with Bot(model, tmp_path, names).served("telegram"):
            await until(lambda: telegram.api.updates.polls, seconds=30)
            polls = telegram.api.updates.polls
            page = await look(tmp_path, names)
            assert page.of("telegram", "poller").says.startswith("The bot that runs here")
            assert page.of("machine", "metrics").says == f"The bot runs, and serves them on port {port}."
            assert page.of("database", "reached").level == "fine"
            assert telegram.api.updates.polls == polls


@pytest.mark.parametrize(("ahead", "level"), [(0, "fine"), (-30, "warning"), (300, "broken")])
async def test_a_clock_that_is_wrong_is_found(
    tmp_path: Path, telegram: TelegramServer, ahead: float, level: str
) -> None:
    found = (await look(tmp_path, on_telegram(telegram), ahead=ahead)).of("machine", "clock")
    assert found.level == level
    assert level == "fine" or "time synchronisation" in found.fix


async def test_an_intent_that_is_off_is_found(tmp_path: Path) -> None:
    async with DiscordServer(switched_on=()) as server:
        found = (await look(tmp_path, on_discord(server))).of("discord", "intents")
        assert (found.level, found.says[:30]) == ("broken", "Message Content Intent is off,")
        assert str(server.bot.id) in found.fix
        without = on_discord(server, KEEPMIND_DISCORD__MESSAGE_CONTENT="false")
        assert (await look(tmp_path, without)).of("discord", "intents").level == "fine"


async def test_permissions_that_are_missing_are_found_with_the_link_that_gives_them(
    tmp_path: Path, discord: DiscordServer
) -> None:
    guild = discord.guild("Lounge", [discord.person("Bob")])
    guild.roles[guild.id].permissions = 1 << 10
    found = (await look(tmp_path, on_discord(discord))).of("discord", "servers")
    assert found.level == "warning"
    assert "Lounge" in found.says
    assert "send messages, send messages in threads, attach files, read message history" in found.says
    assert f"https://discord.com/oauth2/authorize?client_id={discord.bot.id}" in found.fix
    assert "scope=bot+applications.commands&permissions=309237746688" in found.fix


async def test_a_bot_in_no_server_gets_the_link_of_its_invitation(tmp_path: Path) -> None:
    async with DiscordServer() as server:
        found = (await look(tmp_path, on_discord(server))).of("discord", "servers")
    assert found.level == "warning"
    assert "oauth2/authorize" in found.fix


async def test_a_gateway_that_does_not_greet_is_found(tmp_path: Path, discord: DiscordServer) -> None:
    discord.gateway.is_open = False
    page = await look(tmp_path, on_discord(discord))
    assert [one.level for one in page.all_of("discord", "token")] == ["fine", "broken"]
    assert "Discord's gateway can't be reached" in page.all_of("discord", "token")[1].says


async def test_a_model_that_answers_streams_and_calls_is_found_so(tmp_path: Path, model: ModelServer) -> None:
    page = await look(tmp_path, asking(model))
    for about in ("answers", "streams", "usage", "tools", "context", "tokenizer"):
        assert page.of("model", about).level == "fine"
    assert page.of("model", "context").says == "It holds 128,000 tokens."
    assert model.faults == []


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({"status": 401}, "The model server refused the API key."),
        ({"status": 503}, "fails (503)."),
        ({"status": 404, "body": {"error": {"code": "model_not_found"}}}, "The model 'gpt-4o-mini' is unknown"),
        ({"status": 429, "body": {"error": {"code": "insufficient_quota"}}}, "has no quota left."),
        ({"reply": " "}, "gpt-4o-mini was reached and said nothing."),
    ],
)
async def test_a_model_that_does_not_answer_is_found(tmp_path: Path, rule: dict[str, object], says: str) -> None:
    async with ModelServer([rule]) as server:
        page = await look(tmp_path, asking(server))
    found = page.of("model", "answers")
    assert found.level == "broken"
    assert says in found.says
    assert not any(KEY in f"{one.says}{one.fix}" for one in page.findings)


async def test_a_model_server_that_is_down_is_found(tmp_path: Path) -> None:
    found = (await look(tmp_path, {"OPENAI_BASE_URL": f"{NOWHERE}/v1"})).of("model", "answers")
    assert (found.level, found.fix) == ("broken", "Start it or check OPENAI_BASE_URL.")


async def test_a_model_that_calls_no_tools_is_found(tmp_path: Path) -> None:
    async with ModelServer() as server:
        found = (await look(tmp_path, asking(server))).of("model", "tools")
    assert (found.level, found.says) == ("warning", "It was asked to call a function, and did not.")
    refusal = {
        "match": "function",
        "times": 1,
        "status": 400,
        "body": {"error": {"message": "tools are not supported"}},
    }
    async with ModelServer([refusal]) as server:
        found = (await look(tmp_path, asking(server))).of("model", "tools")
    assert (found.level, found.says) == ("warning", "The server refuses functions.")
    assert "KEEPMIND_MODEL__CALLS_TOOLS=false" in found.fix


async def test_a_context_that_nobody_knows_is_found_until_it_is_told(tmp_path: Path, model: ModelServer) -> None:
    names = asking(model, KEEPMIND_MODEL="our-own")
    found = (await look(tmp_path, names)).of("model", "context")
    assert found.level == "warning"
    assert "8,192 tokens are assumed" in found.says
    found = (await look(tmp_path, {**names, "KEEPMIND_MODEL__CONTEXT": "32000"})).of("model", "context")
    assert (found.level, found.says) == ("fine", "32,000 tokens, by the settings.")


async def test_a_fallback_that_does_not_answer_is_found(tmp_path: Path, model: ModelServer) -> None:
    found = (await look(tmp_path, asking(model, KEEPMIND_MODEL__FALLBACK="spare"))).of("model", "fallback")
    assert (found.level, found.says) == ("fine", "spare answers too.")


async def test_a_cheaper_model_that_does_not_answer_is_found(tmp_path: Path, model: ModelServer) -> None:
    found = (await look(tmp_path, asking(model, KEEPMIND_BUDGET__MODEL="cheap"))).of("model", "cheaper")
    assert (found.level, found.says) == ("fine", "cheap answers too.")


async def test_what_can_not_be_read_of_the_settings_is_to_be_set_right_not_tried_later(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        await look(tmp_path, {"OPENAI_BASE_URL": "nonsense"})
    found = refused("settings", "files", caught.value)
    assert (found.says, found.fix) == (
        "OPENAI_BASE_URL: it must be an address that begins with http:// or https://.",
        SETTING,
    )


async def test_prices_and_budgets_that_are_not_set_are_advised(tmp_path: Path, model: ModelServer) -> None:
    names = asking(model, KEEPMIND_MODEL="m-1", KEEPMIND_BUDGET__MODEL="m-2")
    page = await look(tmp_path, names)
    price, budget = page.of("model", "price"), page.of("model", "budget")
    assert price.level == budget.level == "fine"
    assert price.fix == "Set KEEPMIND_BUDGET__PRICES=m-1=PROMPT/CACHED/COMPLETION,m-2=PROMPT/CACHED/COMPLETION."
    assert budget.says == "None is set: nothing limits what is spent."
    names |= {"KEEPMIND_BUDGET__PRICES": "m=1/0.5/2,m-2=0/0/0", "KEEPMIND_BUDGET__BOT_DAY": "100000"}
    page = await look(tmp_path, names)
    assert page.of("model", "price").says == "The price of m-1, m-2 is known, in USD."
    assert page.of("model", "budget").says == "Tokens at most: the bot a day 100,000."


async def test_without_a_server_the_small_model_is_named(tmp_path: Path) -> None:
    found = (await look(tmp_path, {})).of("model", "answers")
    assert "small local model" in found.says
    assert "OPENAI_API_KEY" in found.fix


async def test_a_database_that_is_not_there_yet_is_fine_and_stays_so(tmp_path: Path) -> None:
    page = await look(tmp_path, {})
    assert page.of("database", "reached").says.endswith("is not there yet; it is made when the bot starts.")
    assert page.of("database", "folder").says.endswith("it is made when the bot starts.")
    assert not (tmp_path / "data").exists()


async def test_a_database_that_is_used_meanwhile_is_fine_and_a_lock_that_lasts_is_found(tmp_path: Path) -> None:
    path = database(tmp_path)
    store = await open_store(str(path))
    assert (await look(tmp_path, {})).of("database", "reached").level == "fine"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    found = (await look(tmp_path, {})).of("database", "reached")
    holder.close()
    await store.aclose()
    assert found.level == "broken"
    assert found.says.endswith("is locked by another program.")
    assert found.fix == "Stop that program, or try again later."


async def test_a_newer_database_is_found(tmp_path: Path) -> None:
    path = database(tmp_path)
    await (await open_store(str(path))).aclose()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE keepmind_version SET version_num = '9999'")
    connection.close()
    found = (await look(tmp_path, {})).of("database", "reached")
    assert found.level == "broken"
    assert "made by a newer Keepmind (schema 9999)" in found.says
    assert found.fix.startswith("Upgrade Keepmind")


@pytest.mark.parametrize("damage", ["all", "some"])
async def test_a_damaged_database_is_found_and_left_as_it_is(tmp_path: Path, damage: str) -> None:
    path = database(tmp_path)
    await (await open_store(str(path))).aclose()
    whole = path.read_bytes()
    sound = 0 if damage == "all" else len(whole) * 3 // 4
    path.write_bytes(whole[:sound] + b"\xa5" * (len(whole) - sound))
    before = path.read_bytes()
    found = (await look(tmp_path, {})).of("database", "reached")
    assert found.level == "broken"
    assert "is not a SQLite database" in found.says if damage == "all" else "is damaged" in found.says
    assert path.read_bytes() == before


async def test_a_database_of_another_program_and_one_that_takes_no_writes_are_found(tmp_path: Path) -> None:
    path = database(tmp_path)
    await (await open_store(str(path))).aclose()
    found = (await look(tmp_path, {"KEEPMIND_DATABASE_URL": f"sqlite:///file:{path}?mode=ro&uri=true"})).of(
        "database", "reached"
    )
    assert (found.level, "is read-only" in found.says) == ("broken", True)
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    found = (await look(tmp_path, {})).of("database", "reached")
    assert (found.level, "belongs to another program" in found.says) == ("broken", True)


async def test_a_database_that_others_can_open_is_found(tmp_path: Path) -> None:
    path = database(tmp_path)
    await (await open_store(str(path))).aclose()
    path.chmod(0o644)
    found = (await look(tmp_path, {})).of("database", "privacy")
    assert (found.level, found.fix) == ("warning", f"chmod 600 {path}")


async def test_a_postgresql_is_looked_at_and_its_password_is_not_shown(tmp_path: Path, postgresql: Server) -> None:
    page = await look(tmp_path, {"KEEPMIND_DATABASE_URL": postgresql.cleared()})
    assert page.of("database", "reached").says.startswith("PostgreSQL ")
    assert page.of("database", "schema").level == "fine"
    away = "postgresql://keepmind:hunter22@127.0.0.1:9/keepmind"
    page = await look(tmp_path, {"KEEPMIND_DATABASE_URL": away})
    assert page.of("database", "reached").level == "broken"
    assert not any("hunter22" in f"{one.says}{one.fix}" for one in page.findings)


@pytest.mark.parametrize(
    ("names", "level", "says"),
    [
        ({"KEEPMIND_ADMINS": ""}, "warning", "On Telegram it is closed to all."),
        ({}, "fine", "On Telegram only admins may talk to it; /admin allow lets others in."),
        ({"KEEPMIND_ALLOWED": "telegram:*"}, "warning", "On Telegram everyone may talk to it, at your cost."),
        ({"KEEPMIND_ALLOWED": "telegram:43"}, "fine", "On Telegram admins and 1 more entry may talk to it."),
    ],
)
async def test_who_may_talk_is_found(
    tmp_path: Path, telegram: TelegramServer, names: Names, level: str, says: str
) -> None:
    page = await look(tmp_path, on_telegram(telegram, **names))
    found = page.of("access", "allowed")
    assert (found.level, found.says) == (level, says)
    assert page.of("access", "admins").level == ("warning" if names.get("KEEPMIND_ADMINS") == "" else "fine")


async def test_whom_an_admin_let_in_counts(tmp_path: Path, telegram: TelegramServer) -> None:
    from datetime import UTC, datetime

    store = await open_store(str(database(tmp_path)))
    await store.allow("telegram:*", "telegram:42", datetime.now(UTC))
    await store.aclose()
    assert (await look(tmp_path, on_telegram(telegram))).of("access", "allowed").level == "warning"


async def test_a_port_of_another_program_is_found(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        found = (await look(tmp_path, {"KEEPMIND_METRICS__PORT": port}, seconds=10)).of("machine", "metrics")
    assert (found.level, found.says) == ("broken", f"Port {port} is taken by another program.")
    assert "KEEPMIND_METRICS__PORT" in found.fix


async def test_a_host_that_is_not_of_this_machine_is_found(tmp_path: Path) -> None:
    names = {"KEEPMIND_METRICS__PORT": str(free_port()), "KEEPMIND_METRICS__HOST": "192.0.2.1"}
    found = (await look(tmp_path, names)).of("machine", "metrics")
    assert found.level == "broken"
    assert "192.0.2.1 can't be listened on" in found.says


async def test_settings_that_name_what_is_not_there_are_found(tmp_path: Path) -> None:
    page = await look(tmp_path, {"KEEPMIND_ENGINE__PERSONA": "nobody"})
    assert "'nobody'" in page.of("settings", "persona").says
    page = await look(tmp_path, {"KEEPMIND_MEMORY__HISTORY": "nothing"})
    assert "'nothing' is not known" in page.of("settings", "memory").says
    assert page.of("settings", "platforms").level == "warning"


async def test_a_server_that_speaks_something_else_is_found(tmp_path: Path) -> None:
    async def chatter(_: web.Request) -> web.Response:
        return web.json_response(["not", "what", "was", "asked"])

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", chatter)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    tokens = {"TELEGRAM_BOT_TOKEN": TOKEN, "DISCORD_BOT_TOKEN": DISCORD_TOKEN}
    places = {"TELEGRAM_API_URL": url, "DISCORD_API_URL": url, "OPENAI_BASE_URL": url}
    try:
        page = await look(tmp_path, {**tokens, **places})
    finally:
        await runner.cleanup()
    for room, about in (("telegram", "token"), ("discord", "token"), ("model", "answers")):
        assert page.of(room, about).level == "broken"
        assert "bug" not in page.of(room, about).says


class Shell:
    """The command, in a folder of its own."""

    def __init__(self, folder: Path, server: ModelServer, names: Names) -> None:
        self.bot = Bot(server, folder, {"KEEPMIND_MODEL": "gpt-4o-mini", **names})

    async def doctor(self, *options: str) -> tuple[int, str]:
        """Run it; give how it ended, and what it printed."""
        done = await self.bot.keepmind("doctor", *options)
        assert done.err == ""
        return done.code, done.out


async def test_the_page_ends_with_0_where_nothing_is_broken_and_strictly_with_1(
    tmp_path: Path, model: ModelServer
) -> None:
    shell = Shell(tmp_path, model, {})
    code, out = await shell.doctor()
    assert code == 0
    assert out.splitlines()[-1].endswith("fine.")
    assert "\x1b" not in out
    assert (await shell.doctor("--strict"))[0] == 1


async def test_what_is_broken_ends_with_1_and_programs_get_json(tmp_path: Path, model: ModelServer) -> None:
    shell = Shell(tmp_path, model, {"TELEGRAM_BOT_TOKEN": TOKEN, "TELEGRAM_API_URL": NOWHERE})
    code, out = await shell.doctor("--json")
    found = json.loads(out)
    assert (code, found["level"]) == (1, "broken")
    assert all(set(one) == {"room", "about", "level", "says", "fix"} for one in found["checks"])
    [token] = [one for one in found["checks"] if (one["room"], one["about"]) == ("telegram", "token")]
    assert token["level"] == "broken"
    assert token["says"].startswith("Telegram can't be reached at 127.0.0.1")
    assert TOKEN not in out


async def test_settings_that_can_not_be_read_are_a_finding(tmp_path: Path, model: ModelServer) -> None:
    code, out = await Shell(tmp_path, model, {"KEEPMIND_WINDOW__HIGH_TURNS": "many"}).doctor("--json")
    assert code == 1
    [found] = json.loads(out)["checks"]
    assert (found["level"], found["fix"]) == ("broken", "It must be a whole number from 1 to 1,000,000.")


async def test_in_a_terminal_it_is_coloured_unless_that_is_not_wanted(tmp_path: Path, model: ModelServer) -> None:
    for names, coloured in (({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False)):
        assert (b"\x1b[" in await _in_a_terminal(Shell(tmp_path, model, names))) is coloured


async def _in_a_terminal(shell: Shell) -> bytes:
    ours, theirs = os.openpty()
    process = await shell.bot.start("-m", "bots", "doctor", terminal=theirs)
    os.close(theirs)
    seen = await asyncio.to_thread(_all_of, ours)
    await process.wait()
    os.close(ours)
    return seen


def _all_of(terminal: int) -> bytes:
    seen = b""
    while True:
        try:
            seen += (piece := os.read(terminal, 4096))
        except OSError:  # the other side has gone
            return seen
        if not piece:
            return seen


def test_the_worst_of_nothing_is_fine() -> None:
    assert worst([]) == "fine"


async def test_a_key_pasted_into_the_wrong_setting_is_not_shown(tmp_path: Path, model: ModelServer) -> None:
    page = await look(tmp_path, asking(model, KEEPMIND_MODEL=KEY))
    assert page.of("model", "answers").says.startswith("[hidden] answered in")
    assert not any(KEY in f"{one.says}{one.fix}" for one in page.findings)
