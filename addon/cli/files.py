"""Opening .blend files, and writing them so that the old file is whole until the new one is."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import bpy

from .arguments import names_file
from .codes import Code, Stop
from .interrupt import waiting

MAGIC = (b"BLENDER", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""How a .blend file begins: plain, compressed by gzip, or by Zstandard."""

SEEK_TABLE = b"\xb1\xea\x92\x8f"
"""How one compressed by Zstandard ends: with the mark of the format's seekable form."""


ATTEMPTS = 100
"""How often a lock is tried to get whose file another run takes away meanwhile."""


def open_blend(path: Path, use_scripts: bool) -> None:
    """Make a file the one that Blender works on, with its Python or without, whatever the preferences say."""
    check_blend(path)
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=use_scripts)
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
        with waiting(), path.open("rb") as file:
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
        given = str(source)
    elif names_file(output):
        given = output
    else:
        given = os.path.join(output, os.path.relpath(source, below) if below else source.name)
    return Path(os.path.realpath(given))  # Path.resolve fails on links in a circle in Python 3.11.


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other runs from writing the same file, and take away what one left that was killed. The lock is the
    system's, so that it ends with the process."""
    if os.path.exists(path) and not path.stat().st_mode & stat.S_IWUSR:
        raise Stop(Code.NOT_WRITTEN, f"{path} is read-only")
    beside = path.with_name(f".{path.name}.lock")
    with _lock_file(beside, path):
        _clean(path)
        try:
            yield
        finally:
            with suppress(OSError):
                beside.unlink()


def _lock_file(beside: Path, path: Path) -> IO[bytes]:
    """The lock's file, locked; it is the one of that name, so that nobody else can lock another."""
    for _ in range(ATTEMPTS):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = beside.open("a+b")
        except (FileExistsError, NotADirectoryError) as error:
            problem = "a file is where a folder should be"
            raise Stop(Code.NOT_WRITTEN, f"{path.parent} can't be written to: {problem}") from error
        except OSError as error:
            raise Stop(Code.NOT_WRITTEN, f"{path.parent} can't be written to: {error.strerror}") from error
        try:
            _lock(file)
        except OSError:
            file.close()
            break
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(beside)):
                return file
        file.close()  # The run that had it has just ended, and its file is gone.
    raise Stop(Code.NOT_WRITTEN, f"Another run is writing {path}")


def _clean(path: Path) -> None:
    """Take away what is not finished of an output, and the copies that Blender makes of that."""
    unfinished = path.with_name(f".{path.name}.part.blend")
    for leftover in (unfinished, *(unfinished.with_name(f"{unfinished.name}{end}") for end in "1@")):
        with suppress(OSError):  # What can't be removed must not hide what went wrong before.
            leftover.unlink()


def save_blend(path: Path) -> None:
    """Write what Blender works on to a file beside, then rename that."""
    unfinished = path.with_name(f".{path.name}.part.blend")
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(unfinished), copy=True, check_existing=False)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        if not is_whole(unfinished):
            raise OSError("what Blender wrote was cut short, as when the disk is full")
        if os.path.exists(path):
            shutil.copymode(path, unfinished)
        unfinished.replace(path)
    except (RuntimeError, OSError) as error:
        raise not_written(path, error) from error
    finally:
        _clean(path)


def is_whole(path: Path) -> bool:
    """Whether a .blend file has its end: Blender 5.2 reports a compressed file as saved that a full disk cut short."""
    with path.open("rb") as file:
        begins = file.read(4)
        file.seek(-min(64, path.stat().st_size), os.SEEK_END)
        ends = file.read()
    return ends.endswith(SEEK_TABLE) if begins == MAGIC[2] else b"ENDB" in ends


def _lock(file: IO[bytes]) -> None:
    """Lock a file for this process, or raise OSError."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def not_written(path: Path, error: Exception) -> Stop:
    """What a file that can't be written is answered with: the free space, for on a full disk Blender misses the file
    that it could not finish, and says so."""
    free = shutil.disk_usage(path.parent).free / 1e6
    why = _words(error)
    if os.strerror(errno.ENOENT) in why:  # in a folder that is there
        why = "Blender could not finish it, as when the disk is full"
    return Stop(Code.NOT_WRITTEN, f"{path} can't be written ({free:,.1f} MB are free there): {why}")


def _words(error: Exception) -> str:
    return " ".join(str(error).removeprefix("Error:").split())
