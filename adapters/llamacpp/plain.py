"""Takes the meaning out of control tokens in what was said: llama.cpp would read them as the template's own."""

from __future__ import annotations

from dataclasses import replace

from core.llm import Request


def plain(request: Request) -> Request:
    """Give a request in whose texts nothing reads as a control token, such as `<|im_start|>`."""
    messages = tuple(replace(m, content=m.content.replace("<|", "< |").replace("|>", "| >")) for m in request.messages)
    return replace(request, messages=messages)
