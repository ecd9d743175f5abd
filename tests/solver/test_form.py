"""The form of the formulas: no trigonometry, no Blender, and nothing decided by a value."""

import ast
import operator
import random
from itertools import product
from pathlib import Path

import pytest

import addon.solver
from addon.solver import planar
from addon.solver.chain import Features, Plane, Uninherited, axes_for, solve_chain, tip_position
from addon.solver.compiled import bind
from addon.solver.limb import limb
from addon.solver.ops import FLOATS, Ops
from addon.solver.rotation import components
from addon.solver.triangle import Settings
from tests.solver.shapes import own_pose, pole_for, quaternion, rest_shape, seeded, target_for

FILES = sorted(Path(addon.solver.__file__).parent.glob("*.py"))
TRANSCENDENTAL = {
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("arcsin", "arccos", "arctan", "arctan2", "arcsinh", "arccosh", "arctanh", "sinc", "cbrt", "hypot", "dist"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "pow", "power", "float_power", "math.pow"),
    *("pi", "tau", "degrees", "radians", "deg2rad", "rad2deg", "angle", "phase", "polar", "rect", "unwrap", "cmath"),
}


def test_the_files_are_found():
    assert {"chain.py", "limb.py", "planar.py", "rotation.py", "triangle.py"} <= {file.name for file in FILES}


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


class Traced:
    """A number not yet known, which does what the contract says formulas use, and nothing else."""

    def __init__(self, function, *parts):
        self.function = function
        self.parts = parts

    def __bool__(self):
        raise AssertionError("a formula branched on a value")

    __hash__ = None

    def __neg__(self):
        return Traced(operator.neg, self)

    def __abs__(self):
        return Traced(abs, self)


def allow(name):
    function = getattr(operator, name)
    setattr(Traced, f"__{name}__", lambda self, other: Traced(function, self, other))
    if name in ("add", "sub", "mul", "truediv"):
        setattr(Traced, f"__r{name}__", lambda self, other: Traced(function, other, self))


for each in ("add", "sub", "mul", "truediv", "lt", "le", "gt", "ge"):
    allow(each)


def deferred(function):
    return lambda *parts: Traced(function, *parts)


TRACER = Ops(*map(deferred, FLOATS[:4]))


def traced(tree, leaves):
    """The same nested tuples of inputs, each of which takes what is then the next of ``leaves``."""
    if isinstance(tree, tuple):
        branches = [traced(branch, leaves) for branch in tree]
        return type(tree)(*branches) if hasattr(tree, "_fields") else tuple(branches)
    if tree is None:
        return None
    leaves.append(tree)
    place = len(leaves) - 1
    return Traced(lambda: leaves[place])


def evaluated(tree, done):
    """The numbers in nested tuples, every step of the recorded formulas done once."""
    if isinstance(tree, tuple):
        return [evaluated(branch, done) for branch in tree]
    if not isinstance(tree, Traced):
        return tree
    stack = [tree]
    while stack:
        node = stack[-1]
        waiting = [part for part in node.parts if isinstance(part, Traced) and id(part) not in done]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        done[id(node)] = node.function(*(done[id(p)] if isinstance(p, Traced) else p for p in node.parts))
    return done[id(tree)]


def assert_formula(formula, cases):
    """Recorded on the first case, the formula gives for every case what it gives on numbers."""
    leaves = []
    tree = formula(*traced(cases[0], leaves), TRACER)
    for case in cases:
        fresh = []
        traced(case, fresh)
        leaves[:] = fresh
        assert evaluated(tree, {}) == listed(formula(*case, FLOATS))


def listed(tree):
    return [listed(branch) for branch in tree] if isinstance(tree, tuple) else tree


CASES = 20
FEATURES = [Features(*on, plane) for on in product((False, True), repeat=3) for plane in Plane]


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("is_uninherited", [False, True])
def test_a_chain_is_a_formula(features, is_uninherited):
    def formula(target, rest, settings, pole, own, uninherited, tolerance, m):
        return solve_chain(target, rest, settings, features, m, pole, own, uninherited, tolerance)

    cases = []
    for seed in range(CASES):
        rng, rest = seeded(seed)
        settings = Settings(rng.uniform(-1, 1), rng.random(), rng.random(), 2.0, 0.9, 0.1, rng.random())
        pole = pole_for(rest, rng)
        uninherited = Uninherited(quaternion(rng), quaternion(rng)) if is_uninherited else None
        cases.append((tuple(target_for(rest, rng)), rest.limb, settings, pole, own_pose(rng), uninherited, 1e-9))
    assert_formula(formula, cases)


def test_the_plane_is_a_formula():
    rng = random.Random(1)
    cases = [
        (rng.gauss(0, 1), rng.gauss(0, 1), rng.random(), rng.random(), rng.choice([-1.0, 1.0])) for _ in range(CASES)
    ]
    assert_formula(planar._solve, cases)


def test_a_limbs_shape_is_a_formula():
    rests = [rest_shape(random.Random(seed)) for seed in range(CASES)]
    assert_formula(limb, [(tuple(r.knee), tuple(r.lower), tuple(map(tuple, r.frame.T))) for r in rests])


@pytest.mark.parametrize("is_uninherited", [False, True])
def test_forward_kinematics_is_a_formula(is_uninherited):
    cases = []
    for seed in range(CASES):
        rng = random.Random(seed)
        uninherited = Uninherited(quaternion(rng), quaternion(rng)) if is_uninherited else None
        cases.append((own_pose(rng), rest_shape(rng).limb, 1.2, uninherited))
    assert_formula(lambda own, rest, stretch, uninherited, m: tip_position(own, rest, stretch, uninherited), cases)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("is_uninherited", [False, True])
def test_the_drivers_function_is_the_same_formula(features, is_uninherited):
    for seed in range(CASES):
        rng, rest = seeded(seed, "bent")
        settings = Settings(rng.uniform(-1, 1), rng.random(), rng.random(), 2.0, 0.9, 0.1, rng.random())
        pole = pole_for(rest, rng)
        uninherited = Uninherited(quaternion(rng), quaternion(rng)) if is_uninherited else None
        own, target = own_pose(rng), tuple(target_for(rest, rng).tolist())
        solution = solve_chain(target, rest.limb, settings, features, FLOATS, pole, own, uninherited)
        axes = axes_for(rest.limb, features.plane)
        given = list(components(target, axes))
        if features.plane is Plane.POLE:
            given += components(pole, axes)
        if features.blended:
            given += [*own.upper, *own.lower]
        solved = bind(rest.limb, settings, features, 1e-12, uninherited)(*given)
        assert (solved[0:4], solved[4:8], *solved[8:]) == solution
