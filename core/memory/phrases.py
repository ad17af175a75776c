"""Words by which people greet, speak of themselves, and ask that something be remembered, in many languages."""

from __future__ import annotations

import re

_GREETINGS = """
hello|hi|hey|hiya|yo|hello there|hi there|hey there|greetings|good morning|good evening|good afternoon|good night|bye|
goodbye|thanks|thank you|please|yes|no|ok|okay|sure|sorry|i|i am|i'm|me|my|you|he|she|we|they|user|person|name|my name|
bot|assistant|system|unknown|none|null|n/a|hallo|moin|servus|grüezi|guten tag|guten morgen|danke|ja|nein|ich|du|hola|
buenos días|buenas|gracias|sí|tú|bonjour|bonsoir|salut|merci|oui|non|moi|je|ciao|salve|buongiorno|grazie|olá|oi|bom dia|
obrigado|obrigada|sim|não|eu|hoi|dag|dank je|hej|hei|cześć|dzień dobry|ahoj|привет|здравствуйте|здравствуй|спасибо|да|
нет|я|привіт|merhaba|selam|teşekkürler|evet|hayır|ben|مرحبا|شكرا|أنا|שלום|नमस्ते|你好|您好|谢谢|我|こんにちは|私|ありがとう|
안녕하세요|안녕|저
"""
GREETINGS = frozenset(_GREETINGS.replace("\n", "").split("|"))
"""What small models take for a name, case-folded."""

ASKING_TO_REMEMBER = re.compile(
    r"remember|forget|keep in mind|note (?:that|down)|make a note|merk|vergiss|notier|souvi|rappel|oubli|retiens|"
    r"note[zs]? |recuerd|acuérd|olvid|ricord|dimentic|lembr|esque[çc]|onthou|vergeet|kom ihåg|husk|muista|zapami|"
    r"pamięt|zapomn|pamatuj|запомн|помни|забуд|забыв|пам'ят|hatırla|unutma|aklında|تذكر|تنس|זכור|תזכ|याद|记住|記住|"
    r"记得|記得|别忘|別忘|覚え|忘れ|기억|잊지",
    re.IGNORECASE,
)
