"""Functions the model may call: plain async functions with a docstring and type hints."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_type_hints, overload
from zlib import crc32

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from core.conversation import Conversation, ToolResult, ToolRound, Turn
from core.draft import FactDraft
from core.errors import ToolError
from core.llm import ToolCall, ToolSpec
from core.messages import Choice

Function = Callable[..., Awaitable[str]]
MAX_ARGUMENTS = 16_000
"""The most characters of arguments that a call may have."""
logger = logging.getLogger("keepmind.tools")
TOOL_SECONDS = 60
"""How long one call of a tool may take."""


@dataclass
class ToolContext:
    """What a tool may use: the conversation, the turn being answered, and the facts of the person who asked.

    `call` names the call, uniquely in the turn: servers give one id again and again. Changes made to `facts` are
    stored when all calls of the round have run. A tool may propose `choices`, commands that only the person can
    confirm. `shown` are the turns that the model sees anyway.
    """

    conversation: Conversation
    turn: Turn
    facts: FactDraft
    call: str = ""
    choices: list[Choice] = field(default_factory=list)
    shown: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Tool:
    """A function the model may call. `silent` tools write memory: text beside their call is already the answer."""

    name: str
    function: Function
    silent: bool = False

    @cached_property
    def spec(self) -> ToolSpec:
        """What the model is told of it."""
        return ToolSpec(self.name, inspect.getdoc(self.function) or "", _schema(self.arguments))

    def __post_init__(self) -> None:
        if not inspect.iscoroutinefunction(self.function):
            raise TypeError(f"the tool {self.name} has to be an async function")
        _ = self.spec  # a hint that can't be used is met here, not in the middle of a talk

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The model its arguments are checked by: nothing is converted, what is not known is left out.

        Its fields are numbered, and the parameters' names are aliases, so that any name will do.
        """
        fields = {f"argument_{n}": self._field(p) for n, p in enumerate(self._parameters)}
        config = ConfigDict(strict=True, extra="ignore")
        return create_model(self.name, __config__=config, **fields)  # type: ignore[no-any-return,call-overload]

    @cached_property
    def _parameters(self) -> list[inspect.Parameter]:
        return list(inspect.signature(self.function).parameters.values())[self.takes_context :]

    def _field(self, parameter: inspect.Parameter) -> tuple[Any, Any]:
        hint = get_type_hints(self.function, include_extras=True).get(parameter.name)
        if hint is None or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"the parameter {parameter.name} of the tool {self.name} needs a name and a type hint")
        default = ... if parameter.default is parameter.empty else parameter.default
        return hint, Field(default, alias=parameter.name)

    @cached_property
    def takes_context(self) -> bool:
        """Whether its first parameter is the context, which the model does not see."""
        parameters = list(inspect.signature(self.function).parameters)
        return bool(parameters) and get_type_hints(self.function).get(parameters[0]) is ToolContext

    async def run(self, context: ToolContext, arguments: str) -> str:
        """Run with arguments as JSON text. Raises ToolError in words for the model."""
        values = _validate(self.arguments, arguments)
        result = await (self.function(context, **values) if self.takes_context else self.function(**values))
        return "done" if result is None else str(result)


@overload
def tool(function: Function) -> Tool: ...
@overload
def tool(*, silent: bool = False) -> Callable[[Function], Tool]: ...
def tool(function: Function | None = None, *, silent: bool = False) -> Tool | Callable[[Function], Tool]:
    """Make a tool of an async function; its name, docstring and type hints are what the model is told.

    A first parameter annotated `ToolContext` is given by the engine and hidden from the model.
    """
    if function is None:
        return lambda f: Tool(f.__name__, f, silent)
    return Tool(function.__name__, function, silent)


def _schema(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    for part in (schema, *schema.get("properties", {}).values()):
        part.pop("title", None)
    return {"properties": {}, **schema}


def _validate(model: type[BaseModel], arguments: str) -> dict[str, Any]:
    values = _parse(arguments)
    fields = {str(field.alias): (name, field) for name, field in model.model_fields.items()}
    optional = {alias for alias, (_, field) in fields.items() if not field.is_required()}
    given = {k: v for k, v in values.items() if not (v is None and k in optional)}
    try:
        checked = model.model_validate_json(json.dumps(given))  # as JSON: a date is written as text, a set as a list
    except ValidationError as error:
        raise ToolError("; ".join(_in_words(e) for e in error.errors())[:400]) from None
    return {alias: getattr(checked, name) for alias, (name, _) in fields.items()}


def _parse(arguments: str) -> dict[str, Any]:
    if len(arguments) > MAX_ARGUMENTS:
        raise ToolError(f"the arguments have {len(arguments)} characters; at most {MAX_ARGUMENTS} are taken")
    try:
        values = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        raise ToolError(f"the arguments are not valid JSON: {arguments[:120]!r}") from None
    if not isinstance(values, dict):
        raise ToolError(f"the arguments must be a JSON object, not {arguments[:120]!r}")
    return values


def _in_words(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"][:1]) or "arguments"
    got = "" if error["type"] == "missing" else f" (got {repr(error['input'])[:80]})"
    return f"{where}: {error['msg']}{got}"


async def run_calls(
    tools: Sequence[Tool], calls: Sequence[ToolCall], context: ToolContext, text: str = ""
) -> tuple[ToolRound, bool]:
    """Run the calls of one round in order; give the round, and whether the words beside it can stand as the answer.

    They can when every call was a silent tool's and none failed. An error becomes its call's result.
    """
    by_name = {t.name: t for t in tools}
    results, settled = [], True
    for number, call in enumerate(calls):
        context.call = f"{len(context.turn.rounds)}.{number}:{call.id}:{crc32(_bytes(call.arguments)):x}"
        content, ok = await _run_call(by_name, call, context)
        results.append(ToolResult(call.id, content))
        settled = settled and ok and by_name[call.name].silent
        if not (call.name in by_name and by_name[call.name].silent):
            context.facts.pass_by(content)
    return ToolRound(tuple(map(_replayable, calls)), tuple(results), text), settled


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _replayable(call: ToolCall) -> ToolCall:
    """Give the call as later requests show it: arguments that could not be read are not sent to a server again."""
    try:
        _parse(call.arguments)
    except ToolError:
        return replace(call, arguments="{}")
    return call if call.arguments else replace(call, arguments="{}")


async def _run_call(by_name: dict[str, Tool], call: ToolCall, context: ToolContext) -> tuple[str, bool]:
    found = by_name.get(call.name)
    if found is None:
        names = ", ".join(sorted(by_name)) or "none"
        return f"error: there is no tool {call.name[:80]!r}; the tools are: {names}", False
    try:
        async with asyncio.timeout(TOOL_SECONDS) as limit:
            return await found.run(context, call.arguments), True
    except ToolError as error:
        return f"error: {error}", False
    except Exception as error:  # a tool's bug must not cost the person their answer
        if limit.expired():
            return f"error: the tool took longer than {TOOL_SECONDS} seconds", False
        logger.error("tool %s failed with %s", call.name, type(error).__name__)
        logger.debug("its traceback", exc_info=error)
        return "error: the tool failed", False
