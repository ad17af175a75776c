"""Recognises, in the words of many servers, that a request is larger than the model's context."""

import re

_WORDINGS = (
    r"context[_ ]length[_ ]exceeded",  # OpenAI, as a code
    r"exceed_context_size|(exceed\w*|larger than) the available context",  # llama.cpp
    r"model_context_window_exceeded|request_too_large|(prompt|input|request) (is )?too (long|large)",  # Anthropic
    r"maximum (context|model|prompt|sequence) length",  # OpenAI, vLLM, OpenRouter, xAI
    r"maximum allowed input length|exceeds? (the )?max\w* (allowed )?input",  # SGLang, DashScope
    r"(input|prompt|context)( length| tokens?| window)? exceeds? (the )?(context|limit|max\w*|model)",  # Ollama
    r"exceeds? (the |this )?(model'?s? )?(context|max\w* context|model'?s? max\w*)",  # OpenAI Responses, LM Studio
    r"exceeded model token limit|token limit exceeded",  # Kimi
    r"(input|prompt) token count.{0,40}exceeds",  # Gemini
    r"(greater|longer|larger) than the (max\w* )?(model'?s? )?(context|sequence|input)",  # LM Studio, TGI
    r"reduce (the length of the|your) (messages|prompt|input)|must be reduced in order",  # Groq, OpenAI per minute
    r"tokens? (in request )?(more than|>=?) (max|\d+ max)|must have less than \d+ tokens|must be <= \d+",  # TGI
    r"too large for (the )?model|too many (input |prompt )?tokens|exceeds the limit of \d+",  # Mistral, GitHub Models
    r"tokens from the initial prompt|input tokens exceed|range of input length|exceed max message tokens",  # others
    r"keep the first \d+ tokens when",  # LM Studio
    r"context (window|size|length)( is| has been)? (full|exceeded|too small|limit)|context overflow",  # LM Studio
)
_OVERFLOW = re.compile("|".join(_WORDINGS), re.I)
_ANSWER_TOO_LARGE = re.compile(r"(max_tokens|max_completion_tokens)\W.{0,60}too (large|high)", re.I)
_SIZES = re.compile(
    r"(?:maximum (?:context|model|prompt) length (?:is|of)(?: only)?|context size \(|n_ctx\W{1,9})\s{0,9}"
    r"(\d{1,9})(?!\d)",
    re.I,
)
_LEAST = 256


def overflows(status: int, words: str) -> bool:
    """Tell whether an error of this status and these words means that the request was too large."""
    if status == 413:
        return True
    if status == 429:
        return "must be reduced in order" in words.lower()
    return status not in (401, 403) and _OVERFLOW.search(words) is not None and not _ANSWER_TOO_LARGE.search(words)


def told_size(words: str) -> int | None:
    """Return the context in tokens that an error tells of."""
    found = _SIZES.search(words)
    return int(found[1]) if found and int(found[1]) >= _LEAST else None
