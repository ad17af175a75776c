"""Words by which people point back in time, in many languages, and the time they point to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Literal

from core.text.languages import guessed
from core.text.letters import words_of

Unit = Literal["day", "week", "month", "year"]

_SPACED = r"""
remember (?:when|what|how|who|where|the|my|our)|(?:do|can) you (?:still )?(?:remember|recall)|
remind me (?:what|when|who|where|how|of)|
what (?:did|had|have) (?:i|we|you|he|she|they) (?:\w+ )?(?:say|said|tell|told|talk|mention|discuss|write|call)(?:ed)?|
(?:did|have|had) (?:i|we|you) (?:\w+ )?(?:tell|told|mention|mentioned|say|said|talk|talked|discuss|discussed|ask|asked)|
(?:i|we|you) (?:\w+ )?(?:told|mentioned|talked|discussed)|as i said|
last (?:time|night|spring|summer|autumn|fall|winter|weekend)|the other day|earlier|previously|
back (?:then|when)|(?:\w+ )?(?:days?|weeks?|months?|years?) ago|erinnerst du dich|wei(?:ß|ss)t du noch|
erinnere mich|(?:habe?|hatte) ich (?:\S+ ){0,6}(?:gesagt|erzählt|erwähnt|geschrieben)|
(?:haben|hatten) wir (?:\S+ ){0,6}(?:besprochen|geredet|gesprochen)|letztes mal|neulich|damals|
vor (?:\w+ )?(?:tagen?|wochen?|monaten?|jahren?)|tu te (?:souviens|rappelles)|te (?:souviens|rappelles)-tu|
vous (?:souvenez|rappelez)-vous|rappelle-moi|
(?:j'ai|je t'ai|je vous ai|nous avons|on a|on avait|j'avais) (?:\w+ )?(?:dit|parlé|mentionné|raconté)|
la dernière fois|l'autre jour|il y a (?:\w+ )?(?:jours?|semaines?|mois|ans?)|auparavant|(?:te )?acuerdas|
recuerdas|recuérdame|qué (?:te )?(?:dije|conté|hablamos|dijimos)|te (?:dije|conté|hablé)|la última vez|
hace (?:\w+ )?(?:días?|semanas?|mes(?:es)?|años?)|el otro día|ti ricordi|ricordi|ricordami|
(?:ti )?(?:ho|avevo) (?:detto|raccontato|parlato)|abbiamo parlato|l'ultima volta|l'altro giorno|
(?:\w+ )?(?:giorn[oi]|settiman[ae]|mes[ei]|ann[oi]) fa|(?:você |te |tu )?lembra(?:s|-se|-te)?|
(?:eu )?(?:te )?(?:disse|contei|falei)|falamos|última vez|outro dia|
há (?:\w+ )?(?:dias?|semanas?|mês|meses|anos?)|weet je nog|herinner je je|
(?:heb|had) ik (?:\S+ ){0,6}(?:gezegd|verteld|genoemd)|vorige keer|
(?:\w+ )?(?:dagen|weken|maanden|jaar) geleden|kommer du ihåg|husker du|muistatko|pamiętasz|(?:ci )?mówił[ae]m|
ostatnim razem|(?:dni|tygodni|miesięcy|lat) temu|hatırlıyor (?:mu|mü)sun|demiştim|söylemiştim|konuşmuştuk|
geçen (?:sefer|gün)|(?:gün|hafta|ay|yıl) önce|помнишь|помните|напомни|
я (?:тебе |вам )?(?:говорил|рассказывал|писал|упоминал|сказал)а?|мы (?:\w+ )?(?:говорили|обсуждали)|
в прошлый раз|(?:\w+ )?(?:дней|дня|день|недел[юиь]|месяц(?:а|ев)?|года?|лет) назад|недавно|раньше|пам['’]ятаєш|
нагадай|минулого разу|(?:днів|тижні[вя]?|місяці[вя]?|роки|років) тому|هل تتذكر|هل تذكر|أتذكر|تتذكر|ذكرني|
ماذا قلت|قلت لك|أخبرتك|تحدثنا|المرة الماضية|سابقا|قبل \w+ (?:أيام|أسابيع|أشهر|سنوات)|याद है|पिछली बार
"""
_CLOSE = r"""
记得|記得|说过|說過|讲过|講過|提过|提過|提到过|聊过|聊過|之前|以前|上次|那天|[天周週月年]前|
覚えて|言った|言ってた|言っていた|話した|話してた|話していた|前に|この前|以前|前回|[日間月年]前|
기억나|기억해|기억하|말했|말한|얘기했|얘기한|이야기했|이야기한|저번|전에|예전|지난\s?번|
จำได้|เคยบอก|เคยพูด|เคยเล่า|ครั้งที่แล้ว|คราวที่แล้ว|ก่อนหน้านี้|วันก่อน
"""
_TIMES: dict[Unit, tuple[str, str]] = {
    "day": (
        "yesterday|gestern|ayer|ieri|ontem|gisteren|igår|i går|eilen|wczoraj|dün|вчера|вчора|أمس|البارحة|कल",
        "昨天|昨日|어제|เมื่อวาน",
    ),
    "week": (
        "last week|letzte woche|(?:la )?semaine dernière|(?:la )?semana pasada|(?:la )?settimana scorsa|semana passada|"
        "vorige week|förra veckan|forrige uke|sidste uge|viime viikolla|(?:w )?zeszłym tygodniu|geçen hafta|"
        "(?:на )?прошлой неделе|минулого тижня|الأسبوع الماضي|पिछले हफ़्ते",
        "上周|上週|上个?星期|上個星期|上个?礼拜|先週|지난\\s?주|สัปดาห์ที่แล้ว|อาทิตย์ที่แล้ว",
    ),
    "month": (
        "last month|letzten monat|(?:le )?mois dernier|(?:el )?mes pasado|(?:il )?mese scorso|mês passado|vorige maand|"
        "förra månaden|forrige måned|viime kuussa|(?:w )?zeszłym miesiącu|geçen ay|(?:в )?прошлом месяце|"
        "минулого місяця|الشهر الماضي|पिछले महीने",
        "上个?月|上個月|先月|지난\\s?달|เดือนที่แล้ว",
    ),
    "year": (
        "last year|letztes jahr|(?:l')?année dernière|l'an dernier|(?:el )?año pasado|l'anno scorso|ano passado|"
        "vorig jaar|förra året|i fjor|sidste år|viime vuonna|(?:w )?zeszłym roku|geçen (?:yıl|sene)|"
        "(?:в )?прошлом году|минулого року|السنة الماضية|العام الماضي|पिछले साल",
        "去年|昨年|작년|지난\\s?해|ปีที่แล้ว",
    ),
}


def _pattern(spaced: str, close: str) -> re.Pattern[str]:
    """Make a pattern of words that stand between others, and of those of scripts without spaces."""
    spaced, close = (text.replace("\n", "").strip("|") for text in (spaced, close))
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|(?:{close})", re.IGNORECASE)


_POINTING = _pattern(_SPACED, _CLOSE)
_TIMED = {unit: _pattern(*words) for unit, words in _TIMES.items()}
_HIER = re.compile(r"(?<!\w)hier(?!\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pointing:
    """What somebody points back to: the words beside that, and when it was said, if that is told."""

    text: str
    since: datetime | None = None
    until: datetime | None = None


def pointing_back(text: str, at: datetime, zone: tzinfo) -> Pointing | None:
    """Read what a message points back to; None when it does not."""
    left = _HIER.sub("ayer", text) if _is_french(text) else text  # as German and Dutch have it, it means here
    unit = next((unit for unit, words in _TIMED.items() if words.search(left)), None)
    for words in (_POINTING, *_TIMED.values()):
        left = words.sub(" ", left)
    if unit is not None:
        return Pointing(left, *_period(unit, at.astimezone(zone)))
    return Pointing(left) if left != text else None


def _is_french(text: str) -> bool:
    return guessed(words_of(text.lower()), "latin")[:1] == ["french"]


def _period(unit: Unit, now: datetime) -> tuple[datetime, datetime]:
    """Give when the day, week, month or year before that of a time began and ended, as it was there."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        return today - timedelta(days=1), today
    if unit == "week":
        monday = today - timedelta(days=today.weekday())
        return monday - timedelta(days=7), monday
    first = today.replace(day=1) if unit == "month" else today.replace(month=1, day=1)
    before = first - timedelta(days=1)
    return before.replace(day=1) if unit == "month" else before.replace(month=1, day=1), first
