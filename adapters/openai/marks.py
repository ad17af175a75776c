"""Keeps what people, files and tools say from being read as a chat template's own marks.

Servers of local models (llama.cpp, vLLM and their likes) write a request as one text, where marks such as
`<|im_start|>system` say who speaks; many take them for that wherever they stand.
"""

from __future__ import annotations

import re

_MARK = re.compile(
    r"<(?=\s?[|｜▁]"  # ChatML, Llama 3, Phi, DeepSeek, Cohere
    r"|/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|start_of_image)>"  # Llama 2, Mistral, Gemma
    r"|<\s?/?SYS>>)"  # Llama 2
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|AVAILABLE_TOOLS|IMG)\])",  # Mistral
    re.IGNORECASE,
)


def unmarked(text: str) -> str:
    """Write a text so that it holds no such mark."""
    return _MARK.sub("‹", text)
