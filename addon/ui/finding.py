"""Which limbs a person means: by their own bones, by target or pole, and by the foot or hand below; and what a redraw
looks up, which stays known until Blender evaluates something anew: the panel and each of its buttons ask the same, and
a mouse that goes over them has all of it drawn again and again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import bpy
from bpy.app.handlers import persistent
from bpy.types import Context, Depsgraph, PoseBone, Scene

from ..blender.types import Handlers, Refused, add_handlers, is_armature, remove_handlers, view_layer_of
from ..tasks import selection, status
from ..tasks.selection import followers, is_in_view, limbs_of_bones


def selected_limbs(context: Context) -> list[PoseBone]:
    """The selected limbs, each once: in Pose Mode by their bones, target, pole or foot; in Object Mode by what they
    follow."""
    if context.mode == "OBJECT":
        return followers(context, [(ob, "") for ob in context.selected_objects])
    bones: list[Any] = list(context.selected_pose_bones or ()) or [context.active_pose_bone]
    return limbs_of_bones(context, [bone for bone in bones if bone and is_in_view(context, bone.id_data)], _around)


def active_limb(context: Context) -> PoseBone | None:
    """The limb that the panel shows: of the selected ones that of the active bone or object, else the first."""
    return next(iter(limbs_active_first(context)), None)


def _around(limb: PoseBone) -> frozenset[str]:
    """What `selection.bones_beside` gives, looked up once."""
    around: frozenset[str] = cached_until_rebuilt(("around", name_of(limb)), lambda: selection.bones_beside(limb))
    return around


def limbs_active_first(context: Context) -> list[PoseBone]:
    """`selected_limbs`, that of the active bone or object first; cached for a selection."""
    names = cached_until_rebuilt(
        ("limbs", selection_in(context)), lambda: [*map(name_of, _limbs_active_first(context))]
    )
    limbs = [limb for name in names if (limb := bone_of(name)) is not None and status.is_limb(limb)]
    return limbs if len(limbs) == len(names) else _limbs_active_first(context)


def _limbs_active_first(context: Context) -> list[PoseBone]:
    limbs = selected_limbs(context)
    if len(limbs) < 2:
        return limbs
    if context.mode == "OBJECT":
        ob = context.active_object
        active = followers(context, [(ob, "")]) if ob else []
    else:
        bone = context.active_pose_bone
        active = limbs_of_bones(context, [bone], _around) if bone else []
    return [*(limb for limb in limbs if limb in active[:1]), *(limb for limb in limbs if limb not in active[:1])]


def bones_selected(context: Context) -> list[PoseBone]:
    """The bones that are selected in Pose Mode."""
    return [*(context.selected_pose_bones or ())] if context.mode == "POSE" else []


def require_limbs(context: Context, with_broken: bool = False) -> list[PoseBone]:
    """`selected_limbs`; raises `Refused` if there is none, or one lacks bones, unless ``with_broken``."""
    limbs = selected_limbs(context)
    if not limbs:
        raise Refused("Select a limb, its target or its pole")
    for limb in () if with_broken else limbs:
        status.check_complete(limb)
    return limbs


def rig_in_view(context: Context) -> Any:
    """The armature of the active limb, else the active object if it is an armature."""
    limb = active_limb(context)
    ob = limb.id_data if limb else context.object
    return ob if ob and is_armature(ob) else None


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
    """A key for what is active and selected in a context, which decides the limbs that are meant."""
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
