"""Time zones are IANA names, and nothing else passes for one."""

from core.zones import zone_of


def test_only_a_name_of_the_iana_database_is_a_zone() -> None:
    assert str(zone_of("Europe/Rome")) == "Europe/Rome"
    assert [zone_of(name) for name in ("", "Rome", "../etc/passwd", "a\0b")] == [None] * 4
