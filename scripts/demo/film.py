"""Light, camera, frames, the film made of them, and a sheet of some of them: all by Blender itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import cos, radians, sin
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Collection
from mathutils import Vector

from .clay import sky
from .gait import Ground, track

SIZE = (640, 360)
RATE = 24
COLUMNS, ROWS, MARGIN = 4, 3, 8


def set_up(collection: Collection, ground: Ground, frames: range) -> None:
    """A low warm sun from ahead of the creatures, a camera, and small pictures by Cycles in a second each."""
    scene: Any = bpy.context.scene
    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle, sun.color = 4.6, radians(2.5), (1.0, 0.80, 0.58)
    lamp = bpy.data.objects.new("Sun", sun)
    lamp.rotation_euler = Vector((0.72, -0.42, 0.62)).to_track_quat("Z", "Y").to_euler()
    collection.objects.link(lamp)
    scene.world, scene.camera = sky(), camera(collection, ground, frames)
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    scene.render.fps, scene.render.engine = RATE, "CYCLES"
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.use_persistent_data = True  # Halves the time; live legs do not move with it.
    cycles = scene.cycles
    cycles.samples, cycles.time_limit = 8, 0.6  # A slow machine sends fewer rays.
    cycles.use_adaptive_sampling = cycles.use_light_tree = False
    cycles.use_denoising, cycles.denoising_prefilter = True, "FAST"
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 3, 1, 2
    cycles.use_fast_gi, cycles.fast_gi_method, cycles.ao_bounces_render = True, "REPLACE", 1
    cycles.caustics_reflective = cycles.caustics_refractive = False
    scene.world.light_settings.distance = 2.5
    scene.view_settings.view_transform, scene.view_settings.exposure = "Khronos PBR Neutral", 0.1


def camera(collection: Collection, ground: Ground, frames: range) -> Any:
    """It keeps ahead of the creatures and slowly comes round to their side."""
    lens = bpy.data.cameras.new("Camera")
    lens.lens, lens.dof.use_dof, lens.dof.aperture_fstop = 42.0, True, 1.4
    ob = bpy.data.objects.new("Camera", lens)
    collection.objects.link(ob)
    for frame in frames:
        share = (frame - frames[0]) / len(frames)
        x, y, _ = track(frame)
        heights = [ground(*track(frame + d)[:2]) for d in range(-30, 31, 6)]
        focus = Vector((x + 0.45, y + 0.5, sum(heights) / len(heights) + 0.82))
        angle = radians(-25.0 - 50.0 * share)
        ob.location = focus + Vector((6.1 * cos(angle), 6.1 * sin(angle), 0.75 - 0.2 * share))
        ob.rotation_euler = (focus - ob.location).to_track_quat("-Z", "Y").to_euler()
        lens.dof.focus_distance = (focus - ob.location).length - 0.35
        ob.keyframe_insert("location", frame=frame)
        ob.keyframe_insert("rotation_euler", frame=frame)
        lens.keyframe_insert("dof.focus_distance", frame=frame)
    return ob


def draw(frames: Sequence[int], folder: Path, film_to: Path, sheet_to: Path) -> None:
    """Render the open file: frames, film and sheet."""
    paths = [folder / f"{frame:04d}.png" for frame in frames]
    for frame, path in zip(frames, paths, strict=True):
        still(frame, path)
        if frame % 10 == 0:
            print(f"Rendered {frame} of {len(frames)} frames", flush=True)
    film(paths, film_to)
    sheet(paths, sheet_to)


def hero(frame: int, path: Path) -> None:
    """Render one frame with care."""
    scene: Any = bpy.context.scene
    scene.cycles.samples, scene.cycles.time_limit = 96, 0.0
    scene.render.resolution_x, scene.render.resolution_y = 960, 540
    scene.render.image_settings.color_mode, scene.render.image_settings.compression = "RGB", 100
    still(frame, path)


def still(frame: int, path: Path) -> None:
    """Render one frame to a file."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    scene.render.filepath = str(path)
    with quiet():
        bpy.ops.render.render(write_still=True)


def film(paths: Sequence[Path], path: Path) -> None:
    """Make a film of pictures, in a scene of its own."""
    scene = bpy.data.scenes.new("Film")
    scene.frame_start, scene.frame_end = 1, len(paths)
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.fps, scene.render.filepath = RATE, str(path)
    editor = scene.sequence_editor_create()
    strips: Any = editor.strips
    strip = strips.new_image("Film", str(paths[0]), 1, 1)
    for picture in paths[1:]:
        strip.elements.append(picture.name)
    settings: Any = scene.render.image_settings
    if hasattr(settings, "media_type"):  # Blender 5
        settings.media_type = "VIDEO"
    settings.file_format, code = "FFMPEG", scene.render.ffmpeg
    code.format, code.codec, code.constant_rate_factor, code.gopsize = "MPEG4", "H264", "HIGH", 12
    with quiet():
        bpy.ops.render.render(animation=True, scene=scene.name)


def sheet(paths: Sequence[Path], path: Path) -> None:
    """A dozen of the pictures, at half their size, on one sheet."""
    width, height = SIZE[0] // 2, SIZE[1] // 2
    page = np.ones((ROWS * (height + MARGIN) + MARGIN, COLUMNS * (width + MARGIN) + MARGIN, 4), np.float32)
    for i in range(COLUMNS * ROWS):
        row, column = ROWS - 1 - i // COLUMNS, i % COLUMNS  # Blender's pictures begin at the bottom.
        y, x = MARGIN + row * (height + MARGIN), MARGIN + column * (width + MARGIN)
        image = bpy.data.images.load(str(paths[i * (len(paths) - 1) // (COLUMNS * ROWS - 1)]))
        pixels = np.array(image.pixels[:], np.float32).reshape(height, 2, width, 2, 4)
        page[y : y + height, x : x + width] = pixels.mean(axis=(1, 3))
    image = bpy.data.images.new("Sheet", page.shape[1], page.shape[0])
    image.pixels.foreach_set(page.ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what Blender itself prints off the terminal."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
