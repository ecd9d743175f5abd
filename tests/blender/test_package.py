"""The extension as a package: what is in it, and what it leaves behind."""

from __future__ import annotations

import gc
import os
import sys
import zipfile
from pathlib import Path

import bpy
import pytest

from scripts import guide, installed, package

FILES = sorted((package.ROOT / "addon").rglob("*.py"))


def test_what_is_in_the_zip():
    path = Path(os.environ.get(installed.ZIP) or package.build(Path(sys.executable)))
    with zipfile.ZipFile(path) as zipped:
        names = [name for name in zipped.namelist() if not name.endswith("/")]
    assert {name.split("/")[0] for name in names} == {
        "__init__.py",
        "addon",
        "blender_manifest.toml",
        "guide",
        "LICENSE",
    }
    assert {f"guide/{name}.html" for name in guide.PAGES} <= {*names}
    inside = {name for name in names if name.startswith("addon/")}
    assert {Path(name).suffix for name in inside} == {".py", ".json", ".pyi"}
    assert {str(path.relative_to(package.ROOT)) for path in FILES} <= inside


def traces():
    """What of ours Blender knows."""
    handlers = [each for name in dir(bpy.app.handlers) for each in handlers_of(name)]
    owners = (bpy.types.PoseBone, bpy.types.Bone, bpy.types.Scene, bpy.types.Object, bpy.types.WindowManager)
    types = [name for name in dir(bpy.types) if "planar_ik" in name.lower() or "planarik" in name.lower()]
    return {
        *(f"type {name}" for name in types),
        *(f"operator {name}" for name in dir(bpy.ops.pose) if "planar" in name),
        *(f"property of {owner.__name__}" for owner in owners if hasattr(owner, "planar_ik")),
        *(
            f"mark {each.identifier}"
            for owner in owners
            for each in owner.bl_rna.properties
            if "planar_ik" in each.identifier
        ),
        *(f"handler {each}" for each in handlers if is_ours(each)),
        *(f"menu entry {each}" for menu in menus() for each in drawn_by(menu) if is_ours(each)),
        *(f"class {each.__name__}" for each in bpy.types.bpy_struct.__subclasses__() if is_ours(each)),
    }


def menus():
    return [getattr(bpy.types, name) for name in dir(bpy.types) if "_MT_" in name or "_PT_" in name]


def drawn_by(menu):
    return getattr(getattr(menu, "draw", None), "_draw_funcs", ())


def handlers_of(name):
    value = getattr(bpy.app.handlers, name)
    return value if isinstance(value, list) else []


def is_ours(each):
    module = getattr(each, "__module__", "") or ""
    return module.startswith(installed.addon().__name__)


def test_disabling_leaves_nothing_and_enabling_brings_all_back():
    gc.collect()
    before = traces()
    assert any("handler" in each for each in before)
    assert any("menu" in each for each in before)
    for _ in range(2):
        installed.disable()
        assert not {each for each in traces() if not each.startswith("class")}
        installed.enable()
        assert {each.partition(" at 0x")[0] for each in traces()} == {each.partition(" at 0x")[0] for each in before}


@pytest.mark.parametrize("count", [0, 1, 2, 5, 12, 20])
def test_failing_half_way_leaves_nothing(addon, monkeypatch, count):
    """Whichever class Blender does not take, what was registered before is taken back."""
    before = {each.partition(" at 0x")[0] for each in traces()}
    installed.disable()
    register, taken = bpy.utils.register_class, []

    def fail(cls):
        if len(taken) >= count:
            raise RuntimeError("on purpose")
        taken.append(cls)
        register(cls)

    with monkeypatch.context() as patch:
        patch.setattr(bpy.utils, "register_class", fail)
        with pytest.raises(RuntimeError, match="on purpose"):
            addon().register()
        assert not {each for each in traces() if not each.startswith("class")}
    installed.enable()
    assert {each.partition(" at 0x")[0] for each in traces()} == before
