"""A scripted, strict model server over OpenAI's chat completions; a fixture (`ModelServer`) and a program.

    python tests/end_to_end/model_server.py --port 0 --script rules.json --journal requests.jsonl

A rule is a JSON object; the first whose conditions all hold is followed, at most `times` times:
`match` (regular expression on the last user message), `after` (on the tool result it answers; without it a rule is
only for people's messages), `purpose` (answer, summary, extract, transcribe). It gives `reply` (\\1 is the first
group) or `calls` ([{"name": …, "arguments": {…}}]), with `finish`; or `status`, `body` and `headers`; before that it
may `delay` or `hang` (seconds), each word takes `pace` seconds, and it may `cut` the stream after so many characters.
With no rule: `You said: …`.

A recording is OGG or MP3, by name and by its first bytes; what follows them is heard as text, unless a rule of the
purpose `transcribe` says otherwise.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from aiohttp import web

Body = dict[str, Any]
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_RECORDINGS = {"ogg": b"Ogg", "oga": b"Ogg", "mp3": b"ID3"}


class ModelServer:
    """Serves while it is entered. `rules` may be changed meanwhile; `journal` holds every request with its verdicts.

    A request with a fault is answered with 400, as strict servers do, unless `lenient`.
    """

    def __init__(
        self, rules: list[Body] | None = None, *, port: int = 0, journal: Path | None = None, lenient: bool = False
    ) -> None:
        self.rules = rules if rules is not None else []
        self.journal: list[Body] = []
        self.url = ""
        self._port, self._file, self._lenient = port, journal, lenient
        self._used: dict[int, int] = {}
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_post("/v1/audio/transcriptions", self._transcribe)
        app.router.add_get("/v1/models", _models)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    @property
    def faults(self) -> list[str]:
        """All that was wrong with any request so far."""
        return [fault for entry in self.journal for fault in entry["faults"]]

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body: Body = await request.json()
        faults = list(faults_of(body))
        rule, found = self._rule_for(body)
        self._note({"purpose": purpose_of(body), "rule": rule, "faults": faults, "request": body})
        if faults and not self._lenient:
            error = {"message": "; ".join(faults), "type": "invalid_request_error"}
            return web.json_response({"error": error}, status=400)
        await asyncio.sleep(float(rule.get("delay", 0)) + float(rule.get("hang", 0)))
        if "status" in rule:
            return web.json_response(rule.get("body", {}), status=rule["status"], headers=rule.get("headers"))
        return await _answer(request, body, rule, message_of(rule, found, body))

    async def _transcribe(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form.get("file")
        data = file.file.read() if isinstance(file, web.FileField) else b""
        name = file.filename if isinstance(file, web.FileField) else ""
        body = {"model": form.get("model"), "recording": name, "messages": [{"role": "user", "content": heard(data)}]}
        rule, found = self._rule_for(body)
        faults = [] if body["model"] else ["no model is named"]
        self._note({"purpose": "transcribe", "rule": rule, "faults": faults, "request": body})
        if "status" in rule:
            return web.json_response(rule.get("body", {}), status=rule["status"], headers=rule.get("headers"))
        if faults or data[:3] != _RECORDINGS.get(name.rpartition(".")[2]):
            error = {"message": "; ".join(faults) or "Invalid file format.", "type": "invalid_request_error"}
            return web.json_response({"error": error}, status=400)
        return web.json_response({"text": message_of(rule, found, body)["content"]})

    def _note(self, entry: Body) -> None:
        self.journal.append(entry)
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def _rule_for(self, body: Body) -> tuple[Body, re.Match[str] | None]:
        for number, rule in enumerate(self.rules):
            found = _matches(rule, body)
            if found and self._used.get(number, 0) < rule.get("times", 1 << 30):
                self._used[number] = self._used.get(number, 0) + 1
                return rule, found
        return {}, None


def _matches(rule: Body, body: Body) -> re.Match[str] | None:
    last = body["messages"][-1]
    purpose = purpose_of(body)
    if rule.get("purpose", "" if purpose == "transcribe" else purpose) != purpose:
        return None
    if (last["role"] == "tool") != ("after" in rule):
        return None
    found = re.search(rule.get("match", ""), last_of(body, "user"), re.S)
    return re.search(rule["after"], text_of(last), re.S) if found and "after" in rule else found


def purpose_of(body: Body) -> str:
    """Say what a request is for, by the words of its system message."""
    if "recording" in body:
        return "transcribe"
    system = " ".join(text_of(m) for m in body["messages"][:1] if m["role"] in ("system", "developer"))
    if "response_format" in body or system.startswith("Extract"):
        return "extract"
    return "summary" if system.startswith("You write the memory") else "answer"


def text_of(message: Body) -> str:
    """Return the words of a message, with a mark for each image."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "[image]") for part in content)


def heard(data: bytes) -> str:
    """Return the words of a recording: what follows the mark of its format."""
    return data[4 if data.startswith(b"OggS") else 3 :].decode(errors="replace")


def last_of(body: Body, role: str) -> str:
    """Return the words of the last message of a role."""
    return next((text_of(m) for m in reversed(body["messages"]) if m["role"] == role), "")


def message_of(rule: Body, found: re.Match[str] | None, body: Body) -> Body:
    """Return the assistant message a rule gives, or the default for the request's purpose."""
    reply = found.expand(rule["reply"]) if found and "reply" in rule else rule.get("reply")
    if "calls" in rule:
        calls = [_call(number, call, found) for number, call in enumerate(rule["calls"])]
        return {"role": "assistant", "content": reply, "tool_calls": calls}
    return {"role": "assistant", "content": _default(body) if reply is None else reply}


def _default(body: Body) -> str:
    match purpose_of(body):
        case "transcribe":
            return last_of(body, "user")
        case "extract":
            return '{"facts": []}'
        case "summary":
            return f"They spoke of: {last_of(body, 'user')[:200]}"
    last = body["messages"][-1]
    return f"Done: {text_of(last)}" if last["role"] == "tool" else f"You said: {text_of(last)}"


def _call(number: int, call: Body, found: re.Match[str] | None) -> Body:
    arguments = call.get("arguments", {})
    if isinstance(arguments, dict):
        said = {k: found.expand(v) if found and isinstance(v, str) else v for k, v in arguments.items()}
        arguments = json.dumps(said, ensure_ascii=False)
    function = {"name": call["name"], "arguments": arguments}
    return {"index": number, "id": f"call_{uuid4().hex}", "type": "function", "function": function}


def faults_of(body: Body) -> Iterator[str]:
    """Yield what a strict server would refuse in a request."""
    if not body.get("model"):
        yield "no model is named"
    names = [tool["function"]["name"] for tool in body.get("tools", ())]
    yield from (f"the tool name {name!r} is not allowed" for name in names if not _NAME.fullmatch(name))
    messages = body["messages"]
    for number, message in enumerate(messages):
        yield from (f"message {number}: {fault}" for fault in _message_faults(message, messages[:number]))
    if not messages or messages[-1]["role"] not in ("user", "tool"):
        yield "the last message is neither a user's nor a tool's"
    elif waiting := _unanswered(messages):
        yield f"calls without a result: {sorted(waiting)}"


def _message_faults(message: Body, before: list[Body]) -> Iterator[str]:
    role = message["role"]
    if not text_of(message).strip() and not message.get("tool_calls"):
        yield "is empty"
    if role not in ("system", "developer", "user", "assistant", "tool"):
        yield f"has the role {role!r}"
    waiting, said = _unanswered(before), [m["role"] for m in before if m["role"] not in ("system", "developer")]
    if role == "tool" and message.get("tool_call_id") not in waiting:
        yield "answers no call just made"
    if role != "tool" and waiting:
        yield f"comes before the results of {sorted(waiting)}"
    if role in ("system", "developer") and said:
        yield "a system message after the conversation began"
    if role == "assistant" and said[-1:] in ([], ["assistant"]):
        yield "the assistant speaks unasked"


def _unanswered(messages: list[Body]) -> set[str]:
    """Return the ids of the calls that the end of these messages leaves without a result."""
    ids: set[str] = set()
    for message in messages:
        ids = {c["id"] for c in message.get("tool_calls") or ()} | (ids - {message.get("tool_call_id")})
    return ids


def _usage(body: Body, message: Body) -> Body:
    prompt, completion = len(json.dumps(body["messages"])) // 4, len(json.dumps(message)) // 4
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _chunk(body: Body, choices: list[Body], usage: Body | None = None) -> bytes:
    chunk = {"id": "chatcmpl-1", "model": body["model"], "choices": choices, "usage": usage}
    text = json.dumps(chunk, ensure_ascii=False)
    return (f"data: {text}\n\n" if body.get("stream") else text).encode()


def _deltas(message: Body) -> Iterator[Body]:
    """Yield a message word by word, then its calls with their arguments in two halves."""
    yield {"role": "assistant", "content": ""}
    yield from ({"content": word} for word in re.findall(r"\s*\S+\s*$|\s*\S+", message["content"] or ""))
    for call in message.get("tool_calls", ()):
        arguments = call["function"]["arguments"]
        half = len(arguments) // 2
        yield {"tool_calls": [{**call, "function": {**call["function"], "arguments": arguments[:half]}}]}
        yield {"tool_calls": [{"index": call["index"], "function": {"arguments": arguments[half:]}}]}


async def _answer(request: web.Request, body: Body, rule: Body, message: Body) -> web.StreamResponse:
    finish = rule.get("finish", "tool_calls" if "calls" in rule else "stop")
    if not body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return web.Response(body=_chunk(body, [choice], _usage(body, message)), content_type="application/json")
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    left = rule.get("cut", 1 << 30)
    for delta in _deltas(message):
        left -= len(delta.get("content") or "")
        if left < 0:
            if request.transport is not None:
                request.transport.abort()
            return response
        await response.write(_chunk(body, [{"index": 0, "delta": delta, "finish_reason": None}]))
        await asyncio.sleep(float(rule.get("pace", 0)))
    await response.write(_chunk(body, [{"index": 0, "delta": {}, "finish_reason": finish}]))
    if body.get("stream_options", {}).get("include_usage"):
        await response.write(_chunk(body, [], _usage(body, message)))
    await response.write(b"data: [DONE]\n\n")
    return response


async def _models(request: web.Request) -> web.Response:
    return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})


async def _serve(server: ModelServer) -> None:
    async with server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Read the command line and serve until the process ends."""
    parser = argparse.ArgumentParser(description="A scripted model server")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=Path)
    parser.add_argument("--journal", type=Path)
    options = parser.parse_args()
    rules = json.loads(options.script.read_text(encoding="utf-8")) if options.script else []
    asyncio.run(_serve(ModelServer(rules, port=options.port, journal=options.journal)))


if __name__ == "__main__":
    main()
