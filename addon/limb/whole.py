"""Tasks on limbs that are done wholly or not at all, whatever is raised in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from bpy.types import Context, Object

from ..blender.transaction import all_or_nothing
from ..blender.types import is_armature
from .follow import follow_of
from .storage import limbs_of

Rest = ParamSpec("Rest")
Result = TypeVar("Result")
Limbs = TypeVar("Limbs", bound=Sequence[Any])

Progress = Callable[[float], None]
"""Who is told the part done of a task over frames; what it raises cancels that."""

Task = Callable[Concatenate[Context, Limbs, Rest], Result]


def concerned(objects: Iterable[Object]) -> list[Object]:
    """What a task on limbs of some rigs may change: the rigs, and all that their limbs follow."""
    concerned_objects = dict.fromkeys(objects)
    for ob in [ob for ob in concerned_objects if is_armature(ob)]:
        for last in limbs_of(ob):
            concerned_objects |= dict.fromkeys(followed for followed, _ in follow_of(last).pairs if followed)
    return [*concerned_objects]


def wholly(task: Task[Limbs, Rest, Result]) -> Task[Limbs, Rest, Result]:
    """Have a task be done wholly or not at all. It is given limbs by their last bones, or what has these as
    ``last``."""

    @wraps(task)
    def run(context: Context, limbs: Limbs, *args: Rest.args, **options: Rest.kwargs) -> Result:
        lasts = [getattr(limb, "last", limb) for limb in limbs]
        with all_or_nothing(context, concerned(last.id_data for last in lasts)):
            return task(context, limbs, *args, **options)

    return run  # type: ignore[return-value]  # the stubs of `wraps` forget that these may be named
