"""Where a limb ends: where the foot or hand below it begins. Guessed once, when the limb is made, then marked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from bpy.types import Bone, PoseBone

from ..solver.matrices import Matrix, inverted
from .names import FEET, MECHANISM, has_word, says_twist
from .settings import FORMS, LIMB_MARK, MADE_FOR_LIMB, TIP

AT = "tip_at"
"""What the group of a limb calls where its foot began, in the last bone's own space."""

NEAREST = 0.3, 0.1
"""How far from where a bone begins its foot begins at least, as a part of that bone's length; and if there is none."""


AT_TAIL = 1e-3
"""How far from the tail of the bone above a bone begins at most to begin there, as a part of that one's length."""

FAR = 50.0
"""How many times as long as the bone above, or as short, what an importer left is not to be believed."""


def rest_matrix(bone: Bone) -> Matrix:
    """The rest matrix of a bone in its armature."""
    rows: Any = bone.matrix_local
    return np.array([row[:] for row in rows])  # of the matrix itself, it takes longer


def group_of(bone: PoseBone) -> Mapping[str, Any] | None:
    """The settings kept on a limb's last bone that do not animate, by name; None if there are none. `keep` sets
    them. None also where what is kept can't be read."""
    return _read(getattr(bone, LIMB_MARK))


@lru_cache(10_000)
def _read(text: str) -> Mapping[str, Any] | None:
    try:
        group = json.loads(text)
    except ValueError:
        return None
    is_read = isinstance(group, dict) and all(_has_form(group[name], FORMS[name]) for name in FORMS.keys() & group)
    return group if is_read else None


def _has_form(value: Any, form: tuple[int, ...] | type) -> bool:
    if isinstance(form, type):
        return isinstance(value, form)
    return isinstance(value, list) and len(value) in form and all(isinstance(number, int | float) for number in value)


def keep(bone: PoseBone, **values: Any) -> None:
    """Have these be kept of a limb, by name; what is None, no more."""
    kept = {name: value for name, value in {**(group_of(bone) or {}), **values}.items() if value is not None}
    setattr(bone, LIMB_MARK, json.dumps(kept, sort_keys=True))


def foot_of(limb: PoseBone) -> PoseBone | None:
    """The foot or hand below a limb, as it was marked when the limb was made, or None. For bones that are no limb
    yet, the one that would be."""
    pose = limb.id_data.pose.bones
    if group_of(limb) is not None:
        children = [pose[child.name] for child in limb.bone.children if child.name in pose]
        return next((child for child in children if getattr(child, TIP)), None)
    below = foot_below(limb.bone)
    return pose.get(below.name) if below else None


FOOT_GONE = "The foot or hand below '{bone}' is gone: rebuild the limb"


def is_foot_gone(limb: PoseBone) -> bool:
    """Whether the foot of a limb has been removed since the limb was made."""
    group = group_of(limb) or {}
    return AT in group and group.get("tip", "FOOT") == "FOOT" and foot_of(limb) is None


def mark_tip(limb: PoseBone, below: Bone | None = None) -> None:
    """Mark the foot or hand below a new limb, and where it begins: ``below``, or the one that is found."""
    unmark_tip(limb)
    below = below or foot_below(limb.bone)
    if below is not None:
        setattr(limb.id_data.pose.bones[below.name], TIP, True)
        keep(limb, **{AT: _head_in(limb.bone, below).tolist()})


def unmark_tip(limb: PoseBone) -> None:
    """Remove the marks of `mark_tip`."""
    for child in limb.bone.children:
        limb.id_data.pose.bones[child.name].property_unset(TIP)
    keep(limb, **{AT: None})


def tip_of(limb: PoseBone, kind: str = "FOOT") -> Matrix:
    """Where the tip of a limb is, in its last bone's own space: where its ``FOOT`` begins, or at the ``TAIL``. A
    foot that is gone counts where it was."""
    if kind == "TAIL":
        return np.array((0.0, limb.bone.length, 0.0))
    foot = foot_of(limb)
    if foot is not None:
        return _head_in(limb.bone, foot.bone)
    at: Any = (group_of(limb) or {}).get(AT)
    return np.array((0.0, length_of(limb.bone), 0.0)) if at is None else np.array(at[:])


def _head_in(last_bone: Bone, foot: Bone) -> Matrix:
    head: Any = foot.head_local
    place: Matrix = inverted(rest_matrix(last_bone)) @ [*head, 1.0]
    return place[:3]


def foot_below(last_bone: Bone) -> Bone | None:
    """The foot or hand that a limb with this last bone would have: the child that begins at its tail, connected or not;
    where none does, one that goes on elsewhere. Of several, the one with a name for it, else that of the longest
    branch. A bone that begins where the last one does, or that is of a mechanism, is none, nor is a twist bone beside
    others."""
    children = [child for child in last_bone.children if not looks_like_mechanism(child)]
    children = [child for child in children if child.children or not says_twist(child.name)] or children
    size = min(last_bone.length, length_of(last_bone))
    elsewhere = [[child for child in children if _along(last_bone, child) > least * size] for least in NEAREST]
    going_on = [child for child in children if begins_at_tail(child)] or elsewhere[0] or elsewhere[1]
    named = [child for child in going_on if has_word(child.name, FEET)]
    return max(named or going_on, key=lambda child: (_count(child), child.length), default=None)


def begins_at_tail(bone: Bone) -> bool:
    """Whether a bone begins at the tail of the one above, connected or not."""
    above = bone.parent
    return above is not None and (bone.head_local - above.tail_local).length <= AT_TAIL * above.length


def _count(bone: Bone) -> int:
    """How many bones a branch has. Blender's own ``children_recursive`` looks at all bones for each of them."""
    return 1 + sum(map(_count, bone.children))


def _along(last_bone: Bone, child: Bone) -> float:
    return (child.head_local - last_bone.head_local).length


def looks_like_mechanism(bone: Bone) -> bool:
    """Whether a bone is of a mechanism or a control, as far as marks and names say."""
    return bool(getattr(bone, MADE_FOR_LIMB)) or has_word(bone.name, MECHANISM)


def length_of(bone: Bone) -> float:
    """How long a bone is that none goes on from: as its tail says where it begins at one. Of armatures that are scaled,
    importers leave tails a hundred times too near or too far: as long as the bone above, then."""
    above = _along(bone.parent, bone) if bone.parent else 0.0
    is_credible = begins_at_tail(bone) or above / FAR < bone.length < above * FAR or above < 1e-6 * bone.length
    return bone.length if is_credible else above
