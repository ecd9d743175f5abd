"""Way 2: step a scene that holds only what the chains depend on."""

from __future__ import annotations

from array import array
from collections.abc import Generator
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, Depsgraph, Object
from numpy.typing import NDArray

from ..rig.access import bones_of, scene_of, scene_settings
from ..rig.chain import Chain
from .gathering import Places, carriers_of, gather
from .stepping import set_frame


def is_separable(chains: list[Chain]) -> bool:
    """Whether nothing that the chains depend on looks at the scene that it is in."""
    for ob in {ob for ob, _ in carriers_of(chains)}:
        if ob.rigid_body or ob.type not in {"ARMATURE", "EMPTY"}:
            return False
        for curve in ob.animation_data.drivers if ob.animation_data else ():
            if any(variable.type == "CONTEXT_PROP" for variable in (curve.driver.variables if curve.driver else ())):
                return False
    return True


def step_isolated(context: Context, chains: list[Chain], frames: NDArray[Any]) -> Generator[int, None, list[Places]]:
    """Where the chains' roots, targets and poles are over frames; yields the number of frames done."""
    objects = {ob for ob, _ in carriers_of(chains)} | {chain.object for chain in chains}
    scene = bpy.data.scenes.new("Planar IK Bake")
    try:
        scene_settings(scene).live = False
        render, given = scene.render, scene_of(context).render
        render.frame_map_old, render.frame_map_new = given.frame_map_old, given.frame_map_new
        render.fps, render.fps_base = given.fps, given.fps_base
        for ob in objects:
            scene.collection.objects.link(ob)
        worlds = {ob: np.zeros((len(frames), 4, 4)) for ob in objects}
        poses = {
            ob: np.zeros((len(frames), len(bones_of(ob)), 16), np.float32) for ob in objects if ob.type == "ARMATURE"
        }
        for i, frame in enumerate(frames):
            set_frame(scene, float(frame))
            depsgraph: Any = scene.view_layers[0].depsgraph
            for ob in objects:
                _read(ob, i, depsgraph, worlds, poses)
            yield i + 1
    finally:
        bpy.data.scenes.remove(scene)
    index = {ob: {bone.name: k for k, bone in enumerate(bones_of(ob))} for ob in poses}

    def pose(ob: Object, bone: str) -> NDArray[Any]:
        columns = poses[ob][:, index[ob][bone]].reshape(-1, 4, 4)
        return columns.transpose(0, 2, 1).astype(float)

    return gather(chains, worlds.__getitem__, pose)


def _read(
    ob: Object, i: int, depsgraph: Depsgraph, worlds: dict[Object, NDArray[Any]], poses: dict[Object, NDArray[Any]]
) -> None:
    evaluated = ob.evaluated_get(depsgraph)
    worlds[ob][i] = evaluated.matrix_world
    if ob in poses:
        numbers = array("f", bytes(4 * 16 * len(bones_of(ob))))
        bones_of(evaluated).foreach_get("matrix", numbers)
        poses[ob][i] = np.frombuffer(numbers, np.float32).reshape(-1, 16)
