"""The form of the formulas: no trigonometry, no Blender, and nothing decided by a value."""

import ast
import math
import operator
import random
from pathlib import Path

import pytest
from hypothesis import given

import addon.solver
from addon.solver import Plane, planar, pose_limb
from addon.solver.arrays import mapped
from addon.solver.ops import FLOATS
from addon.solver.record import RECORDER, Node, in_order, inputs
from tests.solver.shapes import Case, cases, planes, quaternion, seeds

FILES = sorted(Path(addon.solver.__file__).parent.glob("*.py"))
TRANSCENDENTAL = {
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("arcsin", "arccos", "arctan", "arctan2", "arcsinh", "arccosh", "arctanh", "sinc", "cbrt", "hypot", "dist"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "pow", "power", "float_power", "math.pow"),
    *("pi", "tau", "degrees", "radians", "deg2rad", "rad2deg", "angle", "phase", "polar", "rect", "unwrap", "cmath"),
}


def test_the_files_are_found():
    assert {"limb.py", "planar.py", "rotation.py", "triangle.py"} <= {file.name for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_trigonometry_and_no_blender(file):
    for node in ast.walk(ast.parse(file.read_text())):
        names = set()
        if isinstance(node, ast.Name):
            names = {node.id}
        elif isinstance(node, ast.Attribute):
            names = {node.attr}
            is_math = isinstance(node.value, ast.Name) and node.value.id == "math"
            assert not is_math or node.attr in ("sqrt", "prod"), f"line {node.lineno}: math.{node.attr}"
        elif isinstance(node, ast.Import):
            names = {part for alias in node.names for part in alias.name.split(".")}
        elif isinstance(node, ast.ImportFrom):
            names = {*(node.module or "").split("."), *(alias.name for alias in node.names)}
            assert node.level <= 1, f"line {node.lineno} imports from above the solver"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = {node.value}  # as in getattr(math, "sin")
        assert not names & TRANSCENDENTAL, f"line {node.lineno}: {names & TRANSCENDENTAL}"
        assert not names & {"bpy", "mathutils", "bmesh", "bl_math"}, f"line {node.lineno}: {names}"
        assert not isinstance(node, ast.Pow), "a power is a product of its own or a transcendental function"


OPERATIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "neg": operator.neg,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "sqrt": math.sqrt,
    "min": FLOATS.minimum,
    "max": FLOATS.maximum,
    "select": FLOATS.select,
}


def evaluated(results, numbers):
    """What recorded results come to, for these inputs by name."""
    done = {}

    def of(part):
        return done[part] if isinstance(part, Node) else part

    for node in in_order([result for result in results if isinstance(result, Node)]):
        if node.operation == "input":
            done[node] = numbers[node.parts[0]]
        elif node.operation == "constant":
            done[node] = node.parts[0]
        else:
            done[node] = OPERATIONS[node.operation](*map(of, node.parts))
    return [of(result) for result in results]


def flat(tree):
    return [number for part in tree for number in flat(part)] if isinstance(tree, tuple) else [tree]


def check_formula(formula, given):
    """Recorded on inputs, a formula gives what it gives on numbers; a `Node` refuses to be branched on."""
    numbers = [number for number in flat(given) if number is not None]
    nodes = iter(inputs("number", len(numbers)))
    results = flat(formula(*mapped(lambda _: next(nodes), given), RECORDER))
    found = evaluated(results, {f"number{i}": number for i, number in enumerate(numbers)})
    assert found == flat(formula(*given, FLOATS))


@given(cases(), planes, seeds)
def test_a_limb_is_a_formula(case: Case, plane: Plane, seed: int):
    def formula(target, reference, settings, pole, own, m):
        return pose_limb(target, reference, settings, plane, m, pole, own)

    rng = random.Random(seed)
    places = [tuple(place.tolist()) for place in (case.target, case.pole)]
    own = (quaternion(rng), quaternion(rng)) if rng.random() < 0.5 else None
    settings = case.settings._replace(influence=rng.random())
    check_formula(formula, (places[0], case.shape.reference, settings, places[1], own))


@given(seeds)
def test_the_plane_is_a_formula(seed):
    rng = random.Random(seed)
    given = rng.gauss(0, 1), rng.gauss(0, 1), rng.random(), rng.random(), rng.choice([-1.0, 1.0])
    check_formula(planar._solve, given)


def test_a_formula_that_branches_is_refused():
    (number,) = inputs("number", 1)
    with pytest.raises(TypeError, match="branch"):
        bool(number < 1.0)
