"""How the GPU makes triangles in the window of a `figure.Pattern` and a table, in which it looks places up."""

from __future__ import annotations

from functools import cache
from typing import Any

import gpu as blender_gpu

from .figure import FIRST, Pattern, Place

gpu: Any = blender_gpu  # whose stubs are wrong about most of what is used here

CORNER = ("cornerAt", "cornerTo", "cornerPart")
"""What the shader calls a pattern's arrays. Short names could be macros of Metal's own."""

PLACES = f"""
vec4 cell(int row, float column)
{{
  return texelFetch(limbRows, ivec2(int(column), row), 0);
}}

vec3 place(vec4 at, int row)
{{
  vec3 one = cell(row, at.x).xyz;
  if (at.y < 0.0) {{
    vec3 spoke = at.z * cell(row, {float(Place.ALONG)}).xyz + at.w * cell(row, {float(Place.ACROSS)}).xyz;
    return one + cell(row, -1.0 - at.y).w * spoke;
  }}
  vec3 way = cell(row, at.y).xyz - one;
  vec3 aside = vec3(0.0);
  if (at.w != 0.0) {{
    vec3 normal = cross(cell(row, {float(Place.ALONG)}).xyz, cell(row, {float(Place.ACROSS)}).xyz);
    aside = at.w * cross(normal / max(length(normal), 1e-12), way);
  }}
  return one + at.z * way + aside;
}}
"""

VERTEX = (
    PLACES
    + f"""
void main()
{{
  int row = int(cornerPart.x) + {FIRST};
  tint = cell(int(cornerPart.z), cornerPart.y);
  vec4 here = toWindow * vec4(place(cornerAt, row), 1.0);
  edge = 0.0;
  if (cornerPart.w != 0.0) {{
    vec4 there = toWindow * vec4(place(cornerTo, row), 1.0);
    /* What is behind the eye is cut off, as the GPU does it later, for the line to be seen from its side. */
    float before = here.z + here.w;
    float behind = there.z + there.w;
    if (before < 0.0 && behind > 0.0) {{
      here = mix(here, there, before / (before - behind) + 1e-4);
    }}
    else if (behind < 0.0 && before > 0.0) {{
      there = mix(there, here, behind / (behind - before) + 1e-4);
    }}
    if (before > 0.0 || behind > 0.0) {{
      vec2 way = (there.xy / there.w - here.xy / here.w) * viewportSize;
      float apart = length(way);
      float onward = abs(cornerPart.w) > 1.5 ? -1.0 : 1.0;
      vec2 aside = apart > 1e-6 ? onward * vec2(-way.y, way.x) / apart : vec2(0.0);
      edge = sign(cornerPart.w) * (0.5 * lineWidth + 1.0);
      here.xy += 2.0 * edge * aside / viewportSize * here.w;
    }}
  }}
  gl_Position = here;
}}
"""
)

FRAGMENT = """
void main()
{
  float inside = clamp(0.5 * lineWidth + 0.5 - abs(edge), 0.0, 1.0);
  colour = vec4(tint.rgb, tint.a * inside);
}
"""


@cache
def shader() -> Any:
    """Of what `batch` makes; its table is ``limbRows``, a texture with the colours in its first rows."""
    info = gpu.types.GPUShaderCreateInfo()
    info.push_constant("MAT4", "toWindow")
    info.push_constant("VEC2", "viewportSize")
    info.push_constant("FLOAT", "lineWidth")
    info.sampler(0, "FLOAT_2D", "limbRows")
    for number, name in enumerate(CORNER):
        info.vertex_in(number, "VEC4", name)
    between = gpu.types.GPUStageInterfaceInfo("planar_ik_overlay")
    between.flat("VEC4", "tint")
    between.no_perspective("FLOAT", "edge")
    info.vertex_out(between)
    info.fragment_out(0, "VEC4", "colour")
    info.vertex_source(VERTEX)
    info.fragment_source(FRAGMENT)
    return gpu.shader.create_from_info(info)


def batch(pattern: Pattern) -> Any:
    """The triangles of a pattern."""
    room = gpu.types.GPUVertBuf(_format(), len(pattern.at))
    for name, column in zip(CORNER, pattern[:3], strict=True):
        room.attr_fill(name, column)
    return gpu.types.GPUBatch(type="TRIS", buf=room, elem=gpu.types.GPUIndexBuf(type="TRIS", seq=pattern.triangles))


def texture(rows: Any) -> Any:
    """A table ``(rows, columns, 4)`` of single precision."""
    height, width, _ = rows.shape
    return gpu.types.GPUTexture(
        (width, height), format="RGBA32F", data=gpu.types.Buffer("FLOAT", rows.size, rows.ravel())
    )


@cache
def _format() -> Any:
    made = gpu.types.GPUVertFormat()
    for name in CORNER:
        made.attr_add(id=name, comp_type="F32", len=4, fetch_mode="FLOAT")
    return made


def forget() -> None:
    """Let go of what was made."""
    shader.cache_clear()
    _format.cache_clear()
