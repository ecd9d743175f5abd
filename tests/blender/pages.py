"""What the pages show as code: every line of it is of a kind, and one test looks after each kind."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from scripts.package import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "scripts/farm/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]

KINDS = {
    "planar_ik": r"blender --command planar_ik \S.*",
    "install": r"blender --command extension .+",
    "openjd": r"openjd run .+",
    "list": r"cd /shots && ls .+",
    # What can't be done in a test, or takes minutes, is looked at instead:
    "make": r"(xvfb-run )?make \w+.*",  # make itself says what it would do: .ci/run and release.yml do it
    "deadline": r"deadline bundle submit .+",  # it takes an account: what it sets is what the template has
    "pytest": r"PLANAR_IK_SOURCE=1 \S+/python -m pytest .+",  # this run is one
    "ci": r"(BLENDER=\S+ )?\.ci/run",  # the shell says whether it could read it: people run it
    "program": r"blender --command planar_ik",  # without a command: what the farm's template calls
    "link": r"ln -s .+",  # of the clone's folder to where Blender looks: the test imports it as that
    "pip": r"pip install .+",  # pyproject.toml pins the same
    "script": r"python \S+\.py",  # the file is there: the farm's tests start it
    "named": r"planar_ik \S.*",  # a command by its name alone, in a sentence
    "room": r"(addon|scripts|tests|__init__\.py)\S* +[a-z`].+",  # of the map of the code: it is there
}
"""The kinds of lines, each with the expression that they match as a whole."""


class Block(NamedTuple):
    """A block of code, and the page and line that it begins at."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def lines(self) -> list[str]:
        """What stands there, without remarks; lines that a backslash joins are one."""
        joined = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [line for line in (re.sub(r"(^|\s+)# .*", "", line).strip() for line in joined) if line]


@cache
def blocks() -> list[Block]:
    """All blocks of all pages, between fences or indented."""
    return [block for page in PAGES for block in _blocks_of(page)]


def _blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fenced = [*re.finditer(r"(?ms)^ *```(\w*)\n(.*?)^ *```$", text)]
    indented = re.finditer(r"(?m)(?<=\n\n)((?: {4,}\S.*\n)+)(?=\n|\Z)", text)
    found = [(match.start(), match[1], match[2]) for match in fenced]
    found += [(match.start(), "", match[1]) for match in indented]
    return [Block(page, text.count("\n", 0, start) + 1, language, code) for start, language, code in sorted(found)]


@cache
def spans() -> list[tuple[Path, str]]:
    """What is code within the sentences of all pages, with its page."""
    return [
        (page, span)
        for page in PAGES
        for span in re.findall(r"`([^`\n]+)`", re.sub(r"(?s)```.*?```", "", page.read_text(encoding="utf-8")))
    ]


def kind_of(line: str) -> str:
    """Of what kind a line is; nothing if of none."""
    return next((kind for kind, expression in KINDS.items() if re.fullmatch(expression, line)), "")


def lines(kind: str) -> list[str]:
    """All lines of a kind, in blocks and in sentences, each once."""
    shown = chain.from_iterable(block.lines for block in blocks() if block.language != "python")
    every = [*shown, *(span for _, span in spans())]
    return sorted({line for line in every if kind_of(line) == kind})
