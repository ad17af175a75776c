"""The files a deployment is made from: linted, and in step with the project."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
NAME = re.compile(r"[A-Za-z0-9._-]+")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not (BIN / "hadolint").exists(), reason="hadolint comes as a wheel for Linux on x86-64 alone")
def test_the_dockerfile_is_sound() -> None:
    done = run(str(BIN / "hadolint"), "Dockerfile")
    assert (done.returncode, done.stdout) == (0, "")


def test_the_compose_file_is_sound() -> None:
    done = run(str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "compose.yaml")
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not on this machine")
def test_the_unit_of_the_page_is_sound(tmp_path: Path) -> None:
    (unit,) = re.findall(r"```ini\n(.*?)```", (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "keepmind.service"
    path.write_text(unit.replace("/opt/keepmind/bin/keepmind run", "/bin/true"), encoding="utf-8")
    done = run("systemd-analyze", "verify", str(path))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_lock_file_holds_every_dependency_at_a_version_that_will_do() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {
        _normal(NAME.match(one)) for one in project["dependencies"] + project["optional-dependencies"]["postgres"]
    }
    locked = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert wanted <= {name.lower() for name, _ in locked}, "`make lock` brings it up to date"
    for name, version in locked:
        assert re.fullmatch(r"[\w.+!]+", version), name


def test_the_lock_file_names_no_index_and_hashes_every_package() -> None:
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    for block in re.split(r"\n(?=\S)", text):
        assert block.startswith("#") or "--hash=sha256:" in block


def _normal(found: re.Match[str] | None) -> str:
    assert found is not None
    return re.sub(r"[-_.]+", "-", found.group()).lower()
