"""What the lines typed in the terminal do on the Telegram test server."""

from __future__ import annotations

import mimetypes
import shlex
import zlib
from collections.abc import Callable
from pathlib import Path

from adapters.telegram.server import Chat, Message, TelegramServer, User
from bots.dev.eyes import Eyes
from core.errors import KeepmindError

HELP = """\
A line is a message. What begins with a colon does something else:
:as NAME              speak as another person
:reply TEXT           answer the bot's last message
:edit TEXT            change your last message
:delete               take your last message away
:press NUMBER         press a button of the bot's last message with buttons
:photo FILE [WORDS]   send a picture; :file and :voice likewise
:forward NAME TEXT    forward what somebody said
:save [FILE]          keep the bot's last file
:menu                 show the commands as Telegram lists them
:help                 show this
::TEXT                say something that begins with a colon"""
_FIRST_ID = 5_000_000_001


class Mistyped(KeepmindError):
    """A line that can't be done; its text says why."""


class Hands:
    """Does what one person after the other types, in their private chats or in one group."""

    def __init__(self, server: TelegramServer, eyes: Eyes, who: str, *, group: bool = False) -> None:
        self._server, self._eyes = server, eyes
        self._people: dict[str, User] = {}
        self._said: dict[User, Message] = {}
        self.me = self._person(who)
        self._group = server.supergroup("Group", [self.me]) if group else None
        self._verbs: dict[str, Callable[[str], str | None]] = {
            "as": self._as,
            "reply": self._reply,
            "edit": self._edit,
            "delete": self._delete,
            "press": self._press,
            "photo": self._photo,
            "file": self._file,
            "voice": self._voice,
            "forward": self._forward,
            "save": self._save,
            "menu": self._menu,
            "help": lambda _: HELP,
        }

    @property
    def place(self) -> Chat:
        """Where the person speaks."""
        return self._group or self._server.private(self.me)

    def join(self) -> None:
        """Let the person bring the bot into the group."""
        if self._group is not None:
            self._group.members[self._server.bot.id] = "left"
            self._server.add_bot(self._group, self.me)

    def do(self, line: str) -> str | None:
        """Do what a line says; gives what to print of it. Raises Mistyped."""
        if not line.startswith(":") or line.startswith("::"):
            self._keep(self._server.say(self.me, self.place, line.removeprefix(":")))
            return None
        verb, _, rest = line[1:].partition(" ")
        if verb not in self._verbs:
            raise Mistyped(f":{verb} is not known; :help lists what is")
        try:
            return self._verbs[verb](rest.strip())
        except (LookupError, ValueError, OSError) as error:
            raise Mistyped(f":{verb}: {error.strerror if isinstance(error, OSError) else error.args[0]}") from None

    def _person(self, name: str) -> User:
        """Find somebody, or let them come; the same name is the same person at the next start."""
        if name not in self._people:
            user = self._server.person(name, id=_FIRST_ID + zlib.crc32(name.encode()))
            self._people[name] = user
        return self._people[name]

    def _keep(self, message: Message) -> None:
        self._said[self.me] = message

    def _mine(self) -> Message:
        if self.me not in self._said:
            raise LookupError("you have said nothing yet")
        return self._said[self.me]

    def _as(self, name: str) -> str:
        self.me = self._person(_given(name, "a name"))
        if self._group is not None:
            self._group.members.setdefault(self.me.id, "member")
        return f"You are {name}."

    def _reply(self, text: str) -> None:
        if not self.place.from_bot:
            raise LookupError("the bot has said nothing here yet")
        self._keep(self._server.say(self.me, self.place, _given(text, "words"), reply_to=self.place.from_bot[-1]))

    def _edit(self, text: str) -> None:
        self._server.edit(self._mine(), _given(text, "words"))

    def _delete(self, _: str) -> None:
        self._server.delete(self._mine())
        del self._said[self.me]

    def _press(self, number: str) -> None:
        message = self._eyes.with_buttons()
        if not number.isdecimal() or not 0 < int(number) <= len(message.buttons):
            raise ValueError(f"give a number from 1 to {len(message.buttons)}")
        button = message.buttons[int(number) - 1]
        if "url" in button:
            raise ValueError(f"it opens {button['url']}")
        self._server.press(self.me, message, button["text"])

    def _photo(self, given: str) -> None:
        path, caption = _file_of(given)
        self._keep(self._server.photo(self.me, self.place, path.read_bytes(), caption))

    def _file(self, given: str) -> None:
        path, caption = _file_of(given)
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        self._keep(self._server.document(self.me, self.place, path.name, path.read_bytes(), kind, caption))

    def _voice(self, given: str) -> None:
        path, _ = _file_of(given)
        self._keep(self._server.voice(self.me, self.place, path.read_bytes()))

    def _forward(self, given: str) -> None:
        name, _, text = given.partition(" ")
        origin = self._person(_given(name, "a name"))
        self._keep(self._server.say(self.me, self.place, _given(text, "words"), forward_from=origin))

    def _save(self, given: str) -> str:
        file = self._eyes.file()
        path = Path(given or Path(file.name).name)
        with path.open("xb") as stream:
            stream.write(file.data)
        return f"Saved as {path}."

    def _menu(self, _: str) -> str:
        commands = self._server.menu(self.me, self.place)
        return "\n".join(f"/{one['command']} – {one['description']}" for one in commands)


def _given(text: str, what: str) -> str:
    if not text:
        raise ValueError(f"give {what}")
    return text


def _file_of(given: str) -> tuple[Path, str]:
    name, *words = shlex.split(_given(given, "a file"))
    return Path(name).expanduser(), " ".join(words)
