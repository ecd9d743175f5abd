"""Which drivers hang on nothing but their variables and the frame, though Python evaluates them."""

from __future__ import annotations

import ast
import builtins
import dis
import math
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import bl_math
import bpy
from bpy.types import Driver
from mathutils import noise

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

MODULES = (math, bl_math, noise)
"""Those of whose functions a registered one may make use."""

READING = {"LOAD_GLOBAL", "LOAD_ATTR", "LOAD_METHOD"}
"""What a harmless function does by name."""


def is_trusted(driver: Driver) -> bool:
    """Whether Blender evaluates a driver in every file, though no Python of the file runs."""
    return _is_made_of(driver, _is_blenders)


def hangs_on_variables(driver: Driver) -> bool:
    """Whether a driver reads nothing but its variables and the frame. Python may read anything by ``bpy``, or by a
    function that a file has registered; of that, what it is made of tells."""
    return _is_made_of(driver, lambda name: _is_harmless(bpy.app.driver_namespace.get(name, FUNCTIONS.get(name))))


def _is_made_of(driver: Driver, is_known: Callable[[str], bool]) -> bool:
    """Whether a driver's expression reads nothing but its variables, the frame, and what is known by name."""
    if driver.type != "SCRIPTED" or driver.is_simple_expression:
        return True
    try:
        parts = list(ast.walk(ast.parse(driver.expression.strip(), mode="eval")))
    except (SyntaxError, ValueError):
        return False
    names = {part.id for part in parts if isinstance(part, ast.Name)} - {each.name for each in driver.variables}
    return all(isinstance(part, HARMLESS) for part in parts) and all(map(is_known, names - VARYING))


def _is_blenders(name: str) -> bool:
    """Whether a name stands for what it stands for in every file."""
    known = FUNCTIONS.get(name)
    return known is not None and bpy.app.driver_namespace.get(name, known) is known


def _is_harmless(value: Any, callers: tuple[Any, ...] = ()) -> bool:
    """Whether a function, or what one reads, hangs on nothing but what it is called with, directly or by others that it
    calls."""
    if isinstance(value, int | float | str) or any(value is known for known in (*FUNCTIONS.values(), *MODULES)):
        return True
    if not isinstance(value, FunctionType) or value in callers:
        return False
    code, names = value.__code__, value.__globals__
    is_plain = not (code.co_freevars or code.co_cellvars or value.__kwdefaults__)
    is_plain = is_plain and all(isinstance(each, int | float) for each in value.__defaults__ or ())
    is_plain = is_plain and not any(isinstance(each, CodeType) for each in code.co_consts)
    return is_plain and all(
        each.opname in READING and _may_read(each, names, (*callers, value))
        for each in dis.get_instructions(code)
        if each.opcode in dis.hasname
    )


def _may_read(instruction: dis.Instruction, names: dict[str, Any], callers: tuple[Any, ...]) -> bool:
    """Whether what a function reads by a name is harmless: another thing, or a part of one of `MODULES`."""
    name = instruction.argval
    if instruction.opname == "LOAD_GLOBAL":
        return _is_harmless(names.get(name, getattr(builtins, name, None)), callers)
    return any(hasattr(module, name) for module in MODULES)
