"""Sets a case up: two source distributions from the package index, one tree, one environment.

Downloads are cached by digest, environments by their requirements and interpreter, trees by case; each is made in
a folder beside its place and moved there when whole, so that an interrupted set-up is simply done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rootproof.apps.bench import children
from rootproof.apps.bench.manifest import Case, Sdist

SETUP_SECONDS = 600
ADDED_OPTIONS = rb"""(?m)^addopts[ \t]*=[ \t]*(\[[^\]]*\]|\"{3}[^\"]*\"{3}|.*(\n[ \t]+\S.*)*)\n"""


@dataclass(frozen=True)
class Prepared:
    """A case that is ready to run."""

    case: Case
    root: Path
    """The buggy tree with the fixed release's tests; nothing of the truth is in it."""
    python: Path
    import_path: tuple[Path, ...]

    @property
    def env(self) -> dict[str, str]:
        """What the manifest's cases were verified with."""
        return {
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",
            "LC_ALL": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(str(path) for path in self.import_path),
        }


@dataclass(frozen=True)
class SetupFailed:
    """A case that could not be set up here, with the reason. It counts as a miss."""

    case: Case
    reason: str


def prepare(case: Case, work: Path, interpreter: Path, extra: str = "") -> Prepared | SetupFailed:
    """Set one case up under ``work``, or find it there. Takes the network only for what is not cached.

    ``extra`` is one more requirement, installed with whatever it needs itself; the tree is then not put on the import
    path by the environment, so that a peer can work in a copy of it.
    """
    try:
        tree = _tree(case, work)
        python = _environment(case, work, interpreter, extra)
        python = python if extra else _own(case, tree, python)
    except (OSError, ValueError, tarfile.TarError, zipfile.BadZipFile) as error:
        return SetupFailed(case, f"{type(error).__name__}: {str(error)[-600:]}")
    return Prepared(case, tree, python, _import_path(case, tree))


def _import_path(case: Case, tree: Path) -> tuple[Path, ...]:
    """The src or lib layout, where a tree has one, is what a test must import."""
    module = case.module.replace(".", "/")
    layouts = [tree / name for name in ("src", "lib") for end in ("", ".py") if (tree / name / (module + end)).exists()]
    return (*layouts, tree)


def _tree(case: Case, work: Path) -> Path:
    place = work / "trees" / case.id
    if place.is_dir():
        return place
    buggy, fixed = _fetch(case.package, case.buggy, work), _fetch(case.package, case.fixed, work)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{case.id}-") as scratch:
        old, new = _unpack(buggy, Path(scratch) / "buggy"), _unpack(fixed, Path(scratch) / "fixed")
        for source, target in case.overlay:
            _lay_over(new / source, old / target)
        drop_added_options(old)
        old.rename(place)
    return place


def drop_added_options(tree: Path) -> None:
    """Cases are run without the project's ``addopts``, which ask for plugins that the pinned environment lacks."""
    for name in ("pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"):
        file = tree / name
        if file.is_file():
            text = file.read_bytes()
            file.write_bytes(re.sub(ADDED_OPTIONS, b"", text))


def _lay_over(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _fetch(package: str, sdist: Sdist, work: Path) -> Path:
    """The distribution's file, with its digest checked every time it is used."""
    place = work / "downloads" / sdist.file
    if not place.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
            wanted = f"{package}=={sdist.version}"
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", package]
            _run([*pip, "-d", scratch, wanted])
            found = [path for path in Path(scratch).iterdir() if path.name.lower() == sdist.file.lower()]
            if not found:
                raise ValueError(f"the index has no {sdist.file}")
            found[0].rename(place)
    digest = hashlib.sha256(place.read_bytes()).hexdigest()
    if digest != sdist.sha256:
        place.unlink()
        raise ValueError(f"{sdist.file} has digest {digest}, not the manifest's")
    return place


def _unpack(archive: Path, place: Path) -> Path:
    """Unpack beneath ``place`` and give back the distribution's one top folder."""
    place.mkdir(parents=True)
    if archive.name.endswith(".zip"):
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(place)  # zipfile drops ".." and absolute parts itself
    else:
        with tarfile.open(archive) as packed_tar:
            members = [member for member in packed_tar.getmembers() if _harmless(member)]
            packed_tar.extractall(place, members)
    top = [path for path in place.iterdir() if path.is_dir()]
    if len(top) != 1:
        raise ValueError(f"{archive.name} has {len(top)} top folders")
    return top[0]


def _harmless(member: tarfile.TarInfo) -> bool:
    """Plain files and folders beneath the archive's own top; links and devices are left out."""
    path = PurePosixPath(member.name)
    member.mode = 0o755 if member.isdir() else 0o644
    return (member.isfile() or member.isdir()) and not path.is_absolute() and ".." not in path.parts


def _environment(case: Case, work: Path, interpreter: Path, extra: str) -> Path:
    key = json.dumps([str(interpreter), sorted(case.requirements), *([extra] if extra else [])]).encode()
    place = work / "environments" / f"{case.package}-{hashlib.sha256(key).hexdigest()[:12]}"
    python = place / "bin" / "python"
    if (place / "whole").is_file():
        return python
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv:
        _run([uv, "venv", "-q", "--python", str(interpreter), str(place)])
        install = [uv, "pip", "install", "-q", "--compile-bytecode", "--python", str(python)]
    else:
        _run([str(interpreter), "-m", "venv", str(place)])
        install = [str(python), "-m", "pip", "install", "-q"]
    _run([*install, "--no-deps", *case.requirements])
    if extra:
        _run([*install, extra])
    (place / "whole").write_text("")
    return python


def _own(case: Case, tree: Path, python: Path) -> Path:
    """The environment as this case's own: hard links, and the tree on the import path, before what is installed.

    So a diagnosis needs to be told nothing but the interpreter, as where a project is installed to be edited.
    """
    base = python.parent.parent
    place = base.parent / "own" / f"{case.id}-{base.name}"
    if not (place / "whole").is_file():
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(base, place, symlinks=True, copy_function=os.link, ignore=shutil.ignore_patterns("whole"))
        paths = [str(path) for path in _import_path(case, tree)]
        for packages in place.glob("lib/python3*/site-packages"):
            (packages / "rootproof_bench_case.pth").write_text(f"import sys; sys.path[:0] = {paths!r}\n")
        (place / "whole").write_text("")
    return place / "bin" / "python"


def _run(argv: list[str]) -> None:
    done = children.run(argv, SETUP_SECONDS)
    if done.late or done.status:
        why = "took too long" if done.late else f"ended with {done.status}"
        raise ValueError(f"{' '.join(argv[:4])} {why}: {done.stderr.decode('utf-8', 'replace')[-500:]}")
