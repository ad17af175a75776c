"""Which language words are in, and which words of each say nothing by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain

_SILENT = {
    "english": """a an the and or but if of to in on at by for with from about into over after before up down
        out off as than then so no not nor too very just is are was were be been being am do does did done doing
        have has had having can could will would shall should may might must i me my mine you your yours he him
        his she her hers it its we us our ours they them their theirs this that these those there here what which
        who whom whose when where why how s t d m re ve ll""",
    "german": """der die das den dem des ein eine einen einem einer eines und oder aber wenn dass daß als wie
        so nicht kein keine ist sind war waren bin bist sein hat habe haben hatte hatten hast wird werden wurde
        kann können muss soll will würde ich mich mir du dich dir er ihn ihm sie es wir uns ihr euch ihnen mein
        meine meinen meiner meinem dein deine deinen deiner sein seine ihre unser in im an am auf aus bei beim mit
        nach von vom vor zu zum zur über um für durch auch noch nur schon mal da dort hier was wer wen wem wo wann
        warum welche welcher welches""",
    "french": """le la les l un une des de du d et ou mais si que qu qui quoi dont où quand comment pourquoi
        quel quelle quels quelles ne pas plus est sont était étaient suis es sommes êtes être ai as a avons avez
        ont avait avais avoir je j me m moi tu te t toi il elle on nous vous ils elles lui leur leurs se s mon ma
        mes ton ta tes son sa ses notre nos votre vos ce c cet cette ces dans en au aux à par pour sur avec sans
        sous y déjà aussi très fait""",
    "spanish": """el la los las un una unos unas de del al y e o u pero si que qué quién quiénes cuál cuáles
        cuándo dónde cómo por para con sin sobre en a no ni más muy ya también es son era eran soy eres somos ser
        está están estoy estaba he has ha hemos han había haber yo me mí tú te ti él ella lo le les se nos
        nosotros ustedes ellos ellas mi mis tu tus su sus nuestro nuestra este esta estos estas ese esa eso esto
        aquí allí fue""",
    "italian": """il lo la i gli le l un uno una di del dello della dei degli delle d e o ma se che chi cui
        quale quali quando dove come perché non più molto già anche è sono era erano sei siamo essere ho hai ha
        abbiamo hanno aveva avere io mi me tu ti te lui lei ci noi voi vi loro si mio mia miei mie tuo tua tuoi
        tue suo sua nostro questo questa questi quello quella qui lì a al allo alla ai alle da dal dalla in nel
        nella con su sul sulla per tra fra cosa""",
    "portuguese": """o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com sem
        sobre e ou mas se que quem qual quais quando onde como porquê porque não nem mais muito já também é são
        era eram sou és somos ser está estão estou estava tenho tem tinha ter há eu me mim tu te ti você vocês ele
        ela eles elas lhe nós meu minha meus minhas teu tua seu sua seus suas nosso este esta isto esse essa isso
        aquele aqui ali foi ao à""",
    "dutch": """de het een en of maar als dat die dit deze er is zijn was waren ben bent heb hebt heeft had
        hebben wordt worden kan kunnen moet zal zou ik mij me mijn jij je jou jouw hij hem haar ze zij wij we ons
        onze jullie hun in op aan van voor met bij uit naar over om te door tot niet geen ook nog al wel zo wat
        wie waar wanneer waarom hoe welke welk""",
    "swedish": """och eller men om att som en ett den det de är var varit har hade jag mig min mitt mina du
        dig din ditt dina han honom hon henne vi oss vår ni er dem deras i på av för med till från vid inte ingen
        också så när vad vem vilken var hur varför blir ska kan""",
    "danish": """og eller men hvis at som en et den det de er var været har havde jeg mig min mit mine du dig
        din dit han ham hun hende vi os vores I jer dem deres i på af for med til fra ved ikke ingen også så når
        hvad hvem hvilken hvor hvordan hvorfor bliver skal kan""",
    "norwegian": """og eller men hvis at som en ei et den det de er var vært har hadde jeg meg min mitt mine
        du deg din ditt han ham hun henne vi oss vår dere dem deres i på av for med til fra ved ikke ingen også så
        når hva hvem hvilken hvor hvordan hvorfor blir skal kan""",
    "finnish": """ja tai mutta jos että kun niin on ovat oli olivat ole olen olet olla minä minun minua
        minulla sinä sinun sinua sinulla hän hänen me meidän te he tämä se ne ei en et mitä mikä kuka missä
        milloin miten miksi myös""",
    "polish": """i a oraz lub ale jeśli że żeby jak nie tak już też jest są był była było były jestem jesteś
        być mam masz ma mieć ja mnie mi ty ciebie ci on ona ono my nas wy oni jego jej ich mój moja moje twój
        twoja twoje swój ten ta to te w we na z ze do od po o u za przez dla przy co kto kogo gdzie kiedy dlaczego
        który która które się""",
    "turkish": """ve veya ama eğer ki bir bu şu o ben bana beni benim sen sana seni senin biz bizim siz sizin
        onlar onun mi mı mu mü ne kim nerede nasıl neden hangi için ile gibi daha çok da de değil var yok idi""",
    "indonesian": """yang dan atau tapi jika di ke dari pada untuk dengan tidak ini itu saya aku kamu anda dia
        kami kita mereka apa siapa mana kapan mengapa bagaimana adalah sudah akan juga""",
    "russian": """и а но или если что чтобы как так не ни да же ли бы уже ещё еще тоже только очень в во на с
        со к ко у о об от до из за по под при для над через я меня мне мной ты тебя тебе он его ему она её ее ей
        оно мы нас нам вы вас вам они их им мой моя моё мое мои моего моей твой твоя твоё твои твоего твоей свой
        своя свои наш ваш этот эта это эти тот та те был была было были есть быть буду будет кто кого кому чем чём
        где когда куда почему какой какая какое какие зачем""",
    "arabic": """في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم هن أنا أنت نحن كان كانت يكون ما
        ماذا من متى أين كيف لماذا هل لا لم لن ليس قد كل أو و ثم أن إن كم أي اين انا انت الى""",
    "ukrainian": """і й та а але або якщо що щоб як так не ні же чи б вже ще теж тільки дуже в у на з із зі до
        від по за під при для я мене мені ти тебе тобі він його йому вона її ми нас нам ви вас вам вони їх мій моя
        моє мої твій твоя твоє твої цей ця це ці був була було були є бути хто де коли куди чому який яка яке які""",
    "greek": """ο η το οι τα του της των τον την ένας μια ένα και ή αλλά αν ότι που να θα δεν μη είναι ήταν
        είμαι είσαι έχω έχει εγώ μου με εσύ σου σε αυτός αυτή αυτό εμείς μας εσείς σας αυτοί από για στο στη στην
        στον τι ποιος πού πότε πώς γιατί""",
    "hindi": """का की के को में से पर और या है हैं था थी थे हूँ मैं मुझे मेरा मेरी मेरे तुम तुम्हारा तुम्हारी
        आप आपका वह यह वे ये हम हमारा क्या कौन कहाँ कब क्यों कैसे नहीं भी ही तो ने एक""",
}  # fmt: skip
"""Words that say nothing by themselves, by language: those that stand in almost every sentence."""
LETTERS_OF = {
    "german": "ß",
    "spanish": "ñ",
    "portuguese": "ãõ",
    "polish": "łąęśżź",
    "turkish": "ığş",
    "ukrainian": "іїєґ",
}
"""Letters that only one language of its script has among those known here."""
COMPOUNDING = frozenset({"german", "dutch", "swedish", "danish", "norwegian", "finnish"})
"""Languages that write compounds as one word."""
OF_SCRIPT = {"cyrillic": "russian", "arabic": "arabic", "greek": "greek", "devanagari": "hindi", "latin": "english"}
"""The language of a script when nothing speaks for another."""


@cache
def silent(language: str) -> frozenset[str]:
    """Give the words of a language that say nothing by themselves."""
    return frozenset(_SILENT.get(language, "").lower().split())


@cache
def _speaking_for() -> Mapping[str, tuple[str, ...]]:
    """Give, for each such word, the languages it speaks for."""
    return {word: tuple(n for n in _SILENT if word in silent(n)) for n in _SILENT for word in silent(n)}


@cache
def _english_alone() -> frozenset[str]:
    """Give the words that speak for English and for no other language."""
    return frozenset(word for word, languages in _speaking_for().items() if languages == ("english",))


def guessed(words: Sequence[str], script: str) -> list[str]:
    """Guess the languages that words of one script are in, the likeliest first; empty when nothing speaks for any."""
    found = _votes(words)
    if found:
        (_, most), *_ = likely = found.most_common(3)
        return ["ukrainian"] if _is_ukrainian(words, script) else [name for name, votes in likely if 2 * votes > most]
    letters = set().union(*words)
    return [name for name, own in LETTERS_OF.items() if not letters.isdisjoint(own)]


def likeliest(words: Sequence[str], script: str) -> str:
    """Guess the language that words of one script are in; most often it is plain to see."""
    if script == "latin" and 6 * len(_english_alone().intersection(words)) >= len(words) > 5:
        return "english"
    found = _votes(words)
    if found and script == "latin":
        return max(found, key=found.__getitem__)
    return next(iter(guessed(words, script)), OF_SCRIPT.get(script, ""))


def _votes(words: Sequence[str]) -> Counter[str]:
    return Counter(chain.from_iterable(filter(None, map(_speaking_for().get, words))))


def _is_ukrainian(words: Sequence[str], script: str) -> bool:
    return script == "cyrillic" and not set(LETTERS_OF["ukrainian"]).isdisjoint("".join(words))


def is_silent(word: str) -> bool:
    """Say whether a word says nothing by itself in any language known here."""
    return word in _speaking_for()
