"""What can be set: every setting with its default, its allowed range and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from platformdirs import user_data_path
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from config import checks
from config.complaint import complaint
from config.section import Kind, Kinds, Names, Section
from config.sources import read
from core.errors import ConfigError

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Minutes = Annotated[float, Field(gt=0, le=525_600)]
Url = Annotated[str, AfterValidator(checks.web_address), Field(json_schema_extra={"writeOnly": True})]


class Model(Section):
    """Which language model answers, and how it is asked."""

    api_key: SecretStr | None = Field(None, description="Key of the model server (OPENAI_API_KEY).")
    base_url: Url | None = Field(None, description="Address of an OpenAI-compatible server (OPENAI_BASE_URL).")
    name: str | None = Field(
        None, description="Model to ask (KEEPMIND_MODEL); blank: gpt-4o-mini, or local without a server."
    )
    fallback: str | None = Field(None, description="Model to ask when the first one is unavailable.")
    context: int | None = Field(
        None, ge=512, le=100_000_000, description="Size of the context in tokens; blank: known or asked."
    )
    reply_tokens: int | None = Field(
        None,
        ge=16,
        le=1_000_000,
        description="Most tokens of one answer; blank: 1024, or 256 of the small local model.",
    )
    temperature: float | None = Field(None, ge=0, le=2, description="How freely it writes; blank: the server's own.")
    silence_seconds: Seconds = Field(60, description="How long a stream may be silent before it counts as broken.")
    calls_tools: Literal["auto"] | bool = Field("auto", description="Whether the model can call tools.")
    retry_seconds: float = Field(60, ge=0, le=3600, description="How long one request is retried in all.")
    transcription: str = Field(
        "whisper-1", description="Model of the same server that writes down recordings; off: none is heard."
    )

    @property
    def embedded(self) -> bool:
        """Whether no server is named, so that the small local model answers."""
        return self.api_key is None and self.base_url is None

    @property
    def longest_reply(self) -> int:
        """Most tokens of one answer; so small a model wanders in circles until it is stopped."""
        return self.reply_tokens or (256 if self.embedded else 1024)

    @property
    def hears(self) -> bool:
        """Whether recordings are written down."""
        return not self.embedded and self.transcription.lower() != "off"

    @property
    def chosen(self) -> str:
        """The model to ask."""
        return self.name or ("local" if self.embedded else "gpt-4o-mini")


class Memory(Section):
    """Which kinds of memory are used; a custom one is named `package.module:Class`."""

    history: Kind = Field(
        "keepmind",
        description="Its kind of history: keepmind, none, buffer, window, token_window, summary, summary_buffer, tree.",
    )
    beside: Kinds = Field(("profile",), description="Kinds of memory beside it.")
    chats: Annotated[Names, AfterValidator(checks.chat_kinds)] = Field(
        (), description="Chats and topics with a kind of history of their own, such as telegram:42=window."
    )
    personas: Annotated[Names, AfterValidator(checks.persona_kinds)] = Field(
        (), description="Personas with a kind of history of their own, such as small=token_window."
    )
    window_turns: Count = Field(20, description="Turns that a window shows.")
    window_tokens: Count = Field(3000, description="Tokens that a token_window or a tree shows.")
    buffer_tokens: Count = Field(2000, description="Tokens above which a summary_buffer folds its raw turns.")
    buffer_turns: int = Field(
        0, ge=0, le=1_000_000, description="Turns above which it folds them as well; 0: any number."
    )
    buffer_keep: int = Field(2, ge=0, le=1_000_000, description="Turns that stay raw when it has folded.")
    entities: bool = Field(
        False, description="Whether what was said of people, places and things comes back when they are named again."
    )
    archive: bool = Field(False, description="Whether all that was ever said here is searched when it is asked for.")
    embeddings: str = Field(
        "off",
        description="Model by which it is found in other words too: local (keepmind[embeddings]), one of the model "
        "server's, or off.",
    )

    @property
    def searches(self) -> bool:
        """Whether what is said is looked for on the way to an answer, so that its terms are kept as it is said."""
        wanted = {"archive", "entities"}
        return self.archive or self.entities or not wanted.isdisjoint(self.beside)


class Window(Section):
    """How many recent turns are shown to the model word for word."""

    high_turns: Count = Field(60, description="Turns at which older ones are folded into the summary.")
    low_turns: Count = Field(24, description="Turns that stay after folding.")
    high_tokens: Count = Field(6000, description="Tokens at which older turns are folded.")
    low_tokens: Count = Field(3000, description="Tokens that stay after folding.")
    idle_turns: int = Field(8, ge=0, le=1_000_000, description="Turns that stay once a chat has gone quiet.")
    idle_minutes: Minutes = Field(30, description="Minutes of quiet after which a chat is folded to that.")

    @model_validator(mode="after")
    def _low_is_lower(self) -> Window:
        checks.ordered(self, "window", "low_turns", "high_turns")
        checks.ordered(self, "window", "low_tokens", "high_tokens")
        return self


class Summary(Section):
    """How older turns are folded."""

    segment_tokens: int = Field(300, ge=50, le=100_000, description="Most tokens of the summary of one range.")
    merge_tokens: int = Field(2400, ge=100, le=1_000_000, description="Tokens at which summaries are merged.")
    whole_tokens: int = Field(
        600, ge=50, le=100_000, description="Most tokens of the one summary of a summary or a summary_buffer."
    )
    form: str = Field(
        "en",
        description="How the model is asked for that one: en, zh, or a text file with {summary} and {new_lines} in it.",
    )

    @model_validator(mode="after")
    def _merges_several(self) -> Summary:
        checks.ordered(self, "summary", "segment_tokens", "merge_tokens")
        return self


class Profile(Section):
    """Which facts about a person are kept."""

    fields: Names = Field(
        (
            "name",
            "gender",
            "birth_date",
            "age",
            "city",
            "language",
            "time_zone",
            "habits",
            "interests",
            "hobbies",
        ),
        description="Facts the bot is asked to keep.",
    )
    single: Names = Field(
        ("name", "gender", "birth_date", "age", "city", "language", "time_zone"),
        description="Facts with one value, where a newer value supersedes the older.",
    )
    max_keys: int = Field(64, ge=1, le=10_000, description="Most facts of one person.")
    max_value: int = Field(500, ge=1, le=100_000, description="Most characters of one value.")
    max_total: int = Field(8000, ge=1, le=10_000_000, description="Most characters of all facts of one person.")
    extraction: Literal["auto", "tools", "schema", "form", "off"] = Field(
        "auto", description="How facts are taken: by tool calls, by a constrained request, by a simpler one, or not."
    )


class Engine(Section):
    """How messages are answered."""

    name: str = Field("Keepmind", description="What the bot is called.")
    persona: str = Field("default", description="Who the bot is: a file of config/personas, or a path.")
    personas: Annotated[Names, AfterValidator(checks.places)] = Field(
        (),
        description="Platforms, chats and topics with a persona of their own, such as telegram:-1001502049385=tutor.",
    )
    commands: Annotated[Names, AfterValidator(checks.functions)] = Field(
        (), description="Commands of your own, each written package.module:function."
    )
    time_zone: Annotated[str, AfterValidator(checks.time_zone)] = Field(
        "UTC", description="Time zone of people whose own is not known."
    )
    language: Annotated[str, AfterValidator(checks.language)] = Field(
        "en", description="Language of the bot's own sentences for people whose own is not known: en, ru or zh."
    )
    tool_rounds: int = Field(5, ge=0, le=50, description="Most rounds of tool calls in one turn.")
    parallel: int = Field(32, ge=1, le=10_000, description="Chats answered at the same time.")
    quiet_seconds: float = Field(0.6, ge=0, le=60, description="Quiet that ends a burst of one sender.")
    max_burst_seconds: float = Field(3, ge=0, le=300, description="Longest burst answered as one turn.")
    open_turn_minutes: Minutes = Field(360, description="Age at which a turn left open is closed, not answered.")
    stop_seconds: float = Field(
        10, ge=0, le=3600, description="Seconds for what is in progress when the process is told to stop."
    )
    person_messages_per_minute: int = Field(
        20, ge=0, le=100_000, description="Messages one person may send in a minute; 0: any number."
    )
    chat_messages_per_minute: int = Field(
        40, ge=0, le=100_000, description="Messages to the bot in one chat in a minute; 0: any number."
    )


Tokens = Annotated[int, Field(ge=0, le=10**15)]


class Budget(Section):
    """How many tokens may be spent, asked and answered; 0 is any number. Days are those of engine.time_zone."""

    person_day: Tokens = Field(0, description="Tokens of one person in a day; admins are not held to it.")
    person_month: Tokens = Field(0, description="Tokens of one person in a month; admins are not held to it.")
    chat_day: Tokens = Field(0, description="Tokens in one chat in a day; admins are not held to it.")
    chat_month: Tokens = Field(0, description="Tokens in one chat in a month; admins are not held to it.")
    bot_day: Tokens = Field(0, description="Tokens of the whole bot in a day, admins included.")
    bot_month: Tokens = Field(0, description="Tokens of the whole bot in a month, admins included.")
    near: float = Field(0.8, gt=0, le=1, description="Part of a limit from which on the bot saves.")
    near_tokens: int = Field(
        3000, ge=0, le=100_000_000, description="Most tokens of a prompt from then on; 0: as many as ever."
    )
    model: str | None = Field(
        None, description="Cheaper model of the same server that is asked from then on; blank: the same."
    )
    prices: Annotated[Names, AfterValidator(checks.prices)] = Field(
        (),
        description="Prices of a million tokens: MODEL=PROMPT/CACHED/COMPLETION, such as gpt-4o-mini=0.15/0.075/0.6.",
    )
    currency: str = Field("USD", max_length=10, description="What the prices are in.")
    keep_days: int = Field(
        92, ge=31, le=36_500, description="Days for which it is kept what was spent, by whom and where."
    )


class Access(Section):
    """Who may talk to the bot, and who is its admin."""

    admins: Annotated[Names, AfterValidator(checks.people)] = Field(
        (), description="Admins (KEEPMIND_ADMINS), such as telegram:42."
    )
    allowed: Annotated[Names, AfterValidator(checks.entries)] = Field(
        ("console:*",), description="People, chats and servers that may talk (KEEPMIND_ALLOWED); * is everyone."
    )


class Clock(Section):
    """When the work in the background runs."""

    interval_seconds: Seconds = Field(60, description="Seconds between two looks for work.")
    job_seconds: Seconds = Field(120, description="Longest time of one job.")


class Storage(Section):
    """Where everything is kept."""

    data_dir: Annotated[Path, AfterValidator(checks.folder)] = Field(
        default_factory=lambda: user_data_path("keepmind"),
        description="Folder of data (KEEPMIND_DATA_DIR); blank: the user's own.",
    )
    database_url: Annotated[SecretStr, AfterValidator(checks.database)] | None = Field(
        None,
        description="Path of a SQLite file, or postgresql://… (KEEPMIND_DATABASE_URL); blank: SQLite in that folder.",
    )

    @property
    def url(self) -> str:
        """The database: a SQLAlchemy URL, or the path of a SQLite file."""
        return self.database_url.get_secret_value() if self.database_url else f"sqlite:///{self.data_dir}/keepmind.db"


class Log(Section):
    """What the log says, on standard error."""

    level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR"], BeforeValidator(checks.upper)] | None = Field(
        None, description="Least level (KEEPMIND_LOG_LEVEL); blank: INFO, in a terminal chat ERROR."
    )
    format: Literal["console", "json"] = Field("console", description="For people or for programs.")


class Metrics(Section):
    """Measures for Prometheus, with /healthz and /readyz beside /metrics."""

    port: int | None = Field(None, ge=0, le=65_535, description="Port to serve them on; blank: they are not kept.")
    host: str = Field("127.0.0.1", description="Address to listen on; 0.0.0.0 in a container.")


class Telegram(Section):
    """The Telegram bot."""

    token: SecretStr | None = Field(None, description="Token from @BotFather (TELEGRAM_BOT_TOKEN).")
    api_url: Url | None = Field(
        None, description="Address of a Bot API server of one's own (TELEGRAM_API_URL); blank: Telegram's."
    )
    webhook_url: Url | None = Field(
        None, description="Address that Telegram posts to (TELEGRAM_WEBHOOK_URL); blank: it is asked by polling."
    )
    webhook_secret: Annotated[SecretStr, AfterValidator(checks.webhook_secret)] | None = Field(
        None, description="Secret that shows a post to be Telegram's (TELEGRAM_WEBHOOK_SECRET)."
    )
    webhook_port: int = Field(
        8080, ge=1, le=65_535, description="Port to listen on behind the proxy (TELEGRAM_WEBHOOK_PORT)."
    )
    group_mode: Literal["mention", "listen", "open", "off"] = Field(
        "mention", description="Whether groups are answered when it is mentioned, heard as well, always or never."
    )
    group_modes: Annotated[Names, AfterValidator(checks.group_modes)] = Field(
        (), description="Groups and topics with a mode of their own, such as -1001502049385=open."
    )
    private_edit_seconds: Seconds = Field(1, description="Least time between two changes of a growing answer.")
    group_edit_seconds: Seconds = Field(4, description="The same in groups, where 20 messages a minute are allowed.")
    conflict_seconds: Seconds = Field(
        10, description="Time after which a process that has just begun gives way to another with the same token."
    )

    @model_validator(mode="after")
    def _webhook_is_secret(self) -> Telegram:
        if self.webhook_url and not self.webhook_secret:
            raise ValueError(
                "TELEGRAM_WEBHOOK_SECRET must be set with telegram.webhook_url, so that only Telegram posts"
            )
        return self


class Discord(Section):
    """The Discord bot."""

    token: SecretStr | None = Field(None, description="Token of the application's bot (DISCORD_BOT_TOKEN).")
    api_url: Url | None = Field(
        None, description="Address of a REST proxy or test server (DISCORD_API_URL); blank: Discord's."
    )
    gateway_url: Annotated[str, AfterValidator(checks.gateway_address)] | None = Field(
        None, description="Address of its gateway (DISCORD_GATEWAY_URL); blank: Discord's."
    )
    message_content: bool = Field(
        True, description="Whether the text of all messages is asked for, a switch in the developer portal."
    )
    guild: int | None = Field(
        None, ge=1, description="The one server whose slash commands are set, to try them; blank: everywhere."
    )
    channel_mode: Literal["mention", "listen", "open", "off"] = Field(
        "mention", description="Whether channels are answered when it is mentioned, heard as well, always or never."
    )
    channel_modes: Annotated[Names, AfterValidator(checks.channel_modes)] = Field(
        (), description="Servers, channels and threads with a mode of their own, such as 1187301234567890123=open."
    )
    threads: bool = Field(False, description="Whether each conversation that begins in a channel gets a thread.")
    bots: int = Field(
        0, ge=0, le=100, description="How often in a row other bots that mention it are answered; 0: never."
    )
    away_hours: float = Field(24, ge=0, le=8760, description="Age of the oldest message fetched after an absence.")
    away_messages: int = Field(100, ge=0, le=10_000, description="Most such messages of one chat; 0: none.")
    code_file: int = Field(
        0, ge=0, le=1_000_000, description="Characters above which code is sent as a file; 0: it is cut like the rest."
    )
    edit_seconds: Seconds = Field(1.2, description="Least time between two changes of a growing answer.")

    @model_validator(mode="after")
    def _modes_can_hear(self) -> Discord:
        modes = {self.channel_mode, *(entry.partition("=")[2] for entry in self.channel_modes)}
        if not self.message_content and modes & {"listen", "open"}:
            raise ValueError(
                "discord.message_content must be true for channels whose mode is listen or open, or they can't be heard"
            )
        return self


class Settings(Section):
    """All settings. Made without arguments it is the defaults; `load_settings` reads what the operator wrote."""

    model: Model = Field(default_factory=Model)
    memory: Memory = Field(default_factory=Memory)
    window: Window = Field(default_factory=Window)
    summary: Summary = Field(default_factory=Summary)
    profile: Profile = Field(default_factory=Profile)
    engine: Engine = Field(default_factory=Engine)
    budget: Budget = Field(default_factory=Budget)
    access: Access = Field(default_factory=Access)
    clock: Clock = Field(default_factory=Clock)
    storage: Storage = Field(default_factory=Storage)
    log: Log = Field(default_factory=Log)
    metrics: Metrics = Field(default_factory=Metrics)
    telegram: Telegram = Field(default_factory=Telegram)
    discord: Discord = Field(default_factory=Discord)


def load_settings(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Read the settings: the environment before `.env` before the TOML file, over the defaults.

    Raises ConfigError naming the setting as it was written.
    """
    given = read(environ, folder or Path.cwd())
    try:
        return Settings.model_validate(given.values)
    except ValidationError as error:
        sentence = complaint(Settings, error, given.written)
    raise ConfigError(sentence)
