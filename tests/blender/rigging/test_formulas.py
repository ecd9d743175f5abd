"""What the drivers say, and the spec that says it."""

from __future__ import annotations

import random
from itertools import cycle, islice, product
from math import pi

import bpy
import pytest

from tests.blender import cases, legs, rigs

NASTY = (1.23456789e-8, 1234567.89, 0.333333333)


@pytest.fixture
def spec(addon):
    last = legs.rig_leg(addon)
    ref = (last.id_data, last.name)
    return addon("rigging.description").spec_of(ref, addon("rigging.description").describe(ref))


def specs(spec):
    features = product(
        ("HINGE", "FREE", "POLE"),
        (False, True),
        (False, True),
        ("LENGTH", "UNIFORM", "VOLUME"),
        (0.0, 0.7),
        (pi, 2.0),
        (2, 3, 4),
        (1.0, -1.0),
    )
    sizes = cycle(NASTY)
    for plane, soft, stretch, volume, least, most, count, to in features:
        size = next(sizes)
        yield spec._replace(
            plane=plane,
            features=("softness",) * soft + ("stretch",) * stretch + ("ankle",) * (count > 2),
            pole_switch=plane == "POLE",
            choices=tuple(
                {
                    "min_angle": least,
                    "max_angle": most,
                    "stretch_max": size + 1.0,
                    "stretch_volume": volume,
                }.items()
            ),
            lengths=(size, 1.7 * size, 1.23456789 * size, 0.987654321 * size)[:count],
            angles=(0.123456789, -1.23456789, -1.23456789 + 1.44802468 * to, -0.987654321)[:count],
            axes=spec.axes[:1] * count,
            normals=spec.normals[:1] * count,
            directions=spec.directions[:1] * count,
            heads=spec.heads[:1] * count,
            bones=spec.bones[:1] * count,
            reference_rotations=((0.123456789, -0.123456789, 0.6, -0.6), *((1.0, 0.0, 0.0, 0.0),) * 3)[:count],
        )


def test_drivers_fit_in_what_blender_takes(addon, spec):
    """Whatever the numbers are: Blender cuts what is longer than 255 characters and says nothing."""
    parts = addon("rigging.parts")
    for each in islice(specs(spec), 0, None, 5):  # in which any two features occur together
        made = parts.parts_of(each)
        assert all(len(driver.expression) <= 255 for driver in made.drivers)
        roles = [bone.role for bone in made.bones]
        assert len({*roles}) == len(roles)
        assert all(bone.parent in ("parent", *roles[:i]) for i, bone in enumerate(made.bones))


@pytest.mark.dear
def test_no_driver_needs_python(addon):
    """Of limbs of all kinds: so a file that is opened without trust is posed all the same."""
    lasts = [*cases.crowd(cases.pairs()[::3]), legs.rig_leg(addon, legs.EVERYTHING)]
    rigs.click(rigs.biped(), "shin.L")
    bpy.ops.pose.planar_ik_add(plane="POLE", foot_roll=True)
    bpy.ops.pose.planar_ik_set(pole_follows=True)
    addon("tasks.modes").to_rig(bpy.context, lasts)
    drivers = [curve.driver for ob in bpy.data.objects if ob.animation_data for curve in ob.animation_data.drivers]
    assert drivers
    assert all(driver.is_valid and (driver.type == "SUM" or driver.is_simple_expression) for driver in drivers)


def test_a_mechanism_is_no_larger_than_its_features(addon, spec):
    """What a hinge without features costs is what most limbs of a crowd cost."""
    made = addon("rigging.parts").parts_of(spec._replace(plane="HINGE"))
    moving = [driver for driver in made.drivers if driver.variables]
    assert (len(made.bones), len(made.constraints), len(moving)) == (4, 4, 3)


def test_specs_survive_json(addon, spec):
    module = addon("limb.spec")
    for each in specs(spec):
        assert module.from_json(module.to_json(each)) == each
    for text in ("", "[]", "{", '{"bones": 1, "what": 2}'):
        assert module.from_json(text) is None


def test_differs_by_closeness(addon, spec):
    """Noise of single precision and names do not count, edits do."""
    differs = addon("limb.spec").differs
    rng = random.Random(1)

    def shaken(value, by):
        if isinstance(value, tuple):
            return tuple(shaken(each, by) for each in value)
        return value + rng.uniform(-by, by) if isinstance(value, float) else value

    numbers = ("frame", "axes", "lengths", "angles", "normals", "reference_rotations", "choices")
    for name in numbers:
        value = getattr(spec, name)
        assert not differs(spec, spec._replace(**{name: shaken(value, 1e-6)})), name
        assert differs(spec, spec._replace(**{name: shaken(value, 1e-2)})), name
    others = {
        "plane": "HINGE",
        "features": ("stretch",),
        "pole_switch": True,
        "choices": (("min_angle", 0.5), *spec.choices[1:]),
    }
    for name, value in others.items():
        assert differs(spec, spec._replace(**{name: value})), name
    same = {
        "bones": ("a", "b"),
        "last_bone": "b",
        "parent": "c",
        "axis_shift": 2,
    }
    assert not differs(spec, spec._replace(**same))


def test_axis_shift_keeps_axes(addon):
    """Bones along -Y of the armature or of their parent would get axes that are off by up to 3e-4."""
    rng = random.Random(3)
    module = addon("rigging.description")
    spec_of, describe = module.spec_of, module.describe
    for way in ((0, -1, 0), (1e-4, -1, 2e-4), (0, 1, 0), (0, 0, -1)):
        ob = rigs.rig(
            {
                "hips": ((0, 0, 0), (rng.uniform(-1, 1), 0.5, 0.5), ""),
                "thigh.L": ((0, 0, 0), way, "hips"),
                "shin.L": (way, tuple(2 * number + 0.2 for number in way), "thigh.L"),
            }
        )
        last = ob.pose.bones["shin.L"]
        last.planar_ik.enabled = True
        spec = spec_of((ob, "shin.L"), describe((ob, "shin.L")))
        legs.to_rig(addon, ob)
        found = addon("rigging.marks").made_on(ob)["shin.L"].by_role
        for part in addon("rigging.parts").parts_of(spec).bones:
            real = [number for row in ob.data.bones[found[part.role]].matrix_local for number in row]
            assert max(abs(a - b) for a, b in zip(real, part.rest, strict=True)) < 2e-6
