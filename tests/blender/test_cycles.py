"""Blender finds no dependency cycle in limbs of any kind, and every driver is one that needs no Python."""

from __future__ import annotations

import os
import subprocess
import sys

import bpy
import pytest

from tests.blender import cases, rigs

pytestmark = pytest.mark.dear

LOOK = """
import os, sys, bpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
for frame in (1, 2, 5):
    bpy.context.scene.frame_set(frame)
print("NOW ONE OF OUR OWN", flush=True)
one, other = (bpy.data.objects.new(name, None) for name in ("one", "other"))
for ob, followed in ((one, other), (other, one)):
    bpy.context.scene.collection.objects.link(ob)
    ob.constraints.new("COPY_LOCATION").target = followed
bpy.context.view_layer.update()
sys.stdout.flush()
os._exit(0)
"""
"""Opens a file without the extension, and then makes a cycle, which shows that Blender tells of them."""


def limbs_of_all_kinds(addon, mode):
    lasts = cases.crowd(cases.pairs()[::3])
    bpy.context.scene.planar_ik.live = False  # else all rigs are posed with each edit
    ob = rigs.biped()
    ob.name = "biped"
    adding = addon("tasks.adding")
    requests = [adding.LimbRequest(ob.pose.bones[f"{name}.{side}"]) for name in ("shin", "forearm") for side in "LR"]
    lasts += adding.add(bpy.context, requests[:2], knee="POLE").limbs
    lasts += adding.add(bpy.context, requests[2:]).limbs
    for last in lasts[-3:]:
        last.planar_ik.softness, last.planar_ik.stretch = 0.1, 1.0
    names = [last.name for last in lasts[-4:-2]]
    addon("tasks.features").add_foot_roll(bpy.context, lasts[-4:-2])
    addon("tasks.features").add_pole_follow(bpy.context, [ob.pose.bones[name] for name in names])
    lasts[-4:] = [ob.pose.bones[name] for name in (*names, *(last.name for last in lasts[-2:]))]
    if mode == "RIG":
        names = [(last.id_data, last.name) for last in lasts]
        addon("tasks.modes").to_rig(bpy.context, lasts)
        lasts = [ob.pose.bones[name] for ob, name in names]
    bpy.context.scene.planar_ik.live = True
    return lasts


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_no_cycles_and_no_python(addon, mode, tmp_path):
    rig_objects = {last.id_data for last in limbs_of_all_kinds(addon, mode)}
    for curve in [curve for ob in rig_objects if ob.animation_data for curve in ob.animation_data.drivers]:
        assert curve.driver.type == "SUM" or curve.driver.is_simple_expression
        assert curve.driver.is_valid
        assert len(curve.driver.expression) < 255
    path = str(tmp_path / "limbs.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path)}
    words = [sys.executable, "-c", LOOK, path]
    told = subprocess.check_output(words, env=environment, stderr=subprocess.STDOUT, text=True)
    limbs, cycle = told.split("NOW ONE OF OUR OWN")
    assert "ependency cycle" in cycle
    assert "ependency cycle" not in limbs, limbs
    assert "rror" not in limbs, limbs
