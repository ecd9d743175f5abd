"""Which frames are looked at: all in which something that limbs hang on can change, and no more."""

from __future__ import annotations

import bpy
import pytest

from tests.blender import rigs

SCENE = range(1, 41)


@pytest.fixture
def frames_of(addon):
    """A biped in a scene of forty frames, and what is looked at of its left shin."""
    ob, scene = rigs.biped(), bpy.context.scene
    scene.frame_start, scene.frame_end = SCENE[0], SCENE[-1]

    def looked_at(make, name="shin.L"):
        make(ob)
        frames = addon("motion.frames").frames_of(bpy.context, [(ob, name)])
        return frames.cycle or (frames.at and (frames.at == [*SCENE] or frames.at))

    return looked_at


def key(owner, frames=(1, 11), values=(0.0, 0.3), path="location"):
    for frame, value in zip(frames, values, strict=True):
        getattr(owner, path)[0] = value
        owner.keyframe_insert(path, frame=frame)
    return rigs.curves(owner.id_data)


def modified(kind, **settings):
    def make(ob):
        for curve in key(ob.pose.bones["hips"]):
            modifier = curve.modifiers.new(kind)
            for name, value in settings.items():
                setattr(modifier, name, value)

    return make


def extrapolated(ob):
    for curve in key(ob.pose.bones["hips"]):
        curve.extrapolation = "LINEAR"


def by_strip(ob):
    key(ob)
    action, slot = ob.animation_data.action, ob.animation_data.action_slot
    ob.animation_data.action = None
    strip = ob.animation_data.nla_tracks.new().strips.new("strip", 5, action)
    strip.action_slot = slot


def by_frame(ob):
    ob.pose.bones["hips"].driver_add("location", 0).driver.expression = "frame / 10"


def by_property(ob):
    ob["slider"] = 0.0
    rigs.drive(ob.pose.bones["hips"], "location", ob, '["slider"]', 0)
    for frame, ob["slider"] in ((1, 0.0), (40, 1.0)):
        ob.keyframe_insert('["slider"]', frame=frame)


def by_parent(ob):
    ob.parent = rigs.empty("parent")
    key(ob.parent)


def by_path(ob):
    path = bpy.data.objects.new("path", bpy.data.curves.new("path", "CURVE"))
    ob.constraints.new("FOLLOW_PATH").target = path
    path.data.eval_time = 3.0
    path.data.keyframe_insert("eval_time", frame=1)
    path.data.eval_time = 5.0
    path.data.keyframe_insert("eval_time", frame=9)


def beside(ob):
    key(ob.pose.bones["hand.R"])


def still(ob):
    key(ob.pose.bones["hips"], values=(0.3, 0.3))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda ob: None, []),
        (beside, []),
        (still, []),
        (lambda ob: key(ob.pose.bones["hips"]), [*range(1, 12)]),
        (lambda ob: key(ob.pose.bones["hips"], (9.998, 30.5)), [*range(10, 32)]),
        (lambda ob: key(ob.pose.bones["hips"], (-10, 60)), [-10, *SCENE, 60]),
        (modified("CYCLES"), ("REPEAT", "REPEAT")),
        (modified("CYCLES", mode_after="REPEAT_OFFSET"), ("REPEAT", "REPEAT_OFFSET")),
        (modified("CYCLES", cycles_after=2), True),
        (modified("CYCLES", mute=True), [*range(1, 12)]),
        (modified("NOISE"), True),
        (extrapolated, True),
        (by_strip, True),
        (by_frame, True),
        (by_property, True),
        (by_parent, [*range(1, 12)]),
        (by_path, True),
    ],
)
def test_frames_in_which_something_can_change(frames_of, make, expected):
    assert frames_of(make) == expected
