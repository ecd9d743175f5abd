"""What a redraw looks up stays known until Blender evaluates something anew: the panel and each of its buttons ask the
same, and a mouse that goes over them has all of it drawn again and again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import bpy
from bpy.app.handlers import persistent
from bpy.types import Context, Depsgraph, PoseBone, Scene

from ..blender.handlers import Handlers, add_handlers, remove_handlers
from ..blender.types import view_layer_of

Known = TypeVar("Known")

_of_pose: dict[Hashable, Any] = {}
_of_structure: dict[Hashable, Any] = {}

MOST_REMEMBERED = 1000
"""So much is remembered at most."""


def cached_until_posed(key: Hashable, ask: Callable[[], Known]) -> Known:
    """What a look gives, until anything is evaluated anew. It refers to nothing of the file."""
    return _recall(_of_pose, key, ask)


def cached_until_rebuilt(key: Hashable, ask: Callable[[], Known]) -> Known:
    """What a look gives, until bones, constraints or objects come, go or follow something else."""
    return _recall(_of_structure, key, ask)


def _recall(known: dict[Hashable, Any], key: Hashable, ask: Callable[[], Known]) -> Known:
    if key not in known:
        if len(known) >= MOST_REMEMBERED:
            known.clear()
        known[key] = ask()
    answer: Known = known[key]
    return answer


def selection_in(context: Context) -> Hashable:
    """What of a context decides which limbs are meant: what is active, and what is selected."""
    ob, bone = context.object, context.active_pose_bone if context.mode == "POSE" else None
    things: Any = context.selected_pose_bones if context.mode == "POSE" else context.selected_objects
    selected = hash(tuple((thing.id_data.session_uid, thing.name) for thing in things or ()))
    layer = view_layer_of(context).as_pointer()
    return layer, context.mode, ob and ob.session_uid, bone and (bone.id_data.session_uid, bone.name), selected


Name = tuple[str, str | None, str]


def name_of(limb: PoseBone) -> Name:
    """How to find a bone again: its object's name and library, and its own."""
    ob = limb.id_data
    return ob.name, ob.library.filepath if ob.library else None, limb.name


def bone_of(name: Name) -> PoseBone | None:
    """The bone of a name, if it is there."""
    objects: Any = bpy.data.objects
    ob = objects.get(name[:2])
    return ob.pose.bones.get(name[2]) if ob and ob.pose else None


@persistent
def forget(*_args: Any) -> None:
    """Look at everything anew."""
    _of_pose.clear()
    _of_structure.clear()


@persistent
def _on_evaluated(_scene: Scene, depsgraph: Depsgraph) -> None:
    _of_pose.clear()
    if depsgraph.id_type_updated("COLLECTION"):  # its graph was built anew
        _of_structure.clear()


HANDLERS: Handlers = (
    ("frame_change_post", _on_evaluated),
    ("depsgraph_update_post", _on_evaluated),
    ("undo_post", forget),
    ("redo_post", forget),
    ("load_post", forget),
)


def register() -> None:
    """Start to listen."""
    add_handlers(HANDLERS)


def unregister() -> None:
    """Stop listening, and forget all."""
    remove_handlers(HANDLERS)
    forget()
