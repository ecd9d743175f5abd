"""Opening a file, finding its limbs, and writing it whole or not at all: an interrupted run ends tidily, what it began
to write is taken away."""

from __future__ import annotations

import os
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import bpy
from bpy.types import Object, PoseBone

from ..blender import animation, dependencies
from ..blender.types import Refused, all_objects, can_edit_bones, is_armature, view_layer_of
from ..tasks import selection, status

VERSION = bpy.app.version[:2]
"""Of this Blender."""


def say(sentence: object) -> None:
    """Tell a person something, in one line."""
    print(f"planar_ik: {' '.join(str(sentence).split())}", file=sys.stderr, flush=True)


def open_shot(source: Path, arguments: Namespace) -> list[str]:
    """Open a file in the scene that is asked for; returns warnings of what a person should know. Raises `Refused`."""
    _open(source, arguments.allow_scripts)
    if arguments.scene:
        scene = bpy.data.scenes.get(arguments.scene)
        if scene is None:
            raise Refused("it has no scene '{name}'", name=arguments.scene)
        if bpy.context.window:
            bpy.context.window.scene = scene
    active = bpy.context.view_layer.objects.active if bpy.context.view_layer else None
    if active and active.mode != "OBJECT" and bpy.ops.object.mode_set.poll():  # type: ignore[call-arg]
        bpy.ops.object.mode_set(mode="OBJECT")  # a rig that was saved in Edit Mode stands at rest
    newer = f"it was saved by Blender {'.'.join(map(str, bpy.data.version[:2]))}, which knows more than this one"
    is_newer = bpy.data.version[:2] > VERSION
    if is_newer and (getattr(arguments, "in_place", False) or getattr(arguments, "output", None)):
        raise Refused("{newer}: write it with that", newer=newer)
    scripts = [text.name for text in bpy.data.texts if text.use_module]
    scripts += [ob.name for ob in all_objects() if any(map(dependencies.is_python, animation.drivers_of(ob)))]
    named = ", ".join(scripts[:5])
    is_told = scripts and not arguments.allow_scripts
    told = [f"Python in the file was not run, --allow-scripts runs it: {named}"] if is_told else []
    return [*told, *([newer] if is_newer else ())]


def _open(source: Path, allow_scripts: bool) -> None:
    """Open a file with all that it links. Raises `Refused`."""
    if not source.is_file():
        raise Refused("there is no such file")
    if source.stat().st_size == 0:
        raise Refused("the file is empty")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(source), load_ui=False, use_scripts=allow_scripts)
    except RuntimeError as error:
        raise Refused("Blender can't open it: {why}", why=str(error).strip().splitlines()[-1]) from error
    data: Any = bpy.data  # whose stubs have no optional arguments
    if missing := next((each for each in data.user_map() if each.is_missing), None):
        path = bpy.path.abspath(missing.library.filepath, library=missing.library.library)
        raise Refused("it links '{name}' of {path}, which is not there", name=missing.name, path=path)


def rigs_of(arguments: Namespace) -> list[Any]:
    """The rigs of the view layer whose names match, linked ones included."""
    objects = bpy.context.view_layer.objects if bpy.context.view_layer else ()
    return [ob for ob in objects if is_armature(ob) and selection.is_match(ob.name, arguments.object)]


def limbs_asked_for(arguments: Namespace, editable: bool = True) -> list[PoseBone]:
    """The limbs that the arguments select; those of linked rigs, which can't be edited, unless ``editable``."""
    rigs = [ob for ob in rigs_of(arguments) if not editable or ob.library is None]
    return [limb for ob in rigs for limb in status.limbs_of(ob) if selection.is_match(limb.name, arguments.bone)]


def is_linked(ob: Object) -> bool:
    """Whether a rig, or its armature, comes from another file, overridden or not."""
    return is_armature(ob) and not can_edit_bones(ob)


def make_local(arguments: Namespace) -> None:
    """Make what is linked a part of the open file, if that has a rig that is asked for."""
    if any(map(is_linked, rigs_of(arguments))):
        bpy.ops.object.make_local(type="ALL")
        data: Any = bpy.data  # whose stubs lack an argument
        data.orphans_purge(do_recursive=True)  # what was overridden, which nothing shows any more
        view_layer_of(bpy.context).update()


def save(output: Path) -> None:
    """Write the file that is open. It is written beside the output first, so that it is whole or not there. Of a link,
    the file that it leads to is written; the paths in it are as seen from the link, as Blender opens it."""
    place = output.resolve()
    unfinished = place.with_name(f".{place.stem}-{os.getpid()}.blend")
    is_moved = output.parent != Path(bpy.data.filepath).parent
    try:
        if place.exists() and not (place.stat().st_mode & 0o200 and os.access(place, os.W_OK)):
            raise PermissionError("it is read-only")  # which a new file in its place is not
        place.parent.mkdir(parents=True, exist_ok=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(unfinished), copy=True, check_existing=False, relative_remap=is_moved)
        heed_signals()
        os.replace(unfinished, place)
    except (RuntimeError, OSError) as error:
        raise Refused("{path} can't be written: {why}", path=output, why=str(error).strip()) from error
    finally:
        with suppress(OSError):
            unfinished.unlink()


SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

received: list[int] = []


class Interrupted(BaseException):
    """The run is to end: somebody pressed Ctrl-C, or a farm cancelled the job."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Within, signals that end a program raise `Interrupted`; only the main thread may ask for that."""
    received.clear()
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, _receive) for number in SIGNALS if is_main}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)  # None: it was C's


def heed_signals(_done: float = 0.0) -> None:
    """Raise `Interrupted` if a signal came: Blender swallows what is raised in its handlers and drivers."""
    if received:
        raise Interrupted


def _receive(number: int, _frame: Any) -> None:
    """Remember a signal, and raise `Interrupted` where the program is."""
    received.append(number)
    raise Interrupted
