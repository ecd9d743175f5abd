"""Light, camera, and how it is rendered."""

from __future__ import annotations

from math import cos, radians, sin

import bpy
from bpy.types import Collection, Scene
from mathutils import Vector

from .gait import Walk, track
from .paint import sky

SIZE = (640, 360)
RATE = 24

SAMPLES = 10
"""Rays per pixel where there is time; the denoiser makes do with fewer."""

TIME = 1.6
"""Seconds for the rays of one picture: on a slow machine it gets fewer of them."""


def light(scene: Scene, collection: Collection) -> None:
    """A low warm sun from ahead of the creature, and the sky."""
    sky(scene)
    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle, sun.color = 4.6, radians(2.5), (1.0, 0.80, 0.58)
    lamp = bpy.data.objects.new("Sun", sun)
    lamp.rotation_euler = Vector((0.72, -0.42, 0.62)).to_track_quat("Z", "Y").to_euler()
    collection.objects.link(lamp)


def film(scene: Scene, collection: Collection, walk: Walk, frames: range) -> None:
    """A camera that keeps ahead of the creature and slowly comes round it."""
    lens = bpy.data.cameras.new("Camera")
    lens.lens = 42.0
    lens.dof.use_dof = True
    lens.dof.aperture_fstop = 1.4
    camera = bpy.data.objects.new("Camera", lens)
    collection.objects.link(camera)
    scene.camera = camera
    for frame in frames:
        share = (frame - frames[0]) / len(frames)
        x, y, _ = track(frame)
        heights = [walk.ground(track(frame + d)[0], track(frame + d)[1]) for d in range(-30, 31, 6)]
        focus = Vector((x + 0.05, y, sum(heights) / len(heights) + 0.60))
        angle = radians(-58.0 + 30.0 * share)
        camera.location = focus + Vector((5.05 * cos(angle), 5.05 * sin(angle), 0.72 - 0.2 * share))
        camera.rotation_euler = (focus - camera.location).to_track_quat("-Z", "Y").to_euler()
        lens.dof.focus_distance = (focus - camera.location).length - 0.35
        camera.keyframe_insert("location", frame=frame)
        camera.keyframe_insert("rotation_euler", frame=frame)
        lens.keyframe_insert("dof.focus_distance", frame=frame)


def set_up(scene: Scene, frames: range) -> None:
    """Small pictures by Cycles on the CPU, in seconds each."""
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    scene.render.fps = RATE
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.render.engine = "CYCLES"
    scene.render.use_persistent_data = True
    cycles = scene.cycles
    cycles.device = "CPU"
    cycles.samples, cycles.time_limit = SAMPLES, TIME
    cycles.use_adaptive_sampling = cycles.use_light_tree = False
    cycles.use_denoising, cycles.denoising_prefilter = True, "FAST"
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 3, 1, 2
    cycles.use_fast_gi, cycles.fast_gi_method, cycles.ao_bounces_render = True, "REPLACE", 1
    scene.world.light_settings.distance = 2.5
    cycles.caustics_reflective = cycles.caustics_refractive = False
    scene.view_settings.view_transform = "Khronos PBR Neutral"
    scene.view_settings.exposure = 0.1
