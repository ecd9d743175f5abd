"""What the drivers of a chain on the rig say: simple, short enough, and never invalid whatever they are fed."""

from __future__ import annotations

from functools import cache
from itertools import product

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.natives import make_portable
from tests.blender.rigs import HIP, Bone, fresh_rig, make_chain, make_empty, update
from tests.blender.simple_expressions import Model

ROWS = 1_000_000
SLAB = 50_000
LARGEST = float(np.finfo(np.float32).max)

SHAPES = [(1.0, 0.9), (0.6, 1.3), (0.8, 0.8)]
SETTINGS = [
    {},
    {"bend": 0.4},
    {"softness": 0.1},
    {"stretch": 0.7, "stretch_volume": "VOLUME", "min_angle": 0.4, "max_angle": 2.8, "softness": 0.05},
]
PIECES = "facghijlo"
ANIMATED = ("softness", "stretch", "stretch_max", "min_angle", "max_angle", "bend", "enabled")
TURNED = ("hinge_angle", "lower_twist", "pole_angle")
SWITCHED = ("plane",)
OTHERS = {"plane": {"SWING": "POLE", "POLE": "SWING", "REST": "POLE"}, "stretch_volume": {"VOLUME": "UNIFORM"}}
"""To what other choices those are keyed that are animated."""


def drivers(lengths, plane, settings, animated=(), aside=0.0):
    """The drivers of a chain with bones of these lengths, in a file that has nothing else: each limb more in it would
    be evaluated with every one that is made after it."""
    knee, tip = (0, 0.1, -lengths[0]), (0, 0, -sum(lengths))
    thigh = Bone("thigh", (0, 0, 0), (aside, *knee[1:]), "hip")
    ob = fresh_rig((HIP, thigh, Bone("shin", knee, tip, "thigh", not aside)))
    chain = make_chain(ob, make_empty(), plane=plane, pole_target=make_empty("pole", (1, 5, 0)), **settings)
    for name in animated:
        ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{name}", frame=1)
        if name in OTHERS:
            setattr(chain, name, OTHERS[name][getattr(chain, name)])
            ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{name}", frame=2)
    make_portable(ob)
    assert chain.runs_on == "RIG"
    return [curve.driver for curve in ob.animation_data.drivers]


def hostile(names, count, seed):
    """Numbers in single precision that a driver's variables may have, the worst among them."""
    random = np.random.default_rng(seed)
    special = np.array(
        [0, -0.0, 1, -1, 0.1, 1.9, 1e-45, -1e-45, 1e-38, 1e-20, 1e20, 3.4e38, -3.4e38, np.inf, -np.inf, np.nan], "f"
    )
    rows = {}
    for name in names:
        numbers = random.normal(size=count).astype("f")
        scaled = numbers * np.float32(10) ** random.integers(-38, 38, count).astype("f")
        kind = random.integers(0, 3, count)
        rows[name] = np.choose(kind, [numbers, scaled, random.choice(special, count)])
        if name in PIECES:  # which come out of other drivers, finite and not negative
            rows[name] = np.abs(np.where(np.isfinite(rows[name]), rows[name], np.float32(3e38)))
    return rows


@cache
def every_expression():
    """The expressions that say something of variables, with the names of these."""
    found = {}
    for lengths, plane, settings in product(SHAPES, ("REST", "SWING", "POLE"), SETTINGS):
        for driver in drivers(lengths, plane, settings):
            found.setdefault(driver.expression, [each.name for each in driver.variables])
    for plane, animated in product(("REST", "SWING", "POLE"), (ANIMATED, TURNED, (*ANIMATED, *TURNED))):
        for driver in drivers(SHAPES[0], plane, SETTINGS[-1], animated):
            found.setdefault(driver.expression, [each.name for each in driver.variables])
    every = (SETTINGS[-1], (*ANIMATED, *TURNED, "stretch_volume"))
    for plane, (settings, animated) in product(("SWING", "REST"), ((SETTINGS[1], ()), every)):
        for driver in drivers(SHAPES[0], plane, settings, (*animated, *SWITCHED)):
            found.setdefault(driver.expression, [each.name for each in driver.variables])
    for volume, animated in (("LENGTH", ()), ("VOLUME", ()), ("VOLUME", ("stretch_volume",))):
        for driver in drivers(SHAPES[0], "POLE", SETTINGS[-1] | {"stretch_volume": volume}, animated, aside=0.4):
            found.setdefault(driver.expression, [each.name for each in driver.variables])
    for piece in ("w==1", "w==0", "V==2", "acos"):
        assert any(piece in expression for expression in found)
    return {expression: names for expression, names in found.items() if names}


@pytest.mark.timeout(600)
def test_no_input_makes_a_driver_invalid():
    expressions = every_expression()
    each = max(SLAB, ROWS // len(expressions))
    for number, (expression, names) in enumerate(expressions.items()):
        model = Model(expression)
        for start in range(0, each, SLAB):
            rows = hostile(names, SLAB, (number, start))
            model(rows)
            bad = np.flatnonzero(model.failed)
            assert not len(bad), (expression, {name: rows[name][bad[0]] for name in names})


def test_every_expression_is_simple_whole_and_short():
    for plane in ("REST", "SWING", "POLE"):
        for settings in SETTINGS:
            for driver in drivers(SHAPES[0], plane, settings):
                assert driver.is_simple_expression
                assert driver.is_valid
                assert len(driver.expression) <= 255


def test_the_model_says_what_blender_says():
    clear = installed.addon("addon.rig.data.fcurves").clear
    expressions = every_expression()  # which empties the file
    ob = make_empty("drives")
    for number, (expression, names) in enumerate(list(expressions.items())[::3]):
        rows = hostile(names, 12, number)
        model = Model(expression)
        wanted = model(rows)
        ob.animation_data_clear()
        ob["result"] = 0.0
        curve = ob.driver_add('["result"]')
        clear(curve)
        driver = curve.driver
        for name in names:
            ob[f"in_{name}"] = 0.0
            variable = driver.variables.new()
            variable.name = name
            variable.targets[0].id = ob
            variable.targets[0].data_path = f'["in_{name}"]'
        driver.expression = expression
        for row, result in enumerate(wanted):
            for name in names:
                ob[f"in_{name}"] = float(rows[name][row])
            ob.update_tag()
            update()
            evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            assert ob.animation_data.drivers[0].driver.is_valid
            if abs(result) < LARGEST:  # Blender drives nothing by what is not a number in single precision
                assert np.isclose(evaluated["result"], np.float32(result), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("expression", ["min(x,3)", "sqrt(x)", "1/x", "x*0", "x-x", "x<1"])
def test_the_model_sees_what_fails(expression):
    model = Model(expression)
    model({"x": np.array([np.nan, -1.0, 0.0, np.inf], "f")})
    assert model.failed.any()
