"""How much the models of public servers hold, where the operator does not say."""

UNKNOWN = 8192
"""What a model nobody has heard of is taken to hold: the least that today's small local models are run with."""

_BY_PREFIX = (
    ("gpt-3.5", 16_385),
    ("gpt-35", 16_385),
    ("gpt-4-32k", 32_768),
    ("gpt-4-turbo", 128_000),
    ("gpt-4-1106", 128_000),
    ("gpt-4-0125", 128_000),
    ("gpt-4o", 128_000),
    ("chatgpt-4o", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4.5", 128_000),
    ("gpt-4", 8192),
    ("gpt-5", 400_000),
    ("gpt-oss", 131_072),
    ("o1-mini", 128_000),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4", 200_000),
    ("claude", 200_000),
    ("gemini", 1_048_576),
    ("grok", 131_072),
    ("deepseek", 65_536),
    ("mistral-large", 131_072),
    ("mistral-small", 131_072),
    ("kimi", 131_072),
)


def known_context(model: str) -> int:
    """Return the context in tokens of a model named `gpt-4o`, `openai/gpt-4o` or `ft:gpt-4o:…`."""
    name = model.lower().rpartition("/")[2].removeprefix("ft:")
    return next((size for prefix, size in _BY_PREFIX if name.startswith(prefix)), UNKNOWN)
