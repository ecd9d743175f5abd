"""What README and guides show runs as it stands there."""

import re

import bpy
import pytest

from scripts import package
from tests.blender import rigs

PAGES = ("README.md", "docs/scripting.md")


def test_the_readme_is_short():
    assert len((package.ROOT / "README.md").read_text().splitlines()) <= 120


def test_the_manifest_suits_the_platform():
    (tagline,) = re.findall(r'(?m)^tagline = "(.+)"$', (package.ROOT / "blender_manifest.toml").read_text())
    assert len(tagline) <= 64
    assert not tagline.endswith(".")


@pytest.mark.parametrize("page", ["README.md", "docs"])
def test_links_lead_somewhere(page):
    place = package.ROOT / page
    for path in [place] if place.is_file() else sorted(place.glob("*.md")):
        for link in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


@pytest.mark.parametrize("page", PAGES)
def test_python_runs(page):
    ob = rigs.biped()
    ob.name = "Rig"
    bpy.context.collection.objects.link(bpy.data.objects.new("Foot", None))
    bpy.ops.object.mode_set(mode="EDIT")
    control = ob.data.edit_bones.new("foot_ik.L")
    control.head, control.tail = ob.data.edit_bones["shin.L"].tail, ob.data.edit_bones["shin.L"].head
    bpy.ops.object.mode_set(mode="POSE")
    samples = re.findall(r"(?s)```python\n(.+?)```", (package.ROOT / page).read_text())
    assert samples
    names = {}
    exec(compile(samples[0], page, "exec"), names)  # noqa: S102 - it is ours
    assert ob.pose.bones["shin.L"].planar_ik.enabled
    assert ob.pose.bones["shin.L"].planar_ik.reach
