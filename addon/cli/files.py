"""Opening .blend files, and writing them so that the old file is whole until the new one is."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import bpy

from .arguments import names_file
from .codes import Code, Stop

MAGIC = (b"BLENDER", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""How a .blend file begins: plain, compressed by gzip, or by Zstandard."""

SEEK_TABLE = b"\xb1\xea\x92\x8f"
"""How one compressed by Zstandard ends: with the mark of the format's seekable form."""


def open_blend(path: Path) -> None:
    """Make a file the one that Blender works on."""
    check_blend(path)
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    except RuntimeError as error:
        raise Stop(Code.BAD_INPUT, f"{path} can't be opened: {_words(error)}") from error
    if tuple(bpy.data.version[:2]) > bpy.app.version[:2]:
        saved, here = (".".join(map(str, version[:2])) for version in (bpy.data.version, bpy.app.version))
        raise Stop(
            Code.BAD_INPUT, f"{path} was saved by Blender {saved}, which is newer than this one ({here}): use that"
        )


def check_blend(path: Path) -> None:
    """Stop if there is no .blend file of this name."""
    try:
        with path.open("rb") as file:
            begins = file.read(7)
    except FileNotFoundError as error:
        raise Stop(Code.BAD_INPUT, f"{path} does not exist") from error
    except OSError as error:
        raise Stop(Code.BAD_INPUT, f"{path} can't be read: {error.strerror}") from error
    if not begins.startswith(MAGIC):
        raise Stop(Code.BAD_INPUT, f"{path} is not a .blend file")


def output_of(source: Path, output: str | None, below: Path | None) -> Path:
    """The file to write for an input; without ``output``, the input itself.

    ``below``: a folder that the input is in; the output folder gets the same folders as there are below that one.
    """
    if output is None:
        return source.resolve()
    if names_file(output):
        return Path(output).resolve()
    return (Path(output) / (os.path.relpath(source, below) if below else source.name)).resolve()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other runs from writing the same file. The lock is the system's, so that it ends with the process."""
    if path.exists() and not path.stat().st_mode & stat.S_IWUSR:
        raise Stop(Code.NOT_WRITTEN, f"{path} is read-only")
    beside = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = beside.open("a+b")
    except OSError as error:
        raise Stop(Code.NOT_WRITTEN, f"{path.parent} can't be written to: {error.strerror}") from error
    with file:
        try:
            _lock(file)
            os.stat(beside)  # gone if the run that had it has just ended
        except OSError as error:
            raise Stop(Code.NOT_WRITTEN, f"Another run is writing {path}") from error
        try:
            yield
        finally:
            with suppress(OSError):
                beside.unlink()


def save_blend(path: Path) -> None:
    """Write what Blender works on to a file beside, then rename that."""
    unfinished = path.with_name(f".{path.name}.part.blend")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(unfinished), copy=True, check_existing=False)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        if not is_whole(unfinished):
            raise OSError("what Blender wrote was cut short, as when the disk is full")
        if path.exists():
            shutil.copymode(path, unfinished)
        unfinished.replace(path)
    except (RuntimeError, OSError) as error:
        raise _not_written(path, error) from error
    finally:
        for leftover in (unfinished, unfinished.with_name(f"{unfinished.name}@")):
            with suppress(OSError):  # What can't be removed must not hide what went wrong before.
                leftover.unlink()


def is_whole(path: Path) -> bool:
    """Whether a .blend file has its end: Blender 5.2 reports a compressed file as saved that a full disk cut short."""
    with path.open("rb") as file:
        begins = file.read(4)
        file.seek(-min(64, path.stat().st_size), os.SEEK_END)
        ends = file.read()
    return ends.endswith(SEEK_TABLE) if begins == MAGIC[2] else b"ENDB" in ends


class Note:
    """A hidden file beside an output that says what it was made from, by content."""

    def __init__(self, source: Path, output: Path, options: dict[str, Any]) -> None:
        self._source, self._output, self._options = source, output, options
        self._path = output.with_name(f".{output.name}.planar_ik.json")

    def lines(self) -> list[dict[str, Any]] | None:
        """What was told when the output was made, if it is there and would be made no other way now."""
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            made = {name: digest(Path(name)) for name in kept["made_from"]}
            is_same = kept["options"] == self._options and kept["output"] == digest(self._output)
            knows_source = str(self._source.resolve()) in made or self._source.resolve() == self._output
            return kept["lines"] if is_same and knows_source and made == kept["made_from"] else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, source_digest: str, lines: list[dict[str, Any]]) -> None:
        """Note what the output was made from: the input, and the libraries that it links."""
        made = {name: digest(Path(name)) for name in _libraries()}
        if self._source.resolve() != self._output:
            made[str(self._source.resolve())] = source_digest
        kept = {"options": self._options, "made_from": made, "output": digest(self._output), "lines": lines}
        unfinished = self._path.with_name(f"{self._path.name}.part")
        try:
            unfinished.write_text(json.dumps(kept), encoding="utf-8")
            unfinished.replace(self._path)
        except OSError as error:
            raise _not_written(self._path, error) from error


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _libraries() -> list[str]:
    paths = (Path(bpy.path.abspath(library.filepath, library=library.library)) for library in bpy.data.libraries)
    return [str(path.resolve()) for path in paths if path.exists()]


def _lock(file: IO[bytes]) -> None:
    """Lock a file for this process, or raise OSError."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _not_written(path: Path, error: Exception) -> Stop:
    """Blender's own words for a full disk may be others, so that the free space is told with them."""
    free = shutil.disk_usage(path.parent).free / 1e6
    return Stop(Code.NOT_WRITTEN, f"{path} can't be written ({free:,.1f} MB are free there): {_words(error)}")


def _words(error: Exception) -> str:
    return " ".join(str(error).removeprefix("Error:").split())
