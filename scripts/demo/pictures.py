"""Frames, the film made of them, and a sheet of some of them: all by Blender itself."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Scene

from .stage import RATE, SIZE

COLUMNS, ROWS, MARGIN = 4, 3, 8


def render(scene: Scene, frames: Sequence[int], folder: Path, seconds: float) -> list[Path]:
    """Render frames as PNG in about so many seconds: a slower machine sends fewer rays."""
    folder.mkdir(parents=True, exist_ok=True)
    scene.render.image_settings.file_format = "PNG"
    end, spent_besides = time.monotonic() + seconds, 1.0
    paths = []
    for done, frame in enumerate(frames):
        progress("Rendering", done, len(frames), f"{max(0.0, end - time.monotonic()):4.0f} s left")
        start = time.monotonic()
        scene.cycles.time_limit = max(0.4, (end - start) / (len(frames) - done) - spent_besides)
        paths.append(folder / f"{frame:04d}.png")
        still(scene, frame, paths[-1])
        spent = time.monotonic() - start
        if spent > scene.cycles.time_limit:
            spent_besides += 0.3 * (spent - scene.cycles.time_limit - spent_besides)
    progress("Rendering", len(frames), len(frames), "")
    return paths


def still(scene: Scene, frame: int, path: Path) -> None:
    """Render one frame to a file."""
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
    scene.render.fps = RATE
    scene.render.filepath = str(path)
    editor = scene.sequence_editor_create()
    strips: Any = editor.strips if hasattr(editor, "strips") else editor.sequences  # Blender 4.2 and 4.3
    strip = strips.new_image("Film", str(paths[0]), 1, 1)
    for picture in paths[1:]:
        strip.elements.append(picture.name)
    settings: Any = scene.render.image_settings
    if hasattr(settings, "media_type"):  # Blender 5
        settings.media_type = "VIDEO"
    settings.file_format = "FFMPEG"
    code = scene.render.ffmpeg
    code.format, code.codec, code.constant_rate_factor, code.gopsize = "MPEG4", "H264", "HIGH", 12
    with quiet():
        bpy.ops.render.render(animation=True, scene=scene.name)
    bpy.data.scenes.remove(scene)


def sheet(paths: Sequence[Path], path: Path) -> None:
    """A dozen of the pictures, at half their size, on one sheet."""
    chosen = [paths[i * (len(paths) - 1) // (COLUMNS * ROWS - 1)] for i in range(COLUMNS * ROWS)]
    width, height = SIZE[0] // 2, SIZE[1] // 2
    page = np.ones((ROWS * (height + MARGIN) + MARGIN, COLUMNS * (width + MARGIN) + MARGIN, 4), np.float32)
    for i, picture in enumerate(chosen):
        row, column = ROWS - 1 - i // COLUMNS, i % COLUMNS  # Blender's pictures begin at the bottom.
        y, x = MARGIN + row * (height + MARGIN), MARGIN + column * (width + MARGIN)
        page[y : y + height, x : x + width] = _read(picture).reshape(height, 2, width, 2, 4).mean(axis=(1, 3))
    image = bpy.data.images.new("Sheet", page.shape[1], page.shape[0])
    image.pixels.foreach_set(page.ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)


def progress(what: str, done: int, of: int, note: str) -> None:
    """A bar on the terminal, or in a log a line now and then."""
    if sys.stderr.isatty():
        bar = "█" * (28 * done // of) + "░" * (28 - 28 * done // of)
        sys.stderr.write(f"\r{what} {bar} {done}/{of} {note:24}" + ("\n" if done == of else ""))
    elif done % max(1, of // 6) == 0:
        sys.stderr.write(f"{what} {done}/{of} {note}\n")
    sys.stderr.flush()


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what Blender itself prints off the terminal."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _read(path: Path) -> np.ndarray:
    image = bpy.data.images.load(str(path))
    pixels = np.empty(SIZE[0] * SIZE[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels
