"""A language model behind any server that speaks OpenAI's chat completions."""

from adapters.openai.llm import OpenAILLM

__all__ = ["OpenAILLM"]
