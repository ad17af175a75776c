"""A language model behind any server that speaks OpenAI's chat completions, its transcriptions and its embeddings."""

from adapters.openai.embeddings import ServerEmbedder
from adapters.openai.llm import OpenAILLM
from adapters.openai.transcription import Transcriber

__all__ = ["OpenAILLM", "ServerEmbedder", "Transcriber"]
