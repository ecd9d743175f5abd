"""Tasks that are done in whole or not at all, whatever is raised in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from bpy.types import Context

from ..blender.stepping import Steps
from ..blender.transaction import as_one

Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def transactional(task: Callable[Concatenate[Context, Rest], Result]) -> Callable[Concatenate[Context, Rest], Result]:
    """Run a task as one transaction: if anything is raised, the file is restored."""

    @wraps(task)
    def run(context: Context, *args: Rest.args, **options: Rest.kwargs) -> Result:
        with as_one(context):
            return task(context, *args, **options)

    return run  # type: ignore[return-value]  # the stubs of `wraps` forget that these may be named


def transactional_steps(
    task: Callable[Concatenate[Context, Rest], Steps[Result]],
) -> Callable[Concatenate[Context, Rest], Steps[Result]]:
    """The same for a task in steps, also if it is closed before its end."""

    @wraps(task)
    def run(context: Context, *args: Rest.args, **options: Rest.kwargs) -> Steps[Result]:
        with as_one(context):
            return (yield from task(context, *args, **options))

    return run  # type: ignore[return-value]  # as above
