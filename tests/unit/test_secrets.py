"""What is never stored as a fact."""

from __future__ import annotations

import pytest

from core.draft import normal_key
from core.secrets import holds_secret, looks_secret, stated_as_secret
from tests.talks import a_world, facts, results, tell


@pytest.mark.parametrize(
    "key",
    [
        "password", "wifi password", "API key", "pin", "PIN code", "cvv", "Kennwort", "WLAN-Passwort",
        "mot de passe", "contraseña del correo", "senha", "wachtwoord", "hasło", "şifre", "lösenord", "пароль",
        "пароль от почты", "κωδικός πρόσβασης", "סיסמה", "كلمة المرور", "पासवर्ड", "รหัสผ่าน", "密码", "密碼",
        "パスワード", "暗証番号", "비밀번호", "secret", "access_token", "credit card", "номер карты", "seed phrase",
    ],
)  # fmt: skip
def test_a_key_that_names_a_secret_is_refused_in_any_language(key: str) -> None:
    assert looks_secret(normal_key(key), "x")


@pytest.mark.parametrize(
    "key",
    [
        "secretary", "secret_santa", "passion", "hobby", "pinball", "spinning", "compass", "tokens_of_love",
        "passport_country", "keyboard", "parola_preferita",
    ],
)  # fmt: skip
def test_a_key_that_only_looks_like_one_is_taken(key: str) -> None:
    assert not looks_secret(key, "x")


@pytest.mark.parametrize(
    "text",
    [
        "my password is hunter2", "Password: swordfish", "the wifi password at home is Blue-Horse", "pin = 4711",
        "mein Passwort ist Rosenkohl", "mon mot de passe est soleil", "mi contraseña es perro", "minha senha é gato",
        "la mia parola d'ordine è sole", "мой пароль - котик77", "пароль от почты: котик", "我的密码是abc",
        "パスワードはneko123", "비밀번호는 1234abc", "hunter2 is my password", "4111 1111 1111 1111",
        "4111-1111-1111-1111", "4111.1111.1111.1111", "４１１１ １１１１ １１１１ １１１１", "٤١١١ ١١١١ ١١١١ ١١١١",
        "sk-abcdefghijklmnop1234", "ghp_" + "a1" * 18, "123456789:" + "Aa1_-" * 7, "AKIAABCDEFGHIJKLMNOP",
        "-----BEGIN RSA PRIVATE KEY-----", "AIza" + "b" * 35,
    ],
)  # fmt: skip
def test_a_stated_secret_is_seen_in_any_language(text: str) -> None:
    assert holds_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "I forget my passwords", "likes password managers", "born 1990-05-03", "+44 20 7946 0958", "1234 5678",
        "plays the secretary", "collects tokens", "Anna", "0000000000000000",
    ],
)  # fmt: skip
def test_an_ordinary_text_is_no_secret(text: str) -> None:
    assert not holds_secret(text)


def test_a_bare_value_is_known_by_how_it_was_said() -> None:
    words = "I am Max the gardener. My password is very1long, remember it for Verona."
    assert stated_as_secret("very1long", words)
    assert not stated_as_secret("Max", words)
    assert not stated_as_secret("Verona", words)
    assert not stated_as_secret("the Beatles", "I keep my password on the fridge and love the Beatles")


@pytest.mark.parametrize(
    ("key", "value"),
    [("password", "hunter2"), ("notes", "my password is hunter2"), ("notes", "hunter2"), ("card", "4111111111111111")],
)
async def test_a_secret_told_to_be_remembered_is_not_stored(key: str, value: str) -> None:
    world = a_world()
    await tell(world, "Remember: my password is hunter2, my card 4111111111111111", ("add", key, value), beside="")
    assert await facts(world) == {}
    assert "never stored" in results(world)[0]
    assert "hunter2" not in results(world)[0]
