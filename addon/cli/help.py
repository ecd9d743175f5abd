"""What the program says of itself."""

EPILOG = """\
Standard output gets one line of JSON for each file and chain, all else goes to standard error. Blender itself may print
lines before the first of them; they do not begin with a brace. What the answers hold is in the sources' docs/json.md.

exit codes:
  0  done, or nothing to do
  1  failure: something unforeseen, its traceback is on standard error
  2  bad input: a wrong argument, a file that is missing, not a .blend, from a newer Blender, or without a chain;
     nothing was written for that file
  3  a chain has more unreached frames than --max-unreached; nothing was written for that file
  4  the output can't be written: no permission, disk full, or another run is writing it
  5  with --strict: the file links what is not there; nothing was written for that file
  6  a chain can't be baked, put on the rig or brought back; with --strict, also one that can't be posed in a
     report, of a scene that is left out, or of an object that its view layer excludes or, unless it is for a
     report, that is linked and not overridden; nothing was written for that file
  7  with --strict: drivers or texts need Python, and --enable-autoexec was not given; nothing was written for that file
  130  interrupted with Ctrl-C or SIGTERM

Without --strict, what is left out, and what would end with 5 or 7, is a word on standard error, and in the lines'
"warnings".

A file that fails does not keep the next one from being processed. The output is written beside its name and renamed
when it is whole, so that a run may be killed at any moment."""

BAKE_EXAMPLES = """\
examples:
  blender --command planar_ik bake shot.blend -o baked.blend
  blender --command planar_ik bake sq1/*.blend sq2/*.blend -o baked --relative-to . --strict --skip-existing
"""

REPORT_EXAMPLE = """\
example:
  blender --command planar_ik report shot.blend --frames 1:100
"""

ADD_EXAMPLE = """\
example:
  blender --command planar_ik add rig.blend chains.toml -o rigged.blend

  where chains.toml holds, for each chain:
    [[chains]]
    object = "Rig"
    bone = "shin.L"
    target = "Foot.L"
    softness = 0.05
"""

PORTABLE_EXAMPLES = """\
examples:
  blender --command planar_ik portable rig.blend -o portable.blend
  blender --command planar_ik portable --in-place --chain Rig:shin.L --chain Rig:shin.R rig.blend
"""

LIVE_EXAMPLE = """\
example:
  blender --command planar_ik live portable.blend -o rig.blend
"""

DESCRIPTION = (
    'a list "chains", each with object, bone (the lower one), and if wanted target, subtarget, pole_target, '
    "pole_subtarget (names; an empty is made for a target or pole that is not named) and any of the chain's settings: "
    "plane, bend, hinge_angle, lower_twist, pole_angle, influence, softness, stretch, stretch_max, stretch_volume, "
    "min_angle, max_angle (angles in radians)"
)
