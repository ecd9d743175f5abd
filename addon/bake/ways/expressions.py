"""Which drivers hang on nothing but their variables and the frame, though Python evaluates them."""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

import bl_math
import bpy
from bpy.types import Driver

VARYING = {"frame"}
"""What Blender itself sets anew for every frame."""

HARMLESS = (
    ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Constant, ast.Name, ast.Call,
    ast.List, ast.Tuple, ast.Subscript, ast.Load, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
"""What an expression may be made of that reads nothing but its names."""

BUILTINS = ("abs", "bool", "float", "int", "len", "max", "min", "pow", "round", "sum")

FUNCTIONS: dict[str, Any] = {
    **{name: getattr(builtins, name) for name in BUILTINS},
    **{name: value for name, value in vars(math).items() if not name.startswith("_")},
    **{name: getattr(bl_math, name) for name in ("clamp", "lerp", "smoothstep")},
}
"""What every driver knows without being told, by name."""


def hangs_on_variables(driver: Driver) -> bool:
    """Whether a driver reads nothing but its variables and the frame. Python may read anything by a function that a
    file has registered, or by ``bpy``."""
    if driver.type != "SCRIPTED" or driver.is_simple_expression:
        return True
    try:
        parts = list(ast.walk(ast.parse(driver.expression.strip(), mode="eval")))
    except (SyntaxError, ValueError):
        return False
    names = {part.id for part in parts if isinstance(part, ast.Name)} - {each.name for each in driver.variables}
    return all(isinstance(part, HARMLESS) for part in parts) and all(map(_is_known, names))


def _is_known(name: str) -> bool:
    """Whether a name stands for what it stands for in every file."""
    known = FUNCTIONS.get(name)
    return name in VARYING or (known is not None and bpy.app.driver_namespace.get(name, known) is known)
