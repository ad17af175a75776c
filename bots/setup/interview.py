"""The interview: question by question to two files, with what is there already as the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bots.setup import trying
from bots.setup.asking import Asking, Check
from bots.setup.present import Present
from bots.setup.writing import PRIVATE, PUBLIC, Value, read_text, with_settings, with_variables, write
from config import checks
from config.sources import Place
from core.errors import ConfigError

PLATFORMS = {"telegram": ("telegram",), "discord": ("discord",), "both": ("telegram", "discord"), "none": ()}
MODELS = ("openai", "server", "local")
DEFAULT_MODEL = "gpt-4o-mini"
EVERY_TERMINAL = "console:*"
ADMINS, ALLOWED = ("access", "admins"), ("access", "allowed")
KEY, URL, NAME = ("model", "api_key"), ("model", "base_url"), ("model", "name")
DATABASE = ("storage", "database_url")


@dataclass(frozen=True)
class Wishes:
    """What was said on the command line: it is taken unasked. `unchecked` takes every answer without trying it."""

    telegram_token: str | None = None
    discord_token: str | None = None
    openai_key: str | None = None
    base_url: str | None = None
    model: str | None = None
    database_url: str | None = None
    admins: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    yes: bool = False
    unchecked: bool = False


def set_up(folder: Path, environ: Mapping[str, str], wishes: Wishes) -> Sequence[str]:
    """Ask, write, and give the lines that say what to do next. Raises KeepmindError where nothing can be asked."""
    present = Present.of(folder, environ)
    interview = Interview(present, wishes, Asking(quiet=wishes.yes))
    interview.run()
    written = _write(present, interview.answers, interview.asking, sure=wishes.yes)
    return [*written, *_next(interview)]


class Interview:
    """Asks in order; `answers` holds what is to be written."""

    def __init__(self, present: Present, wishes: Wishes, asking: Asking) -> None:
        self.asking = asking
        self.answers: dict[Place, Value] = {}
        self.served: Sequence[str] = ()
        self._present, self._wishes = present, wishes

    def run(self) -> None:
        """Ask everything."""
        self._platforms()
        self._model()
        self._database()
        self._people()

    def _platforms(self) -> None:
        ready = tuple(
            name for name in ("telegram", "discord") if self._given(name) or self._present.text((name, "token"))
        )
        usual = next(word for word, names in PLATFORMS.items() if names == ready)
        if usual == "none" and self.asking.in_terminal:
            usual = "telegram"
        given = usual if self._wishes.yes or any(map(self._given, ready)) else None
        self.served = PLATFORMS[self.asking.choose("Where is the bot to talk?", tuple(PLATFORMS), usual, given)]
        for name in self.served:
            self._token(name)

    def _given(self, platform: str) -> str | None:
        return self._wishes.telegram_token if platform == "telegram" else self._wishes.discord_token

    def _token(self, platform: str) -> None:
        ask = trying.telegram_token if platform == "telegram" else trying.discord_token
        where = {"telegram": "from @BotFather", "discord": "from the Bot page of discord.com/developers/applications"}
        api_url, place = self._present.text((platform, "api_url")), (platform, "token")
        self.answers[place] = self.asking.ask(
            f"Token of the {platform.capitalize()} bot, {where[platform]}",
            _needed(self._tried(lambda token: ask(token, api_url)), "the token"),
            given=self._given(platform),
            default=self._present.text(place),
            secret=True,
        )

    def _model(self) -> None:
        url, key = self._present.text(URL), self._present.text(KEY)
        usual = "server" if url else "openai" if key or self.asking.in_terminal else "local"
        given = "server" if self._wishes.base_url else "openai" if self._wishes.openai_key and not url else None
        kind = self.asking.choose(
            "Which model? OpenAI's, another server that speaks the same, or the small local one", MODELS, usual, given
        )
        if kind == "local":
            self.answers |= {URL: "", KEY: "", NAME: ""}
        else:
            self._server(kind)

    def _server(self, kind: str) -> None:
        listed: list[str] = []
        self.answers[URL] = url = self._url(listed) if kind == "server" else ""
        self.answers[KEY] = key = self._key(kind, url, listed)
        wanted = self._present.text(NAME)
        usual = wanted or (listed[0] if listed and DEFAULT_MODEL not in listed else DEFAULT_MODEL)
        check = self._tried(lambda name: trying.model_name(name, key, url))
        self.answers[NAME] = self.asking.ask("Name of the model", check, given=self._wishes.model, default=usual)

    def _url(self, listed: list[str]) -> str:
        check = self._listing(listed, trying.model_server)
        return self.asking.ask(
            "Address of the server, such as http://localhost:11434/v1",
            _needed(check, "the address"),
            given=self._wishes.base_url,
            default=self._present.text(URL),
        )

    def _key(self, kind: str, url: str, listed: list[str]) -> str:
        check = self._listing(listed, lambda key: trying.model_key(key, url))
        return self.asking.ask(
            "API key" if kind == "openai" else "API key, blank for none",
            _needed(check, "the key (sk-…)"),
            given=self._wishes.openai_key,
            default=self._present.text(KEY),
            secret=True,
            optional=kind == "server",
        )

    def _listing(self, listed: list[str], ask: Callable[[str], Sequence[str]]) -> Check:
        def check(answer: str) -> str:
            if self._wishes.unchecked:
                return ""
            listed[:] = ask(answer)
            return _having(len(listed)) if listed else "It answers."

        return check

    def _database(self) -> None:
        self.answers[DATABASE] = self.asking.ask(
            "Database: blank for a SQLite file in the folder of data, else its path or postgresql://user:password@host/name",
            self._tried(trying.database_url),
            given=self._wishes.database_url,
            default=self._present.text(DATABASE),
            secret=True,
            optional=True,
        )

    def _people(self) -> None:
        """Ask for the admins of each platform; those of others stay."""
        present = _names(self._present.text(ADMINS))
        wished = self._wishes.admins
        trying.checked(checks.people, wished)
        admins = [name for name in (*present, *wished) if name.partition(":")[0] not in self.served]
        for platform in self.served:
            mine = [name for name in (*present, *wished) if name.startswith(f"{platform}:")]
            admins += self._admins(platform, list(dict.fromkeys(mine)), given=bool(wished))
        self.answers[ADMINS] = admins
        if self._wishes.allowed:
            allowed = (*_names(self._present.text(ALLOWED) or EVERY_TERMINAL), *self._wishes.allowed)
            self.answers[ALLOWED] = trying.checked(checks.entries, tuple(dict.fromkeys(allowed)))

    def _admins(self, platform: str, known: Sequence[str], *, given: bool) -> Sequence[str]:
        def check(said: str) -> str:
            trying.checked(checks.people, _of(platform, said))
            return ""

        ids = ",".join(name.partition(":")[2] for name in known)
        answer = self.asking.ask(
            f"Your own id on {platform.capitalize()}, a number; blank if you don't know it: the bot will tell you",
            check,
            given=ids if given else None,
            default=ids,
            optional=True,
        )
        return _of(platform, answer)

    def _tried(self, check: Check) -> Check:
        return (lambda _: "") if self._wishes.unchecked else check


def _having(count: int) -> str:
    return "It answers, and has 1 model." if count == 1 else f"It answers, and has {count} models."


def _needed(check: Check, what: str) -> Check:
    def needs(answer: str) -> str:
        if not answer:
            raise ConfigError(f"{what} is needed")
        return check(answer)

    return needs


def _names(text: str) -> list[str]:
    return [part for part in (part.strip() for part in text.split(",")) if part]


def _of(platform: str, ids: str) -> list[str]:
    return [f"{platform}:{number.removeprefix(f'{platform}:')}" for number in _names(ids)]


def _write(present: Present, answers: Mapping[Place, Value], asking: Asking, *, sure: bool) -> Sequence[str]:
    """Write what is new. Raises ConfigError when that is not wanted."""
    changed = {place: value for place, value in answers.items() if not present.is_stored(place, _line(value))}
    variables = {name: value for place in changed for name, value in _named(present, place, changed[place])}
    rest = {place: value for place, value in changed.items() if not present.variables(place)}
    dotenv, toml = read_text(present.dotenv), read_text(present.toml)
    files = [
        (present.dotenv, dotenv, with_variables(dotenv, variables), PRIVATE),
        (present.toml, toml, with_settings(toml, rest, present.toml.name), _mode(present.toml)),
    ]
    new = [(path, text, mode) for path, before, text, mode in files if text != before or not path.exists()]
    there = [path.name for path, _, _ in new if path.exists()]
    if there and not asking.agree(f"Change {' and '.join(there)}? All other lines stay as they are.", sure=sure):
        raise ConfigError("nothing was written; --yes changes what is there")
    write(new)
    with suppress(OSError):  # somebody else's file
        present.dotenv.chmod(PRIVATE)
    return [f"Written: {path} (mode {mode:o})" for path, _, mode in new] or ["Nothing had to be changed."]


def _named(present: Present, place: Place, value: Value) -> Iterator[tuple[str, str]]:
    """Give the variables of `.env` with what they become: the strongest has the value, the others go."""
    for number, name in enumerate(present.variables(place)):
        yield name, "" if number else _line(value)


def _line(value: Value) -> str:
    return value if isinstance(value, str) else ",".join(value)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777 if path.exists() else PUBLIC


def _next(interview: Interview) -> Iterator[str]:
    yield "Next:"
    yield "  keepmind doctor   checks all of it, and tells what is missing"
    if not interview.served:
        yield "  keepmind chat     talks here in the terminal"
        return
    yield f"  keepmind run      serves {' and '.join(name.capitalize() for name in interview.served)}"
    if interview.answers[ADMINS]:
        yield "You are served as an admin. /admin allow CODE lets others in, with the code the bot tells them."
    else:
        yield "Write to the bot: it tells a stranger their id. Then `keepmind init` again makes you its admin."
