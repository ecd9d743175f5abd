"""The operators and their arguments, as docs/operators.md lists them: read from the classes, so that all are there.

``PLANAR_IK_SOURCE=1 .venvs/blender-4.5/bin/python -m scripts.arguments`` writes the list anew.
"""

from __future__ import annotations

import re
from math import isclose, pi
from typing import Any

from . import installed
from .package import ROOT

USER = installed.fresh_user_folder() if __name__ == "__main__" else None

import bpy  # noqa: E402

PAGE = ROOT / "docs" / "operators.md"
HEAD = "| operator, argument | takes | if not given | what it does |\n|---|---|---|---|\n"
UNITS = {"ROTATION": "radians", "LENGTH": "scene units"}


def table() -> str:
    """A row for each operator, and below it one for each of its arguments."""
    names = sorted(name for name in dir(bpy.ops.pose) if name.startswith("planar_ik_"))
    return HEAD + "".join(f"{row}\n" for name in names for row in rows_of(name))


def rows_of(name: str) -> list[str]:
    """The rows of one operator."""
    kind: Any = getattr(bpy.ops.pose, name).get_rna_type()
    rows = [f"| **`{name.removeprefix('planar_ik_')}`** | *{kind.name}* | | {' '.join(kind.description.split())} |"]
    for argument in kind.properties:
        if argument.identifier != "rna_type" and not argument.is_hidden:
            usual = "as it is" if name == "planar_ik_set" else default(argument)
            cells = (f"`{argument.identifier}`", values(argument), usual, meaning(argument))
            rows.append(f"| {' | '.join(cells)} |")
    return rows


def values(argument: Any) -> str:
    """What an argument may be."""
    if argument.type == "BOOLEAN":
        return "`True`, `False`"
    if argument.type == "STRING":
        return "text"
    if argument.type == "ENUM":
        return ", ".join(map(word, argument.enum_items_static)) or "an entry of the list"
    types = installed.addon("blender.types")
    low, high = types.allowed_range(argument)
    end = types.ENDLESS
    span = f"{number(low)} to {number(high)}" if high < end else f"from {number(low)}" if low > -end else "any"
    kind = UNITS.get(argument.unit, "int" if argument.type == "INT" else "number")
    return f"{kind}, {span}"


def word(item: Any) -> str:
    """One of the words that an argument may be; a number as the string that it has to be."""
    return f'`"{item.identifier}"`' if item.identifier.lstrip("-").isdigit() else f"`{item.identifier}`"


def default(argument: Any) -> str:
    """What it is if nothing is said."""
    if argument.identifier in ("frame_start", "frame_end"):
        return "the scene's"
    if argument.type == "ENUM":
        return word(argument.enum_items_static[argument.default]) if argument.enum_items_static else ""
    if argument.type == "STRING":
        return "none"
    return f"`{argument.default}`" if argument.type == "BOOLEAN" else number(argument.default)


def number(value: float) -> str:
    """A number as a person writes it."""
    shares = {pi: "π", -pi: "-π", pi / 4.0: "π/4"}
    return next((text for share, text in shares.items() if isclose(value, share, rel_tol=1e-6)), f"{value:.4g}")


def meaning(argument: Any) -> str:
    """What it does, and each of its words."""
    items = argument.enum_items_static if argument.type == "ENUM" else ()
    words = [f"{word(item)}: {item.description or item.name}" for item in items]
    return ". ".join([argument.description, *words])


def page(text: str) -> str:
    """The page with the list as it is now."""
    return re.sub(re.escape(HEAD) + r"(?:\|.*\n)*", lambda _: table(), text)


def main() -> int:
    installed.install()
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    installed.run(main, USER)
