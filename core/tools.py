"""Functions the model may call: plain async functions with a docstring and type hints."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from core.conversation import Conversation, ToolResult, ToolRound, Turn
from core.draft import FactDraft
from core.errors import ToolError
from core.llm import ToolCall, ToolSpec
from core.messages import Choice

Function = Callable[..., Awaitable[str]]
logger = logging.getLogger("keepmind.tools")


@dataclass
class ToolContext:
    """What a tool may use: the conversation, the turn being answered, and the facts of the person who asked.

    `call` is the id of the call. Changes made to `facts` are stored when all calls of the round have run. A tool may
    propose `choices`, commands that only the person can confirm.
    """

    conversation: Conversation
    turn: Turn
    facts: FactDraft
    call: str = ""
    choices: list[Choice] = field(default_factory=list)


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

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The model its arguments are checked by: nothing is converted, what is not known is left out."""
        hints, parameters = get_type_hints(self.function), list(inspect.signature(self.function).parameters.values())
        fields: dict[str, Any] = {
            p.name: (hints[p.name], ... if p.default is p.empty else p.default)
            for p in parameters[self.takes_context :]
        }
        return create_model(self.name, __config__=ConfigDict(strict=True, extra="ignore"), **fields)

    @cached_property
    def takes_context(self) -> bool:
        """Whether its first parameter is the context, which the model does not see."""
        parameters = list(inspect.signature(self.function).parameters)
        return bool(parameters) and get_type_hints(self.function).get(parameters[0]) is ToolContext

    async def run(self, context: ToolContext, arguments: str) -> str:
        """Run with arguments as JSON text. Raises ToolError in words for the model."""
        values = _validate(self.arguments, arguments)
        return str(await (self.function(context, **values) if self.takes_context else self.function(**values)))


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
    known = model.model_fields
    given = {k: v for k, v in values.items() if not (v is None and k in known and not known[k].is_required())}
    try:
        checked = model.model_validate(given)
    except ValidationError as error:
        raise ToolError("; ".join(_in_words(e) for e in error.errors())[:400]) from None
    return {name: getattr(checked, name) for name in known}


def _parse(arguments: str) -> dict[str, Any]:
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
    for call in calls:
        content, ok = await _run_call(by_name, call, context)
        results.append(ToolResult(call.id, content))
        settled = settled and ok and by_name[call.name].silent
    return ToolRound(tuple(calls), tuple(results), text), settled


async def _run_call(by_name: dict[str, Tool], call: ToolCall, context: ToolContext) -> tuple[str, bool]:
    found = by_name.get(call.name)
    if found is None:
        names = ", ".join(sorted(by_name)) or "none"
        return f"error: there is no tool {call.name[:80]!r}; the tools are: {names}", False
    context.call = call.id
    try:
        return await found.run(context, call.arguments), True
    except ToolError as error:
        return f"error: {error}", False
    except Exception as error:  # a tool's bug must not cost the person their answer
        logger.error("tool %s failed with %s", call.name, type(error).__name__)
        logger.debug("its traceback", exc_info=error)
        return "error: the tool failed", False
