"""What Discord checks in buttons, selects and forms: https://docs.discord.com/developers/components/reference."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from adapters.discord.server.refusals import Json, bad_choice, bad_length, form, required, too_long
from adapters.discord.server.world import walk

ROW, BUTTON, STRING_SELECT, TEXT_INPUT, SECTION, TEXT, CONTAINER, LABEL = 1, 2, 3, 4, 9, 10, 17, 18
SELECTS = (3, 5, 6, 7, 8)
NEWER = (9, 10, 11, 12, 13, 14, 17)
LINK, PREMIUM = 5, 6
MOST_ROWS, MOST_IN_ROW, MOST_NEWER, MOST_TEXT = 5, 5, 40, 4000


def numbered(components: list[Json]) -> list[Json]:
    """Give each component the number it is known by in its message."""
    numbers = count(1)

    def number(one: Json) -> Json:
        told = {"id": one.get("id") or next(numbers)} | one
        if "components" in one:
            told["components"] = [number(inner) for inner in one["components"]]
        for name in ("accessory", "component"):
            if one.get(name):
                told[name] = number(one[name])
        return told

    return [number(one) for one in components]


def check_components(components: object, *, newer: bool) -> list[Json]:
    """Check what is under a message, `newer` being the flag for layouts of components alone. Raises Refusal."""
    found = _list(components, "components")
    if newer:
        _check_newer(found)
    else:
        if len(found) > MOST_ROWS:
            raise bad_length("components", 1, MOST_ROWS)
        for index, row in enumerate(found):
            if row.get("type") != ROW:
                raise bad_choice(f"components.{index}.type", "1")
    for index, one in enumerate(found):
        _check(one, f"components.{index}")
    _check_unique(found)
    return numbered(found)


def _check_newer(components: list[Json]) -> None:
    every = list(walk(components))
    if len(every) > MOST_NEWER:
        raise bad_length("components", 1, MOST_NEWER)
    if sum(len(str(one.get("content", ""))) for one in every if one.get("type") == TEXT) > MOST_TEXT:
        raise form("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", f"Must be {MOST_TEXT} or fewer in length.")


def _check(one: Json, path: str) -> None:
    kind = one.get("type")
    check: Callable[[Json, str], None] | None = _CHECKS.get(kind) if isinstance(kind, int) else None
    if check is None:
        raise bad_choice(f"{path}.type", ", ".join(map(str, sorted(_CHECKS))))
    check(one, path)


def _check_row(row: Json, path: str) -> None:
    inside = _list(row.get("components"), f"{path}.components")
    if not 1 <= len(inside) <= MOST_IN_ROW:
        raise bad_length(f"{path}.components", 1, MOST_IN_ROW)
    kinds = {one.get("type") for one in inside}
    if kinds != {BUTTON} and (len(inside) > 1 or not kinds <= {*SELECTS}):
        raise form(
            f"{path}.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width"
        )
    for index, one in enumerate(inside):
        _check(one, f"{path}.components.{index}")


def _check_button(button: Json, path: str) -> None:
    style = button.get("style")
    if style not in range(1, 7):
        raise bad_choice(f"{path}.style", "1, 2, 3, 4, 5, 6")
    if len(button.get("label") or "") > 80:
        raise too_long(f"{path}.label", 80)
    if style == LINK:
        if not str(button.get("url", "")).startswith(("http://", "https://", "discord://")):
            raise form(f"{path}.url", "URL_TYPE_INVALID_SCHEME", "Scheme must be one of ('http', 'https', 'discord').")
        if button.get("custom_id"):
            raise form(
                path,
                "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE",
                "A custom id and url cannot both be specified",
            )
    elif style != PREMIUM:
        _check_custom_id(button, path)
    if style != PREMIUM and not button.get("label") and not button.get("emoji"):
        raise form(path, "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED", "A label or emoji must be specified")


def _check_custom_id(one: Json, path: str) -> None:
    if one.get("custom_id") in (None, ""):
        raise form(f"{path}.custom_id", "COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required")
    if len(one["custom_id"]) > 100:
        raise bad_length(f"{path}.custom_id", 1, 100)


def _check_select(select: Json, path: str) -> None:
    _check_custom_id(select, path)
    if len(select.get("placeholder") or "") > 150:
        raise too_long(f"{path}.placeholder", 150)
    least, most = select.get("min_values", 1), select.get("max_values", 1)
    if not (0 <= least <= 25 and 1 <= most <= 25 and least <= most):
        raise form(f"{path}.max_values", "NUMBER_TYPE_MAX", "int value should be less than or equal to 25.")
    if select["type"] == STRING_SELECT:
        _check_options(select, path)


def _check_options(select: Json, path: str) -> None:
    options = _list(select.get("options"), f"{path}.options")
    if not 1 <= len(options) <= 25:
        raise bad_length(f"{path}.options", 1, 25)
    for index, option in enumerate(options):
        for name, most, is_needed in (("label", 100, True), ("value", 100, True), ("description", 100, False)):
            text = option.get(name) or ""
            if is_needed and not text:
                raise required(f"{path}.options.{index}.{name}")
            if len(text) > most:
                raise too_long(f"{path}.options.{index}.{name}", most)
    values = [option["value"] for option in options]
    for index, value in enumerate(values):
        if value in values[:index]:
            raise form(
                f"{path}.options.{index}.value",
                "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
                "The specified option value is already used",
            )


def _check_text(text: Json, path: str) -> None:
    if not text.get("content"):
        raise required(f"{path}.content")


def _check_inside(one: Json, path: str) -> None:
    for index, inner in enumerate(one.get("components", [])):
        _check(inner, f"{path}.components.{index}")
    if one.get("accessory"):
        _check(one["accessory"], f"{path}.accessory")


def _check_nothing(one: Json, path: str) -> None:
    """Take it as it is."""


def _check_input(one: Json, path: str) -> None:
    _check_custom_id(one, path)
    if one.get("style") not in (1, 2):
        raise bad_choice(f"{path}.style", "1, 2")
    for name, most in (("label", 45), ("placeholder", 100), ("value", 4000)):
        if len(one.get(name) or "") > most:
            raise too_long(f"{path}.{name}", most)
    least, most = one.get("min_length") or 0, one.get("max_length") or 4000
    if not 0 <= least <= 4000 or not 1 <= most <= 4000 or least > most:
        raise form(f"{path}.max_length", "NUMBER_TYPE_MAX", "int value should be less than or equal to 4000.")
    if one.get("value") and not least <= len(one["value"]) <= most:
        raise bad_length(f"{path}.value", least, most)


_CHECKS: dict[int, Callable[[Json, str], None]] = {
    ROW: _check_row,
    BUTTON: _check_button,
    **dict.fromkeys(SELECTS, _check_select),
    **dict.fromkeys(NEWER, _check_nothing),
    TEXT: _check_text,
    SECTION: _check_inside,
    CONTAINER: _check_inside,
}


def _check_unique(components: list[Json]) -> None:
    seen: set[str] = set()
    for one in walk(components):
        name = one.get("custom_id")
        if name in seen:
            raise form("components", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
        if name:
            seen.add(name)


def check_modal(data: Json) -> Json:
    """Check a form. Raises Refusal."""
    for name, most in (("custom_id", 100), ("title", 45)):
        text = data.get(name)
        if not text:
            raise required(f"data.{name}")
        if len(text) > most:
            raise bad_length(f"data.{name}", 1, most)
    parts = _list(data.get("components"), "data.components")
    if not 1 <= len(parts) <= MOST_ROWS:
        raise bad_length("data.components", 1, MOST_ROWS)
    for index, part in enumerate(parts):
        _check_part(part, f"data.components.{index}")
    _check_unique(parts)
    return data | {"components": numbered(parts)}


def _check_part(part: Json, path: str) -> None:
    if part.get("type") == LABEL:
        _check_label(part, path)
    elif part.get("type") == ROW:
        inside = _list(part.get("components"), f"{path}.components")
        if len(inside) != 1:
            raise bad_length(f"{path}.components", 1, 1)
        if not inside[0].get("label"):
            raise required(f"{path}.components.0.label")
        _check_field(inside[0], f"{path}.components.0")
    elif part.get("type") == TEXT:
        _check_text(part, path)
    else:
        raise bad_choice(f"{path}.type", "1, 10, 18")


def _check_label(part: Json, path: str) -> None:
    if not 1 <= len(part.get("label") or "") <= 45:
        raise bad_length(f"{path}.label", 1, 45)
    if len(part.get("description") or "") > 100:
        raise too_long(f"{path}.description", 100)
    if not isinstance(part.get("component"), dict):
        raise required(f"{path}.component")
    _check_field(part["component"], f"{path}.component")


def _check_field(one: Json, path: str) -> None:
    if one.get("type") == TEXT_INPUT:
        _check_input(one, path)
    elif one.get("type") in SELECTS:
        _check_select(one, path)
    else:
        raise bad_choice(f"{path}.type", "3, 4, 5, 6, 7, 8")


def _list(value: object, path: str) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise form(path, "BASE_TYPE_LIST" if value is not None else "BASE_TYPE_REQUIRED", "This field is required")
    return value
