"""Parse modes: HTML, MarkdownV2 and the old Markdown, with the errors Telegram gives."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator

from adapters.telegram.server.entities import in_order
from adapters.telegram.server.refusals import Json, Refusal, bad_request
from core.text.splitting import utf16_length

_TAG = re.compile(r"<(?P<end>/?)(?P<name>[a-zA-Z0-9-]*)(?P<rest>[^<>]*)>")
_TAGS = {
    **dict.fromkeys(("b", "strong"), "bold"),
    **dict.fromkeys(("i", "em"), "italic"),
    **dict.fromkeys(("u", "ins"), "underline"),
    **dict.fromkeys(("s", "strike", "del"), "strikethrough"),
    **dict.fromkeys(("span", "tg-spoiler"), "spoiler"),
    "a": "text_link",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "tg-emoji": "custom_emoji",
}
_MARKS = {"*": "bold", "_": "italic", "__": "underline", "~": "strikethrough", "||": "spoiler", "[": "text_link"}
_NAMES = {"text_link": "TextUrl", "pre": "Pre"}
_CODE = {"`": re.compile(r"((?:\\.|[^\\`])*)`", re.S), "```": re.compile(r"((?:\\.|(?!```).)*)```", re.S)}
_RESERVED = "_*[]()~`>#+-=|{}.!"


def parse(text: str, mode: str) -> tuple[str, list[Json]]:
    """Turn marked-up text into plain text and entities. Raises Refusal."""
    parsers: dict[str, Callable[[str], tuple[str, list[Json]]]] = {
        "html": _html,
        "markdownv2": lambda text: _MarkdownV2(text).parse(),
        "markdown": _markdown,
    }
    parser = parsers.get(mode.lower())
    if parser is None:
        raise bad_request("unsupported parse_mode")
    return parser(text)


def _unparsable(reason: str) -> Refusal:
    return bad_request(f"can't parse entities: {reason}")


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _html(text: str) -> tuple[str, list[Json]]:
    plain, entities, open_tags, at = "", [], list[tuple[str, Json]](), 0
    while (found := text.find("<", at)) >= 0:
        plain += html.unescape(text[at:found])
        tag, place = _TAG.match(text, found), _bytes(text[:found])
        if tag is None or not (tag["name"] or tag["end"]):
            raise _unparsable(f'Unsupported start tag "{text[found + 1 : found + 9]}" at byte offset {place}')
        if tag["end"]:
            entities.append(_closed(tag["name"].lower(), open_tags, place, utf16_length(plain)))
        else:
            open_tags.append((tag["name"].lower(), _opened(tag, place, utf16_length(plain))))
        at = tag.end()
    if open_tags:
        raise _unparsable(f'Can\'t find end tag corresponding to start tag "{open_tags[-1][0]}"')
    return plain + html.unescape(text[at:]), in_order(_code_joined(entity for entity in entities if entity["length"]))


def _code_joined(entities: Iterable[Json]) -> Iterator[Json]:
    """Make one of a code in a pre of the same place, as Telegram does; a code by itself has no language."""
    inner: Json = {}
    for entity in entities:
        same = (entity["offset"], entity["length"]) == (inner.get("offset"), inner.get("length"))
        if inner and same and entity["type"] == "pre":
            yield inner | {"type": "pre"}
            inner = {}
            continue
        if inner:
            yield {name: value for name, value in inner.items() if name != "language"}
        inner = entity if entity["type"] == "code" else {}
        if not inner:
            yield entity
    if inner:
        yield {name: value for name, value in inner.items() if name != "language"}


def _opened(tag: re.Match[str], place: int, offset: int) -> Json:
    name, rest = tag["name"].lower(), tag["rest"]
    if name not in _TAGS or (name == "span" and "tg-spoiler" not in rest):
        raise _unparsable(f'Unsupported start tag "{name}" at byte offset {place}')
    entity: Json = {"type": _TAGS[name], "offset": offset}
    if name == "a" and (link := re.search(r"href\s*=\s*[\"']?([^\"'\s]+)", rest)):
        entity["url"] = html.unescape(link[1])
    if name == "code" and (language := re.search(r"language-([^\"'\s]+)", rest)):
        entity["language"] = language[1]
    if name == "blockquote" and "expandable" in rest:
        entity["type"] = "expandable_blockquote"
    return entity


def _closed(name: str, open_tags: list[tuple[str, Json]], place: int, offset: int) -> Json:
    if not open_tags:
        raise _unparsable(f"Unexpected end tag at byte offset {place}")
    expected, entity = open_tags.pop()
    if name not in ("", expected):
        raise _unparsable(f'Unmatched end tag at byte offset {place}, expected "</{expected}>", found "</{name}>"')
    return entity | {"length": offset - entity["offset"]}


def _markdown(text: str) -> tuple[str, list[Json]]:
    plain, entities, at = "", [], 0
    while at < len(text):
        char = text[at]
        if char == "\\" and text[at + 1 : at + 2] in tuple("_*`["):
            plain, at = plain + text[at + 1], at + 2
        elif char in "_*`[":
            mark = "```" if text.startswith("```", at) else char
            end = text.find("]" if mark == "[" else mark, at + len(mark))
            if end < 0:
                raise _unparsable(f"Can't find end of the entity starting at byte offset {_bytes(text[:at])}")
            inner = text[at + len(mark) : end]
            kind = {"_": "italic", "*": "bold", "`": "code", "```": "pre", "[": "text_link"}[mark]
            entity: Json = {"type": kind, "offset": utf16_length(plain), "length": utf16_length(inner)}
            plain, at = plain + inner, end + (1 if mark == "[" else len(mark))
            if mark == "[" and (link := re.compile(r"\(([^)]*)\)").match(text, at)):
                entity["url"], at = link[1], link.end()
            if mark != "[" or "url" in entity:
                entities.append(entity)
        else:
            plain, at = plain + char, at + 1
    return plain, in_order(entity for entity in entities if entity["length"])


class _MarkdownV2:
    """One text being parsed; the rules are those of the Bot API's page on formatting."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.plain = text, 0, ""
        self.open: list[tuple[str, Json, int]] = []
        self.entities: list[Json] = []

    def parse(self) -> tuple[str, list[Json]]:
        """Read all of it."""
        while self.at < len(self.text):
            self._step()
        self._end_of_line(last=True)
        if self.open:
            raise self._unended()
        return self.plain, in_order(entity for entity in self.entities if entity["length"])

    def _unended(self) -> Refusal:
        _, entity, place = self.open[-1]
        name = _NAMES.get(entity["type"], entity["type"].capitalize())
        return _unparsable(f"Can't find end of {name} entity at byte offset {place}")

    def _step(self) -> None:
        char, following = self.text[self.at], self.text[self.at + 1 : self.at + 2]
        if char == "\\" and following and 0 < ord(following) < 127:
            self._take(following, 2)
        elif char == "`":
            self._code()
        elif char == "\n":
            self._end_of_line()
            self._take(char, 1)
        elif char not in _RESERVED:
            self._take(char, 1)
        elif char == ">" and (not self.plain or self.plain.endswith("\n")):
            self._quote()
        elif char == "]" and self.open and self.open[-1][0] == "[":
            self._link()
        else:
            self._mark(char)

    def _take(self, plain: str, width: int) -> None:
        self.plain, self.at = self.plain + plain, self.at + width

    def _mark(self, char: str) -> None:
        mark = next((mark for mark in ("__", "||", "_", "*", "~", "[") if self.text.startswith(mark, self.at)), "")
        if not mark:
            raise _unparsable(f"Character '{char}' is reserved and must be escaped with the preceding '\\'")
        if self.open and self.open[-1][0] == mark and mark != "[":
            self._close({})
        elif any(other == mark for other, _, _ in self.open):
            raise self._unended()
        else:
            self._begin(mark, _MARKS[mark])
        self.at += len(mark)

    def _begin(self, mark: str, kind: str) -> None:
        entity = {"type": kind, "offset": utf16_length(self.plain)}
        self.open.append((mark, entity, _bytes(self.text[: self.at])))

    def _close(self, more: Json) -> None:
        _, entity, _ = self.open.pop()
        self.entities.append(entity | {"length": utf16_length(self.plain) - entity["offset"]} | more)

    def _code(self) -> None:
        mark = "```" if self.text.startswith("```", self.at) else "`"
        self._begin(mark, "pre" if mark == "```" else "code")
        code = _CODE[mark].match(self.text, self.at + len(mark))
        if code is None:
            raise self._unended()
        body, more = code[1], {}
        if mark == "```" and (language := re.match(r"([^\s`]+)\n", body)):
            body, more = body[language.end() :], {"language": language[1]}
        self.plain += re.sub(r"\\(.)", r"\1", body, flags=re.S)
        self._close(more)
        self.at = code.end()

    def _link(self) -> None:
        link = re.compile(r"\]\(((?:\\.|[^\\)])*)\)", re.S).match(self.text, self.at)
        if link is None and self.text.startswith("](", self.at):
            raise _unparsable(f"Can't find end of a URL at byte offset {_bytes(self.text[: self.at])}")
        if link is None:
            self.open.pop()
            self.at += 1
            return
        self._close({"url": re.sub(r"\\(.)", r"\1", link[1])})
        self.at = link.end()

    def _quote(self) -> None:
        if not any(mark == ">" for mark, _, _ in self.open):
            self._begin(">", "blockquote")
        self.at += 1

    def _end_of_line(self, last: bool = False) -> None:
        if self.open and self.open[-1][0] == ">" and (last or self.text[self.at + 1 : self.at + 2] != ">"):
            self._close({})
