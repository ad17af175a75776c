"""A small model on this machine, to try Keepmind with no key and no network: SmolLM2 on llama.cpp."""

from adapters.llamacpp.fetch import fetch, model_file
from adapters.llamacpp.plain import plain
from adapters.llamacpp.server import ANSWER_EXTRA, EmbeddedServer

__all__ = ["ANSWER_EXTRA", "EmbeddedServer", "fetch", "model_file", "plain"]
