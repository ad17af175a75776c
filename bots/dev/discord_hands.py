"""What the lines typed in the terminal do on the Discord test server."""

from __future__ import annotations

import zlib
from typing import Any

from adapters.discord.server import Channel, DiscordServer, Message, User
from bots.dev import hands
from bots.dev.discord_eyes import Eyes, fields_of
from bots.dev.hands import Verb, file_of, given, number_of, save

HELP = """\
A line is a message, one that begins with a slash a command, such as /memory view. What begins with a colon does
something else:
:as NAME              speak as another person
:reply TEXT           answer the bot's last message
:edit TEXT            change your last message
:delete               take your last message away
:press NUMBER         press a button of the bot's last message with buttons
:choose NUMBER        choose from the bot's last message with a list
:fill TEXT            send the form that the bot opened
:on NAME              use a command of the menu of your last message
:photo FILE [WORDS]   send a picture; :file and :voice likewise
:thread NAME          open a thread from your last message, and go there; :channel goes back
:save [FILE]          keep the bot's last file
:menu                 show the commands as Discord lists them
:help                 show this
::TEXT                say something that begins with a colon"""
_FIRST_ID, _FIRST_DM, _GUILD, _CHANNEL = (1_200_000_000_000_000_000 + n * 2**33 for n in range(4))
INTEGER, YES_NO, USER, NUMBER, FILE = 4, 5, 6, 10, 11


class Hands(hands.Hands[User, Message]):
    """Does what one person after the other types, in their direct messages or in one channel of a server."""

    help = HELP

    def __init__(self, server: DiscordServer, eyes: Eyes, who: str, *, group: bool = False) -> None:
        self._server, self._eyes = server, eyes
        super().__init__(who)
        self._channel: Channel | None = None
        self._thread: Channel | None = None
        if group:
            guild = server.guild("Server", [self.me], bot=False, id=_GUILD)
            self._channel = server.text_channel(guild, id=_CHANNEL)

    def verbs(self) -> dict[str, Verb]:
        """Give what else can be done, by the words for it."""
        return {
            "as": self._come_as,
            "reply": self._reply,
            "edit": self._edit,
            "delete": self._delete,
            "press": self._press,
            "choose": self._choose,
            "fill": self._fill,
            "on": self._on,
            "photo": self._file,
            "file": self._file,
            "voice": self._voice,
            "thread": self._open_thread,
            "channel": self._leave_thread,
            "save": lambda told: save(self._eyes.file().data, self._eyes.file().name, told),
            "menu": self._menu,
        }

    @property
    def place(self) -> Channel:
        """Where the person speaks."""
        return self._thread or self._channel or self._server.private(self.me)

    def join(self) -> None:
        """Let the person bring the bot into the server."""
        if self._channel is not None and self._channel.guild is not None:
            self._server.add_bot(self._channel.guild)

    def come(self, name: str) -> User:
        """Let somebody be there; the same name is the same person at the next start."""
        number = zlib.crc32(name.encode())
        return self._server.person(name, id=_FIRST_ID + number, dm=_FIRST_DM + number)

    def say(self, text: str) -> Message | None:
        """Say something, with the bot and people called by @NAME; or use a command."""
        if text.startswith("/"):
            self._use(text)
            return None
        return self._server.paste(self.me, self.place, self._called(text))

    def _called(self, text: str) -> str:
        for user in [self._server.bot, *self._people.values()]:
            text = text.replace(f"@{user.display_name or user.name}", user.mention)
        return text

    def _use(self, line: str) -> None:
        shown = self._server.slash(self.me, self.place)
        words = " ".join(line.removeprefix("/").split())
        found = [name for name in shown if f"{words} ".startswith(f"{name} ")]
        if not found:
            raise LookupError("there is no such command; :menu lists what there is")
        name = max(found, key=len)
        options = self._options(shown[name], words[len(name) :].strip())
        self._server.use(self.me, self.place, name, **options)

    def _options(self, declared: list[dict[str, Any]], text: str) -> dict[str, Any]:
        """Read options as they come, the last of them taking all that is left."""
        if text and not declared:
            raise ValueError("it takes nothing more")
        values = text.split(" ", len(declared) - 1) if text else []
        return {option["name"]: self._value(option, value) for option, value in zip(declared, values, strict=False)}

    def _value(self, option: dict[str, Any], text: str) -> Any:
        kind = option["type"]
        if kind == FILE:
            path, _ = file_of(text)
            return self._server.file(self.place, path.name, path.read_bytes())
        if kind == USER:
            return self._people[text.removeprefix("@")]
        kinds: dict[int, Any] = {INTEGER: int, NUMBER: float, YES_NO: lambda word: word.lower() in ("yes", "true")}
        return kinds.get(kind, str)(text)

    def _come_as(self, name: str) -> str:
        told = self._as(name)
        guild = self._channel.guild if self._channel else None
        if guild is not None and self.me.id not in guild.members:
            self._server.join(guild, self.me)
        return told

    def _reply(self, text: str) -> None:
        if not self.place.from_bot:
            raise LookupError("the bot has said nothing here yet")
        words = self._called(given(text, "words"))
        self._keep(self._server.say(self.me, self.place, words, reply_to=self.place.from_bot[-1]))

    def _edit(self, text: str) -> None:
        self._server.edit(self.mine(), self._called(given(text, "words")))

    def _delete(self, _: str) -> None:
        self._server.delete(self.take_back())

    def _press(self, number: str) -> None:
        message = self._eyes.with_buttons()
        button = message.buttons[number_of(number, len(message.buttons)) - 1]
        if "url" in button:
            raise ValueError(f"it opens {button['url']}")
        self._server.press(self.me, message, button["custom_id"])

    def _choose(self, number: str) -> None:
        message = self._eyes.with_choices()
        options = [(select, option) for select in message.selects for option in select.get("options", [])]
        select, option = options[number_of(number, len(options)) - 1]
        self._server.choose(self.me, message, option["value"], select=select["custom_id"])

    def _fill(self, text: str) -> None:
        opened = self._eyes.form()
        assert opened.modal is not None
        labels = [label for label, _ in fields_of(opened.modal["components"])]
        answers = [part.strip() for part in text.split("|")]
        self._server.submit(opened, dict(zip(labels, answers, strict=False)))

    def _on(self, name: str) -> None:
        self._server.use_on(self.me, self.mine(), given(name, "the name of a command"))

    def _file(self, told: str) -> None:
        path, words = file_of(told)
        files = [(path.name, path.read_bytes())]
        self._keep(self._server.say(self.me, self.place, self._called(words), files=files))

    def _voice(self, told: str) -> None:
        path, _ = file_of(told)
        self._keep(self._server.voice(self.me, self.place, path.read_bytes()))

    def _open_thread(self, name: str) -> str:
        message = self.mine()
        if self._channel is None or message.channel is not self._channel:
            raise ValueError("threads are opened in the channel of a server")
        self._thread = self._server.thread(self._channel, given(name, "a name"), self.me, of=message)
        return f"You are in the thread {name}."

    def _leave_thread(self, _: str) -> str:
        self._thread = None
        return "You are in the channel."

    def _menu(self, _: str) -> str:
        slash = (f"/{name}{''.join(map(_named, options))}" for name, options in self._slash())
        menus = (f":on {one['name']}" for one in self._server.menu(self.me, self.place) if one["type"] == 3)
        return "\n".join([*slash, *menus])

    def _slash(self) -> list[tuple[str, list[dict[str, Any]]]]:
        return sorted(self._server.slash(self.me, self.place).items())


def _named(option: dict[str, Any]) -> str:
    name = option["name"].upper()
    return f" {name}" if option.get("required") else f" [{name}]"
