"""Chains of many rigs put on the rig, and brought back, at once."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.crowds import COUNT, make_crowd
from tests.blender.natives import matrices, parts
from tests.blender.rigs import frame_of, in_scene, make_chain, make_empty, make_rig, update

convert = installed.addon("addon.native.convert")


def make_rigs(count):
    """Rigs of one leg each, whose chains are live."""
    rigs = []
    for number in range(count):
        ob = make_rig(name=f"rig{number}")
        ob.location.x = 2 * number
        add_chain(ob)
        rigs.append(ob)
    return rigs


def add_chain(ob):
    update()
    make_chain(ob, make_empty(f"target {ob.name}", frame_of(ob).target(0.6, 0.9)))


def hide(ob):
    ob.hide_set(True)


def exclude_from_selection(ob):
    ob.hide_select = True


def lowers_of(rigs):
    return [ob.pose.bones["shin"] for ob in rigs]


@pytest.mark.parametrize("set_aside", [hide, exclude_from_selection])
def test_rigs_of_all_kinds_keep_their_pose_there_and_back(set_aside):
    rigs = make_rigs(4)
    twin = in_scene("twin", rigs[0].data)
    twin.location.y = 5
    add_chain(twin)
    rigs.append(twin)
    set_aside(rigs[2])
    set_so = [(ob.hide_get(), ob.hide_select) for ob in rigs]
    assert any(map(any, set_so))
    update()
    before = [matrices(ob) for ob in rigs]
    convert.make_portable(bpy.context, lowers_of(rigs))
    update()
    for ob, pose in zip(rigs, before, strict=True):
        chain = ob.pose.bones["shin"].planar_ik
        assert (chain.runs_on, chain.reach, chain.message) == ("RIG", "REACHED", "")
        assert np.allclose(matrices(ob), pose, atol=1e-5)
    convert.rebuild(bpy.context, lowers_of(rigs))
    convert.make_live(bpy.context, lowers_of(rigs))
    update()
    for ob, pose in zip(rigs, before, strict=True):
        assert ob.pose.bones["shin"].planar_ik.runs_on == "EXTENSION"
        assert set(parts(ob)["bones"]) == {"hip", "thigh", "shin"}
        assert np.allclose(matrices(ob), pose, atol=1e-5)
    assert [(ob.hide_get(), ob.hide_select) for ob in rigs] == set_so


@pytest.mark.parametrize("change", ["make_portable", "rebuild", "make_live"])
def test_many_rigs_are_evaluated_no_more_often_than_few(change):
    counts = []
    for number in (2, 6):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        rigs = make_rigs(number)
        if change != "make_portable":
            convert.make_portable(bpy.context, lowers_of(rigs))
        update()
        found = []

        def count(*_args, found=found):
            found.append(1)

        bpy.app.handlers.depsgraph_update_pre.append(count)
        try:
            getattr(convert, change)(bpy.context, lowers_of(rigs))
        finally:
            bpy.app.handlers.depsgraph_update_pre.remove(count)
        counts.append(len(found))
    assert counts[1] <= counts[0]


def test_a_chain_tells_what_became_of_it_by_one_look_at_the_drivers_of_its_rig(monkeypatch):
    ob, _ = make_crowd(plane="POLE")
    lowers = [ob.pose.bones[f"shin{i}"] for i in range(COUNT)]
    convert.make_portable(bpy.context, lowers)
    update()
    looks = []
    for name in ("addon.native.mechanism.found", "addon.rig.data.dependencies"):
        room = installed.addon(name)
        monkeypatch.setattr(room, "drivers_by_bone", lambda ob, of=room.drivers_by_bone: looks.append(ob) or of(ob))
    answer = installed.addon("addon.native.status").answer
    for _ in range(2):  # the second time, that nothing was edited since is enough
        assert answer(lowers[0], bpy.context.view_layer.depsgraph) == (0, "")
        assert len(looks) == 1
