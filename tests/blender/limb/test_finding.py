"""Which limb a click means: by where bones are and how they branch."""

from __future__ import annotations

import pytest

from tests.blender import rigs
from tests.blender.characters import LIMBS, METARIGS, metarig


def _chain(*names, bend=0.0):
    """Bones in line, each a unit long, but for the ``bend`` in the middle."""
    places = [(bend if i == len(names) // 2 else 0.0, 0.0, float(-i)) for i in range(len(names) + 1)]
    parents = ("", *names)
    return rigs.rig({name: (places[i], places[i + 1], parents[i]) for i, name in enumerate(names)})


@pytest.mark.parametrize(
    ("names", "clicked", "last", "segments"),
    [
        (("thigh.L", "thigh.L.001", "shin.L", "foot.L"), "shin.L", "shin.L", (2, 1)),
        (("arm", "arm_twist", "forearm", "forearm_twist", "hand"), "forearm", "forearm_twist", (2, 2)),
        (("arm", "arm_twist", "forearm", "forearm_twist", "hand"), "forearm_twist", "forearm_twist", (2, 2)),
        (("Bone", "Bone.001"), "Bone.001", "Bone.001", (1, 1)),
        (("Bone", "Bone.001", "Bone.002", "Bone.003"), "Bone.002", "Bone.002", (1, 1)),
        (("finger.01", "finger.02", "finger.03"), "finger.02", "finger.02", (1, 1)),
    ],
)
def test_twist_bones_in_line_belong_to_their_segment(addon, names, clicked, last, segments):
    found, of = addon("finding.choosing").limb_at(_chain(*names).pose.bones[clicked])
    assert (found.name, of) == (last, segments)


@pytest.mark.parametrize("name", [*LIMBS, *METARIGS])
def test_one_click_on_any_bone_of_a_limb_or_its_foot(addon, name):
    ob, lasts = (metarig(name), METARIGS[name]) if name in METARIGS else (LIMBS[name][0](), LIMBS[name][1])
    finding = addon("finding.choosing")
    for name in lasts:
        last, segments = finding.limb_at(ob.pose.bones[name])
        assert last.name == name
        line = [last, *last.parent_recursive][: sum(segments)]
        foot = addon("limb.tips").foot_of(last)
        for bone in filter(None, (*line, foot)):
            assert finding.limb_at(bone) == (last, segments), bone.name


@pytest.mark.parametrize("name", LIMBS)
def test_trunk_is_in_no_limb(addon, name):
    """Whatever is clicked, no limb has bones of the trunk, or begins at another one's foot."""
    ob, lasts = LIMBS[name][0](), LIMBS[name][1]
    finding, refused = addon("finding.choosing"), addon("finding.checking").Refused
    trunk = {bone for name in lasts for bone in _above_all(ob, lasts, ob.pose.bones[name])}
    feet = {addon("limb.tips").foot_of(ob.pose.bones[name]) for name in lasts} - {None}
    for bone in ob.pose.bones:
        try:
            last, segments = finding.limb_at(bone)
        except refused:
            continue
        line = [last, *last.parent_recursive][: sum(segments)]
        assert not {*line} & trunk, (bone.name, line)
        if last.name not in lasts:
            assert not {*line[:1]} & feet, (bone.name, line)


def _above_all(ob, lasts, last):
    """The bones above a limb that are above another one too."""
    others = [{*ob.pose.bones[name].parent_recursive} for name in lasts if name != last.name]
    return [bone for bone in last.parent_recursive if any(bone in other for other in others)]


@pytest.mark.parametrize("name", ["spine", "hips"])
def test_a_click_on_the_trunk_says_what_to_click(addon, name):
    with pytest.raises(addon("finding.checking").Refused, match="click the last bone of an arm or a leg"):
        addon("finding.choosing").limb_at(rigs.biped().pose.bones[name])


def test_fingers_are_limbs_of_their_own(addon):
    ob = LIMBS["long fingers"][0]()
    at = addon("finding.choosing").limb_at
    for clicked in ("index.2.L", "index.1.L"):
        last, segments = at(ob.pose.bones[clicked])
        assert (last.name, segments) == ("index.2.L", (1, 1))
    assert at(ob.pose.bones["hand.L"])[0].name == "forearm.L"
