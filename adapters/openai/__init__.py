"""A language model behind any server that speaks OpenAI's chat completions, and its transcriptions."""

from adapters.openai.llm import OpenAILLM
from adapters.openai.transcription import Transcriber

__all__ = ["OpenAILLM", "Transcriber"]
