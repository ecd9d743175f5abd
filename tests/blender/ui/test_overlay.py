"""What the overlay draws, as numbers: judged by where Blender puts the joints, and by the law of cosines."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from mathutils import Vector

from scripts import installed
from tests.blender.rigs import (
    LEG,
    NEAR,
    NEXT,
    SHIN,
    THIGH,
    Bone,
    expected,
    frame_of,
    joints,
    length,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    put,
    select,
    update,
)

CLOSE = 2e-6
"""In lengths of the limb: what single precision leaves."""


def overlay(name):
    return installed.addon(f"addon.ui.overlay.{name}")


def leg(lower="shin", **settings):
    """A leg with a chain whose shin is selected, under a hip that is turned."""
    ob = make_rig((*LEG[:2], LEG[2]._replace(name=lower)))
    ob.pose.bones["hip"].rotation_quaternion = (0.9, 0.3, -0.2, 0.1)
    ob.location, ob.rotation_euler, ob.scale = (0.3, -0.2, 0.5), (0.2, 0.5, -0.3), (1.5,) * 3
    update()
    target = make_empty(location=frame_of(ob, lower).target(0.6, 0.4))
    make_chain(ob, target, lower, **settings)
    select(ob, lower)
    update()
    return ob, target


class Shown:
    """The limbs that are shown with all there is, by the rows that the GPU looks them up in."""

    def __init__(self, rows, roles):
        place = overlay("figure").Place
        self.rows, self.roles = rows, roles
        self.radii, self.is_missed = rows[:, :11, 3], rows[:, 11, 3] > 0.0
        for name in ("root", "knee", "tip", "target", "along", "across"):
            setattr(self, name, rows[:, place[name.upper()], :3])
        for name in ("other", "solved", "own"):
            first = place[f"{name.upper()}_KNEE"]
            setattr(self, name, rows[:, first : first + 2, :3])


def shown():
    cast, rows = overlay("gathering").limbs_drawn(bpy.context)
    return Shown(rows[: len(cast.shown)].copy(), cast.roles) if cast and cast.shown else None


def corners(limbs, role, roles=None):
    """The places of what is drawn as lines of a role, looked up as the GPU does it."""
    figure = overlay("figure")
    pattern = figure.pattern(len(limbs.rows), 0, frozenset(roles or figure.Role), 64)
    is_line = (pattern.part[:, 1] == role) & np.isin(pattern.part[:, 3], (-1.0, -2.0))
    rows = limbs.rows
    return np.array([place(rows[int(part[0])], at) for at, part in zip(pattern.at, pattern.part, strict=True)])[is_line]


def place(row, at):
    place = overlay("figure").Place
    first, second = int(at[0]), int(at[1])
    if second >= 0:
        way = row[second, :3] - row[first, :3]
        normal = np.cross(row[place.ALONG, :3], row[place.ACROSS, :3])
        aside = np.cross(normal / max(np.linalg.norm(normal), 1e-12), way)
        return row[first, :3] + at[2] * way + at[3] * aside
    spoke = at[2] * row[place.ALONG, :3] + at[3] * row[place.ACROSS, :3]
    return row[first, :3] + row[-1 - second, 3] * spoke


def ring(limbs, number):
    """The points of a ring, by the number of its radius."""
    figure = overlay("figure")
    turns = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
    row = limbs.rows[0]
    return np.array([place(row, (figure.ROOT, -1 - number, np.cos(turn), np.sin(turn))) for turn in turns])


def test_rings_are_where_the_straight_and_the_folded_limb_end():
    ob, target = leg()
    limbs, root = shown(), joints(ob).root
    away = np.array(place_of(target)) - root
    for number, share in ((0, 1.0), (1, 0.0)):
        frame = frame_of(ob)
        reached = np.linalg.norm(np.array(frame.target(share, 1.0)) - root)
        assert np.linalg.norm(ring(limbs, number) - root, axis=1) == pytest.approx(reached, rel=1e-5)
    normal = np.cross(joints(ob).knee - root, away)
    assert np.abs((ring(limbs, 0) - root) @ normal).max() < CLOSE * np.linalg.norm(normal) * length(ob) * 10


def test_rings_follow_a_parent_that_is_scaled_unevenly():
    ob, _ = leg()
    put(ob.pose.bones["hip"], scale=(1, 2, 0.7))
    limbs, frame = shown(), frame_of(ob)
    update()
    r1, r2 = frame.lengths
    for place in ring(limbs, 0)[::9]:
        inside = frame.inside(place)
        assert np.linalg.norm(inside) == pytest.approx(r1 + r2, rel=1e-5)
        assert abs(inside @ frame.normal) < 1e-5 * (r1 + r2)


def test_limits_and_softness_have_rings_of_their_own():
    ob, _ = leg(min_angle=math.radians(70), max_angle=math.radians(150), softness=0.05)
    limbs, root, scale = shown(), joints(ob).root, 1.5
    r1, r2 = frame_of(ob).lengths

    def across(angle):
        return math.sqrt(r1 * r1 + r2 * r2 - 2 * r1 * r2 * math.cos(angle)) * scale

    near, far = across(math.radians(70)), across(math.radians(150))
    soft = 0.05 * (r1 + r2) * scale
    wanted = (abs(r1 - r2) * scale, near, far, (r1 + r2) * scale, far - soft, far + soft)
    for number, radius in enumerate(wanted, start=2):
        assert np.linalg.norm(ring(limbs, number) - root, axis=1) == pytest.approx(radius, rel=1e-5)


def test_what_is_off_has_no_extent():
    leg()
    limbs, figure = shown(), overlay("figure")
    assert not off_roles() & limbs.roles
    for role in off_roles():
        assert not len(corners(limbs, role, limbs.roles))
    miss = corners(limbs, figure.Role.MISS)
    assert max(np.ptp(pair, axis=0).max() for pair in (miss[:2], miss[2:])) < 1e-5


def test_what_is_off_for_one_limb_of_two_has_no_extent():
    ob = make_rig((*LEG, THIGH._replace(name="other thigh"), SHIN._replace(name="other shin", parent="other thigh")))
    make_chain(ob, make_empty("first", NEAR))
    features = {"softness": 0.05, "min_angle": 1.0, "influence": 0.5, "plane": "POLE"}
    pole = make_empty("pole", (0.3, 3, 0))
    make_chain(ob, make_empty("second", NEXT), "other shin", pole_target=pole, **features)
    select(ob, "shin", "other shin")
    update()
    limbs = shown()
    assert off_roles() <= limbs.roles
    for role in off_roles():
        pattern = overlay("figure").pattern(2, 0, limbs.roles, 64)
        part = pattern.part[(pattern.part[:, 1] == role) & np.isin(pattern.part[:, 3], (-1.0, -2.0))]
        places = corners(limbs, role, limbs.roles)
        for number in (0, 1):
            extent = np.ptp(places[part[:, 0] == number], axis=0).max()
            assert (extent < 1e-6) if number == 0 else (extent > 0.01), role


def off_roles():
    role = overlay("figure").Role
    return {role.LIMIT, role.SOFT, role.OWN, role.SOLUTION, role.POLE}


@pytest.mark.parametrize("bend", [1.0, -1.0, 0.6, -0.3, 0.0])
@pytest.mark.parametrize("lower", ["shin", "shin.R"])
@pytest.mark.parametrize("plane", ["REST", "SWING"])
def test_the_other_solution_is_the_limb_bent_the_other_way(bend, lower, plane):
    ob, _ = leg(lower, plane=plane, hinge_angle=0.4)
    chain = ob.pose.bones[lower].planar_ik
    put(chain, bend=bend)
    ghost = shown().other[0]
    put(chain, bend=-bend)
    other = joints(ob, lower)
    assert np.abs(ghost - np.array(other[1:])).max() < 3 * CLOSE * length(ob, lower)


@pytest.mark.parametrize("on_rig", [False, True])
@pytest.mark.parametrize("hung", ["FULL", "ALIGNED", "without a parent", "by Euler angles"])
def test_the_ghosts_of_a_limb_between_fk_and_ik(hung, on_rig):
    ob, target = leg()
    hang(ob, hung)
    if on_rig:
        bpy.ops.pose.planar_ik_make_portable()
    ob.pose.bones["thigh"].rotation_quaternion = (1, 0.2, 0.1, -0.3)
    chain = ob.pose.bones["shin"].planar_ik
    update()
    put(chain, influence=0.0)
    own = joints(ob)
    put(chain, influence=1.0)
    solved = joints(ob)
    put(chain, influence=0.4)
    limbs, size = shown(), length(ob)
    assert np.abs(limbs.own[0] - np.array(own[1:])).max() < CLOSE * size
    assert np.abs(limbs.solved[0] - np.array(solved[1:])).max() < CLOSE * size
    assert np.abs(limbs.knee[0] - solved.knee).max() > 0.01
    mirrored = expected(frame_of(ob), place_of(target), -1.0)
    assert np.abs(limbs.other[0] - np.array(mirrored[1:])).max() < 1e-5 * size


def hang(ob, how):
    """Have the thigh hang otherwise on the hip, or turn otherwise, than by default."""
    if how == "without a parent":
        bpy.ops.object.mode_set(mode="EDIT")
        ob.data.edit_bones["thigh"].parent = None
        bpy.ops.object.mode_set(mode="POSE")
        select(ob, "shin")
    elif how == "by Euler angles":
        ob.pose.bones["thigh"].rotation_mode, ob.pose.bones["thigh"].rotation_euler = "ZXY", (0.3, -0.2, 0.4)
    else:
        ob.data.bones["thigh"].inherit_scale = how
    update()


def test_blended_limbs_of_several_kinds_are_drawn_together_as_each_alone():
    """With a pole and without, soft, stretched, not inheriting rotation, and some that are not blended; two of each."""
    kinds = [
        {"plane": "POLE"},
        {"plane": "SWING", "softness": 0.2},
        {},
        {"stretch": 1.0},
        {"plane": "SWING"},
        {"bend": -1.0},
    ] * 2
    bones = [
        bone._replace(name=f"{bone.name}{i}", parent=bone.parent and f"{bone.parent}{i}")
        for i in range(len(kinds)) for bone in LEG
    ]  # fmt: skip
    ob = make_rig(bones)
    ob.data.bones["shin4"].use_inherit_rotation = ob.data.bones["shin10"].use_inherit_rotation = False
    for i, settings in enumerate(kinds):
        ob.pose.bones[f"thigh{i}"].rotation_quaternion = (1, 0.3, 0.1 * i, -0.1)
        pole = make_empty(f"pole{i}", (1, 3, -1 + i))
        target = make_empty(f"target{i}", (0.1 * i, 0.4 - 0.1 * i, -1.3 - 0.4 * (i % 6 == 3)))
        chain = make_chain(ob, target, f"shin{i}", pole_target=pole, **settings)
        chain.influence = 1.0 if i % 6 == 2 else 0.3 + 0.05 * i
    alone = []
    for i in range(len(kinds)):
        select(ob, f"shin{i}")
        update()
        alone.append(shown().rows[0])
    select(ob, *(f"shin{i}" for i in range(len(kinds))))
    update()
    place = overlay("figure").Place
    together = shown().rows
    for one, row in zip(alone, together, strict=True):
        drawn = [each for each in place if each not in {place.POLE, place.POLED_KNEE} and (one[each, :3] != 0.0).any()]
        assert {place.KNEE, place.OTHER_KNEE, place.ALONG} <= {*drawn}
        assert np.abs(row[drawn, :3] - one[drawn, :3]).max() < 1e-5


def test_a_miss_is_a_line_from_the_tip_to_the_target():
    ob, target = leg()
    root = Vector(joints(ob).root)
    put(target, location=root + (target.location - root) * 5)
    figure = overlay("figure")
    miss = corners(shown(), figure.Role.MISS)
    assert np.abs(miss[0] - joints(ob).tip).max() < 1e-5
    assert np.abs(miss[1] - place_of(target)).max() < 1e-5
    assert np.linalg.norm(miss[3] - miss[2]) > 0.05 * length(ob)


def test_the_line_to_the_pole_starts_at_the_knee():
    ob, _ = leg()
    chain = ob.pose.bones["shin"].planar_ik
    chain.pole_target, chain.plane = make_empty("pole", (0.3, 3, 0)), "POLE"
    update()
    figure = overlay("figure")
    line = corners(shown(), figure.Role.POLE)
    assert np.abs(line[0] - joints(ob).knee).max() < 1e-5
    assert np.abs(line[-1] - joints(ob).knee).max() > 1.0


def test_shown_are_selected_chains_and_those_whose_target_or_pole_is_selected():
    ob, target = leg()
    assert len(shown().rows) == 1
    select(ob, "hip")
    update()
    assert shown() is None
    select(ob, "thigh")
    update()
    assert len(shown().rows) == 1
    bpy.ops.object.mode_set(mode="OBJECT")
    assert shown() is None
    ob.select_set(False)
    target.select_set(True)
    update()
    assert len(shown().rows) == 1
    ob.hide_set(True)
    update()
    assert shown() is None


def test_bones_of_chains_that_are_not_selected_are_tinted():
    ob, _ = leg()
    select(ob, "hip")
    gathering, figure = overlay("gathering"), overlay("figure")
    cast, rows = gathering.limbs_drawn(bpy.context)
    assert (len(cast.shown), len(rows)) == (0, 1)
    pattern = figure.pattern(0, 1, cast.roles, 32)
    places = [place(rows[0], at) for at in pattern.at]
    assert set(pattern.part[:, 1]) == {figure.Role.BONE}
    for end, corner in zip(joints(ob), (0, 2, 6), strict=True):
        assert np.abs(places[corner] - end).max() < CLOSE * 10
    bpy.ops.object.mode_set(mode="OBJECT")
    assert gathering.limbs_drawn(bpy.context)[0] is None


@pytest.mark.parametrize("how", ["bone", "collection"])
def test_hidden_bones_are_not_tinted(how):
    ob, _ = leg()
    collection = ob.data.collections.new("leg")
    for name in ("thigh", "shin"):
        collection.assign(ob.data.bones[name])
    select(ob, "hip")
    rows = overlay("gathering").limbs_drawn
    assert rows(bpy.context)[0] is not None
    for is_hidden in (True, False):
        if how == "collection":
            collection.is_visible = not is_hidden
        else:
            select(ob, "shin")
            bpy.ops.pose.hide() if is_hidden else bpy.ops.pose.reveal(select=False)
            select(ob, "hip")
        update()
        assert (rows(bpy.context)[0] is None) == is_hidden


def test_what_was_found_is_found_anew_where_it_changed():
    ob, target = leg()
    assert shown().radii[0, 6:8].max() == 0.0
    put(ob.pose.bones["shin"].planar_ik, softness=0.05)
    assert shown().radii[0, 6:8].min() > 0.0
    target.location.x += 0.2
    update()
    assert np.abs(shown().target[0] - np.array(target.location)).max() < 1e-6
    put(ob.pose.bones["shin"].planar_ik, enabled=False)
    assert shown() is None


def test_shown_is_a_chain_whose_target_bone_is_selected():
    ob = make_rig((*LEG, Bone("foot_ik", NEAR, (0.2, 0.6, -1.2))))
    make_chain(ob, ob, subtarget="foot_ik")
    select(ob, "foot_ik")
    update()
    assert len(shown().rows) == 1
    select(ob, "hip")
    update()
    assert shown() is None


@pytest.mark.parametrize("background", [(0.05,) * 3, (0.24,) * 3, (0.5,) * 3, (0.75,) * 3, (1.0,) * 3])
def test_lines_stand_out_from_any_background(background):
    theme = bpy.context.preferences.themes[0]
    gradient = theme.view_3d.space.gradients
    kept = gradient.high_gradient[:]
    gradient.high_gradient = background
    colours = overlay("colours")
    try:
        for source in colours.sources_of(theme)[0]:
            assert colours.contrast(colours.readable(source, background), background) >= colours.CONTRAST - 1e-3
    finally:
        gradient.high_gradient = kept


def test_no_role_is_told_by_its_colour_alone():
    figure = overlay("figure")
    looks = {}
    for start, _, dashes, role in figure.LEGS:
        looks.setdefault((dashes, start.name.split("_")[0] if dashes == figure.SOLID else ""), set()).add(role)
    assert all(len(roles) <= 2 for roles in looks.values())


@pytest.mark.parametrize("influence", [1.0, 0.4])
def test_a_chain_on_the_rig_is_drawn_as_one_on_the_extension(influence):
    ob, _ = leg(softness=0.05, influence=influence)
    put(ob.pose.bones["thigh"], rotation_quaternion=(1, 0.2, 0, 0.1))
    live = shown()
    bpy.ops.pose.planar_ik_make_portable()
    update()
    rig = shown()
    assert np.abs(rig.rows - live.rows).max() < 1e-4
    assert rig.roles == live.roles


@pytest.mark.parametrize("on_rig", [False, True])
def test_what_poses_a_chain_is_looked_at_only_when_it_changes(on_rig):
    ob, target = leg(softness=0.05)
    if on_rig:
        ob.pose.bones["shin"].keyframe_insert("planar_ik_softness")  # or the rig would have no such property
        bpy.ops.pose.planar_ik_make_portable()
        update()
    gathering = overlay("gathering")
    cast = gathering.limbs_drawn(bpy.context)[0]
    for change in (lambda: setattr(target.location, "x", target.location.x + 0.1), lambda: turn(ob, "hip")):
        change()
        update()
        assert gathering.limbs_drawn(bpy.context)[0] is cast
        assert np.abs(shown().target[0] - np.array(place_of(target))).max() < 1e-6
        assert np.abs(shown().knee[0] - joints(ob).knee).max() < CLOSE * length(ob) * 10
    soft = shown().radii[0, 6]
    set_without_telling(ob, "softness", 0.1, on_rig)
    assert shown().radii[0, 6] < soft - 0.01


@pytest.mark.parametrize("on_rig", [False, True])
def test_the_scale_of_a_limbs_own_bones_is_not_that_of_its_rings(on_rig):
    ob, _ = leg()
    if on_rig:
        bpy.ops.pose.planar_ik_make_portable()
        update()
    before = ring(shown(), 0)
    ob.pose.bones["thigh"].scale = (1.5, 1.0, 1.0)
    ob.pose.bones["shin"].bone.inherit_scale = "ALIGNED"
    update()
    assert np.abs(ring(shown(), 0) - before).max() < 1e-4


def test_a_setting_on_the_rig_that_is_driven_is_seen():
    ob, target = leg()
    bpy.ops.pose.planar_ik_make_portable()
    driver = ob.pose.bones["shin"].driver_add('["planar_ik.influence"]').driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = target, "empty_display_size"
    driver.expression = variable.name
    target.empty_display_size = 1.0
    update()
    assert overlay("figure").Role.OWN not in shown().roles
    put(target, empty_display_size=0.5)
    assert overlay("figure").Role.OWN in shown().roles


def test_a_setting_on_the_rig_that_is_keyed_is_seen():
    ob, _ = leg()
    bpy.ops.pose.planar_ik_make_portable()
    for frame, influence in ((1, 1.0), (10, 0.5)):
        ob.pose.bones["shin"]["planar_ik.influence"] = influence
        ob.pose.bones["shin"].keyframe_insert('["planar_ik.influence"]', frame=frame)
    for frame, is_blended in ((1, False), (10, True), (1, False)):
        bpy.context.scene.frame_set(frame)
        assert (overlay("figure").Role.OWN in shown().roles) == is_blended


@pytest.mark.parametrize("on_rig", [False, True])
def test_a_limb_that_only_follows_its_target_is_not_looked_at_again(on_rig):
    ob, target = leg(influence=0.5)
    if on_rig:
        bpy.ops.pose.planar_ik_make_portable()
        update()
    sights = overlay("gathering").sights
    before, edits = shown(), sights.edits
    put(target, location=frame_of(ob).target(0.7, 0.5))
    followed = shown()
    assert sights.edits == edits
    assert np.abs(followed.target[0] - np.array(place_of(target))).max() < 1e-6
    assert np.abs(followed.own - before.own).max() < CLOSE * length(ob) * 10
    put(ob.pose.bones["thigh"], rotation_quaternion=(1, 0.2, 0, 0.1))
    assert np.abs(shown().own - before.own).max() > 0.1
    assert sights.edits > edits


def test_a_target_that_is_hidden_is_found_where_it_is():
    ob, target = leg()
    shown()
    target.hide_set(True)
    make_empty("another")
    put(target, location=frame_of(ob).target(0.7, 0.5))
    assert np.abs(shown().target[0] - np.array(place_of(target))).max() < 1e-6


def turn(ob, bone):
    ob.pose.bones[bone].rotation_quaternion = (0.8, 0.3, 0.2, -0.1)


def set_without_telling(ob, name, value, on_rig):
    """As a driver does, or a slider of a custom property."""
    bone = ob.pose.bones["shin"]
    if on_rig:
        bone[f"planar_ik.{name}"] = value
        ob.update_tag()
    else:
        setattr(bone, f"planar_ik_{name}", value)
    update()
