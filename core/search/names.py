"""Finds names in a text by how they are written, in many languages, where nothing better is installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from core.text.languages import is_silent, likeliest

Find = Callable[[str], Sequence[str]]
"""Gives the names in a text, as they are written there."""
LONGEST = 60
_UPPER = "A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁІЇЄҐ"
_WORD = rf"[{_UPPER}][\w'’-]*\w|[{_UPPER}]{{2,}}"
_SEQUENCE = re.compile(
    rf"(?<![\w@])(?:{_WORD})(?:(?:\s(?:of|the|de|la|le|di|da|do|von|van|der|den|del|y|и)){{0,2}}[\s-](?:{_WORD}))*"
)
_STARTS = frozenset('.!?…:;«»"“”([–—-')
_BEFORE = 80
"""Characters before a word by which it is seen whether a sentence begins with it."""
_AFTER_NAME = re.compile(
    r"(?:'s|’s)?,?\s+(?:is|was|has|had|says|said|lives|works|and|loves|likes|came|went|told|asked)\b"
)
_MENTION = re.compile(r"(?<![\w@])@(\w[\w.]{1,31})")
_QUOTED = re.compile(r"[«“„\"]([^«»“”„\"\n]{2,60})[»”“\"]|[「『《]([^」』》\n]{1,40})[」』》]")
_INTRODUCED = re.compile(
    r"(?:heißt|heissen|heißen|namens|Herrn?|Frau|Dr\.|Onkel|Tante|Freund(?:in)?|Bruder|Schwester|Kolleg(?:e|in)|Stadt|"
    rf"nach|aus)\s+((?:{_WORD})(?:\s(?:{_WORD}))*)"
)
_HAN_NAME = "[\u4e00-\u9fff·]"
_THAI_TITLE = "คุณ|พี่|น้อง|นางสาว|นาย|ลุง|ป้า|หมอ|ครู"
_THAI_NEXT = (
    "ที่|ไป|มา|กับ|และ|เป็น|อยู่|อายุ|บอก|ชอบ|จะ|ได้|มี|ไม่|ว่า|คือ|ให้|ของ|ครับ|ค่ะ|คะ|"
    "เมื่อ|อยาก|ต้อง|เคย|กำลัง|คิด|รู้|ทำ|ช่วย|กิน|ซื้อ|รัก|จาก|สาว"
)
_ARABIC_TITLE = (
    "و?(?:صديقي|صديقتي|أخي|أختي|عمي|عمتي|خالي|خالتي|ابني|ابنتي|زوجي|زوجتي|جاري|زميلي|زميلتي|"
    "السيدة?|الدكتورة?|دكتورة?|الأستاذة?|شركة|مدينة|دولة)"
)
_ARABIC_NEXT = "ال|(?:تحب|يحب|تعمل|يعمل|تعيش|يعيش|تسكن|يسكن|كان|كانت|قال|قالت|على|إلى|الذي|التي|مريض|مريضة)\\b"
_CLOSE = (
    rf"(?:名叫|叫做|叫作|名字是|名字叫|叫)({_HAN_NAME}{{2,4}}?)(?=[，。！？、,.!?\s]|$|今年|是|在|的|和|住|很|也)",
    rf"(?:^|[^\u4e00-\u9fff]|[和跟与找给是])({_HAN_NAME}{{1,2}}(?:先生|女士|老师|小姐|医生|阿姨|叔叔))",
    r"(?<![\u4e00-\u9fff])([老小阿][\u4e00-\u9fff])(?=[说去来在是和的给跟也]|[，。！？\s]|$)",
    rf"(?:去|到|在|从)({_HAN_NAME}{{2,4}}?)(?=旅行|旅游|玩|出差|工作|上学|读书|住|的|[，。！？\s]|$)",
    r"((?:[\u4e00-\u9fff]{1,4}|[\u30a0-\u30ff]{2,8}))(?=さん|くん|君|ちゃん|先生|様)",
    r"([\u30a0-\u30ffー]{2,10})(?=という|って)",
    r"([\uac00-\ud7a3]{2,4})(?=\s?(?:씨|님|선생님))",
    r"이름[은이]\s?([\uac00-\ud7a3]{1,4}?)(?=이에요|예요|이야|야|입니다|이고|라고)",
    rf"(?:ชื่อ|{_THAI_TITLE}|จังหวัด|เมือง|ประเทศ|บริษัท)(?!{_THAI_NEXT})([\u0e00-\u0e7f]{{2,12}}?)(?=[^\u0e00-\u0e7f]|$|{_THAI_NEXT})",
    r"\bو?(?:اسمه|اسمها|اسمي|اسم \w+)\s+(\w{2,20})",
    rf"\b(?:{_ARABIC_TITLE})\s+(?!{_ARABIC_NEXT})(\w{{3,20}})",
    r"\b(?:سافر|ذهب|يعيش|تعيش|أعيش|يسكن|تسكن|أسكن|وصل|زر|زار)\w{0,3}\s+(?:إلى|في|من)\s+(?!ال)(\w{3,20})",
)
_CLOSE_NAMES = tuple(map(re.compile, _CLOSE))


def names_in(text: str) -> list[str]:
    """Give the names in a text, each once: mentions, quoted titles, words with capitals, what is introduced as one."""
    found = (name.strip(" ·'’-")[:LONGEST] for name in _found(text))
    return list(dict.fromkeys(name for name in found if name and not is_silent(name.lower())))


def _found(text: str) -> Iterator[str]:
    yield from (match[1] for match in _MENTION.finditer(text))
    yield from (match[1] or match[2] for match in _QUOTED.finditer(text))
    for pattern in _CLOSE_NAMES:
        yield from (match[1] for match in pattern.finditer(text))
    if not text.isupper():
        yield from _german(text) if _is_german(text) else _capitalised(text)


def _is_german(text: str) -> bool:
    return likeliest(re.findall(r"[^\W\d_]+", text.lower()), "latin") == "german"


def _german(text: str) -> Iterator[str]:
    """Give names in German, where every noun has a capital: what is introduced as one, and two such words together."""
    yield from (match[1] for match in _INTRODUCED.finditer(text))
    for match in _SEQUENCE.finditer(text):
        if " " in match[0] and not _begins(text, match):
            yield match[0]


def _capitalised(text: str) -> Iterator[str]:
    """Give words with capitals; at the beginning of a sentence only when more speaks for a name."""
    matches = list(_SEQUENCE.finditer(text))
    inside = {match[0] for match in matches if not _begins(text, match)}
    for match in matches:
        first, _, rest = match[0].partition(" ")
        if not _begins(text, match) or match[0] in inside or _AFTER_NAME.match(text, match.end()):
            yield match[0]
        elif rest:
            yield rest if is_silent(first.lower()) else match[0]


def _begins(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - _BEFORE) : match.start()]
    words = before.rstrip()
    return not words or words[-1] in _STARTS or "\n" in before[len(words) :]
