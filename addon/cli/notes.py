"""What an output was made from, noted beside it, so that it need not be made again."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from .files import not_written
from .interrupt import waiting

Lines = list[dict[str, Any]]
"""What was told of a file."""


class Note:
    """A hidden file beside an output that says what it was made from, by content. Paths are as seen from the input, so
    that a folder may be moved with all that is in it."""

    def __init__(self, source: Path, output: Path, options: dict[str, Any]) -> None:
        self._source, self._output, self._options = source, output, options
        self._path = output.with_name(f".{output.name}.planar_ik.json")

    def lines(self) -> Lines | None:
        """What was told when the output was made, if it is there and would be made no other way now."""
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            made = {name: digest(self._whole(name)) for name in kept["made_from"]}
            is_same = kept["options"] == self._options and kept["output"] == digest(self._output)
            knows_source = self._source.name in made or self._is_in_place()
            is_missing = not any(os.path.exists(self._whole(name)) for name in kept["missing"])
            lines: Lines = kept["lines"]
            return lines if is_same and knows_source and is_missing and made == kept["made_from"] else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, source_digest: str, links: list[Path], missing: list[Path], lines: Lines) -> None:
        """Note what the output was made from: the input and the libraries that it links, and which were not there."""
        made = {self._short(path): digest(path) for path in links}
        if not self._is_in_place():
            made[self._source.name] = source_digest
        kept = {
            "options": self._options,
            "made_from": made,
            "missing": [self._short(path) for path in missing],
            "output": digest(self._output),
            "lines": lines,
        }
        unfinished = self._path.with_name(f"{self._path.name}.part")
        try:
            unfinished.write_text(json.dumps(kept), encoding="utf-8")
            unfinished.replace(self._path)
        except OSError as error:
            raise not_written(self._path, error) from error

    def _is_in_place(self) -> bool:
        return self._source.resolve() == self._output

    def _short(self, path: Path) -> str:
        try:
            return Path(os.path.relpath(path, self._source.parent)).as_posix()
        except ValueError:  # It is on another of Windows' drives.
            return path.as_posix()

    def _whole(self, name: str) -> Path:
        return self._source.parent / name


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with waiting(), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
