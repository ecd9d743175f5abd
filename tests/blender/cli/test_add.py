"""Chains from a description, put on limbs by the program without a window."""

from __future__ import annotations

import json
import math

import bpy
import pytest
from mathutils import Quaternion

from tests.blender.bake_rigs import make_leg, motion
from tests.blender.programs import open_file, run
from tests.blender.rigs import from_library


@pytest.mark.parametrize("form", ["json", "toml"])
def test_add_puts_chains_on_limbs(tmp_path, form):
    ob = make_leg()
    ob.pose.bones["thigh"].rotation_quaternion = (0.9, 0.2, 0.0, 0.1)
    wanted = motion(ob, [1])
    shot = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    description = tmp_path / f"chains.{form}"
    if form == "json":
        chains = [{"object": "leg", "bone": "shin", "plane": "POLE", "softness": 0.0}]
        description.write_text(json.dumps({"chains": chains}), encoding="utf-8-sig")
    else:
        description.write_text('[[chains]]\nobject = "leg"\nbone = "shin"\nplane = "POLE"\n')
    code, lines, err = run("add", shot, description, "-o", tmp_path / "out.blend")
    assert (code, lines[0]["target"]) == (0, "target_shin"), err
    ob = open_file(tmp_path / "out.blend")
    assert ob.pose.bones["shin"].planar_ik.enabled
    assert abs(motion(ob, [1]) - wanted).max() < 1e-5


@pytest.mark.parametrize("plane", [{}, {"plane": "POLE"}])
@pytest.mark.parametrize("posed", ["to the other side", "out of its plane"])
def test_add_moves_no_limb_however_it_is_posed(tmp_path, posed, plane):
    ob = make_leg()
    thigh, shin = ob.pose.bones["thigh"], ob.pose.bones["shin"]
    if posed == "out of its plane":
        thigh.rotation_quaternion = (0.9, 0.2, 0.0, 0.1)
    else:
        hinge = shin.vector.cross(thigh.vector)
        shin.rotation_quaternion = Quaternion(shin.bone.matrix_local.to_3x3().inverted() @ hinge, 0.8)
    wanted = motion(ob, [1])
    shot = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    chains = [{"object": "leg", "bone": "shin", **plane}]
    (tmp_path / "chains.json").write_text(json.dumps({"chains": chains}))
    code, _, err = run("add", "--in-place", shot, tmp_path / "chains.json")
    assert code == 0, err
    assert abs(motion(open_file(shot), [1]) - wanted).max() < 1e-5


def test_add_pulls_no_limb_into_its_rest_plane(tmp_path):
    make_leg().pose.bones["thigh"].rotation_quaternion = (0.9, 0.2, 0.0, 0.1)
    shot, chains = tmp_path / "rig.blend", tmp_path / "chains.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    chains.write_text(json.dumps({"chains": [{"object": "leg", "bone": "shin", "plane": "REST"}]}))
    code, lines, err = run("add", "--in-place", shot, chains)
    assert (code, lines) == (2, [])
    assert "'shin' is posed out of its rest plane: choose Pole" in err


@pytest.mark.parametrize(
    ("chain", "sentence"),
    [
        ({"object": "leg", "bone": "toe"}, "'leg' has no bone 'toe'"),
        ({"object": "nobody", "bone": "shin"}, "no object 'nobody'"),
        ({"object": "leg", "bone": "shin", "colour": 1}, "'colour', which is no setting"),
        ({"object": "leg"}, "no 'bone'"),
        ({"object": 5, "bone": "shin"}, "chain 1 has object = 5: it has to be a name in quotes"),
        ({"object": "leg", "bone": "shin", "plane": "pole"}, "plane = 'pole': it has to be one of REST, SWING, POLE"),
        ({"object": "leg", "bone": "shin", "softness": 7}, "softness = 7: it has to be a number from 0 to 1"),
        ({"object": "leg", "bone": "shin", "stretch": math.nan}, "stretch = nan: it has to be a number from 0 to 1"),
        ({"object": "leg", "bone": "shin", "stretch": True}, "stretch = True: it has to be a number"),
        ({"object": "leg", "bone": "shin", "stretch_max": 0.5}, "stretch_max = 0.5: it has to be a number from 1 on"),
        (
            {"object": "leg", "bone": "shin", "hinge_angle": "90"},
            "= '90': it has to be a number, in radians",
        ),
        ({"object": "leg", "bone": "shin", "max_angle": 90}, "a number from 0 to 3.14159, in radians"),
        ({"object": "leg", "bone": "shin", "subtarget": "hand"}, "Name the object that bone 'hand' belongs to"),
        ({"object": "leg", "bone": "shin", "target": "prop", "subtarget": "hand"}, "'prop' has no bone 'hand'"),
    ],
)
def test_add_refuses_with_a_sentence_and_writes_nothing(tmp_path, chain, sentence):
    make_leg()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("prop", None))
    shot = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    (tmp_path / "chains.json").write_text(json.dumps({"chains": [chain]}))
    code, lines, err = run("add", shot, tmp_path / "chains.json", "-o", tmp_path / "out.blend")
    assert (code, lines) == (2, [])
    assert sentence in err
    assert "Traceback" not in err
    assert not (tmp_path / "out.blend").exists()


def test_add_refuses_a_rig_whose_chain_would_be_lost_or_not_seen(tmp_path):
    """A linked rig's chain is not saved, and one of another scene is not posed."""
    make_leg()
    library, shot, chains = tmp_path / "rig.blend", tmp_path / "shot.blend", tmp_path / "chains.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    chains.write_text(json.dumps({"chains": [{"object": "leg", "bone": "shin"}]}))
    ob = bpy.data.objects["leg"]
    bpy.context.scene.collection.objects.unlink(ob)
    bpy.data.scenes.new("Second").collection.objects.link(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    code, lines, err = run("add", "--in-place", shot, chains)
    assert (code, lines) == (2, [])
    assert "'leg' is not in the scene 'Scene'" in err

    from_library(library, "leg")
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    code, lines, err = run("add", "--in-place", shot, chains)
    assert (code, lines) == (2, [])
    assert "'leg' is linked from another file" in err


@pytest.mark.parametrize(
    ("form", "text", "told"),
    [
        ("json", "[" * 100_000, "is nested too deeply"),
        ("toml", "chains = " + "[" * 100_000, "is nested too deeply"),
        ("json", '{"chains": [{"object": "leg", "bone": "shin\\ud800"}]}', "a name in quotes"),
        ("json", '{"chains": [{"object": "leg", "bone": "shin\\u0000"}]}', "a name in quotes"),
    ],
)
def test_what_no_description_can_be_is_answered_in_a_line(tmp_path, form, text, told):
    make_leg()
    shot, description = tmp_path / "rig.blend", tmp_path / f"chains.{form}"
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    description.write_text(text)
    code, lines, err = run("add", shot, description, "-o", tmp_path / "out.blend")
    assert (code, lines, told in err, "Traceback" in err) == (2, [], True, False), err
