"""What farms are given, run by their own tools or in a JavaScript engine, on real files with the real program."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from time import sleep
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from scripts import installed
from tests.blender.bake.test_bake import make_chain, make_leg

ROOT = Path(__file__).resolve().parents[3]
FARM = ROOT / "scripts" / "farm"
TEMPLATE = FARM / "bake.yaml"
PROGRAM = f"{sys.executable} {ROOT / 'scripts' / 'bake.py'}"
SHOTS = ["sq1/anim.blend", "sq2/two shots.blend", "sq3/anim.blend"]

AUTHOR = """
const author = {
    Task: (name, type) => ({ name, type, commands: [], addCommand(command) { this.commands.push(command); } }),
    Command: (name, parameters) => ({ name, parameters }),
};
function compiled(settings) {
    const job = { settings, tasks: [], addTask(task) { this.tasks.push(task); } };
    compileJob(job);
    return JSON.stringify(job.tasks);
}
"""
"""What Flamenco documents of the names that it gives to a job type."""

SETTING = {
    "key", "type", "subtype", "choices", "propargs", "description", "default", "eval", "evalInfo", "visible",
    "required", "editable",
}  # fmt: skip
"""What Flamenco's API knows of a setting."""

pytest.importorskip("openjd.cli", reason="openjd-cli is not in this environment")
quickjs = pytest.importorskip("quickjs", reason="quickjs-ng is not in this environment")


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    """A folder with the shots and their list."""
    make_chain(make_leg())
    bpy.context.scene.frame_end = 10
    folder = tmp_path / "shots"
    for name in SHOTS:
        (folder / name).parent.mkdir(parents=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / name))
    (folder / "shots.txt").write_text("\n".join(SHOTS) + "\n")
    return folder


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=110, check=False)


def openjd(*words: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-m", "openjd", *words)


def written(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("[!.]*.blend"))


def test_the_template_is_valid():
    checked = openjd("check", str(TEMPLATE))
    assert checked.returncode == 0, checked.stdout + checked.stderr


def template_command(shots: Path, **parameters: Any) -> list[str]:
    """What `openjd` runs the template by, with the output in a folder beside the shots."""
    values = {
        "ShotFolder": shots,
        "ShotList": shots / "shots.txt",
        "OutputFolder": shots.parent / "out",
        "Command": PROGRAM,
    } | parameters
    words = [word for name, value in values.items() for word in ("--job-param", f"{name}={value}")]
    return ["run", str(TEMPLATE), "--step", "Bake", *words]


def run_template(shots: Path, **parameters: Any) -> tuple[int, str]:
    """Exit code and all that was said."""
    done = openjd(*template_command(shots, **parameters))
    return done.returncode, done.stdout + done.stderr


def test_the_template_bakes_every_shot_of_a_list_and_runs_again(shots):
    for skipped in (0, 3):
        code, said = run_template(shots, Chunk=2, Tasks=3)
        assert code == 0, said
        assert said.count('"skipped": true') == skipped
        assert "No shot is left for task 3" in said
    assert written(shots.parent / "out") == SHOTS


def test_names_may_hold_what_bash_would_read_as_its_own_words(shots):
    folder = shots.rename(shots.parent / "Bob's $(exit 9) shots")
    out = shots.parent / 'Bob\'s "out"'
    code, said = run_template(folder, Tasks=1, OutputFolder=out)
    assert code == 0, said
    assert written(out) == SHOTS
    code, said = run_template(folder, Tasks=1, OutputFolder=out, Command="echo", Scene="Bob's")
    assert code == 0, said
    assert "--scene=Bob's" in words_of(said)


def test_a_shot_whose_name_begins_with_a_dash_is_no_option(shots):
    """As in a list that `find -printf %P` or `ls` makes."""
    (shots / "sq1" / "anim.blend").rename(shots / "--anim.blend")
    (shots / "shots.txt").write_text("--anim.blend\n")
    code, said = run_template(shots, Tasks=1)
    assert code == 0, said
    assert written(shots.parent / "out") == ["--anim.blend"]


def test_a_list_as_windows_saves_it_loses_no_shot(shots):
    (shots / "shots.txt").write_text("\ufeffsq1/anim.blend\r\nsq3/anim.blend\r\n", "utf-8", newline="")
    code, said = run_template(shots, Tasks=1)
    assert code == 0, said
    assert written(shots.parent / "out") == ["sq1/anim.blend", "sq3/anim.blend"]


def test_a_task_that_is_cancelled_lets_the_program_end_by_itself(shots, tmp_path):
    """Which then takes away what it has not finished."""
    started, ended = tmp_path / "started", tmp_path / "ended"
    program = tmp_path / "program.sh"
    program.write_text(f"trap 'touch {ended}; exit 130' TERM\ntouch {started}\nwhile :; do sleep 0.1; done\n")
    command = template_command(shots, Tasks=1, Command=f"bash {program}")
    with subprocess.Popen([sys.executable, "-m", "openjd", *command], stdout=subprocess.DEVNULL) as running:
        while not started.exists() and running.poll() is None:
            sleep(0.05)
        running.terminate()
    assert ended.exists()


def words_of(said: str) -> list[str]:
    """The program's arguments, where the template's command was to echo them."""
    (line,) = (line for line in said.splitlines() if "bake sq1" in line)
    return line[line.index("bake sq1") :].split()


OPTIONS = {
    "Range": "-3:20", "Step": 0.5, "Tolerance": 0.01, "Action": "new", "Keep": "yes", "Purpose": "game",
    "Scene": "all", "Strict": "no", "MaxUnreached": 7, "MaxMiss": 0.02, "AllowNoChains": "yes",
    "EnableAutoexec": "yes",
}  # fmt: skip


def parsed(words: list[str]) -> dict[str, Any]:
    return vars(installed.addon("addon.cli.arguments").parse(words))


def assert_options(given: dict[str, Any]) -> None:
    """The program was given what `OPTIONS` say."""
    names = ("frames", "step", "tolerance", "action", "keep", "purpose", "scene", "strict", "max_unreached", "max_miss")
    wanted = ((-3.0, 20.0), 0.5, 0.01, "new", True, "game", "all", False, 7, 0.02)
    assert tuple(given[name] for name in names) == wanted
    assert (given["allow_no_chains"], given["enable_autoexec"], given["skip_existing"]) == (True, True, True)


def test_the_template_passes_its_parameters_on(shots, addon):
    (shots / "shots.txt").write_text("sq1/anim.blend\r\n\r\nsq3/anim.blend\r\n", newline="")
    code, said = run_template(shots, Tasks=1, Command="echo")
    assert code == 0, said
    given = parsed(words_of(said))
    assert [path.name for path in given["inputs"]] == ["anim.blend", "anim.blend"]
    assert (given["range"], given["step"], given["strict"], given["keep"]) == ("scene", 1.0, True, False)
    assert (given["allow_no_chains"], given["enable_autoexec"], given["scene"]) == (False, False, None)
    code, said = run_template(shots, Tasks=1, Command="echo", **OPTIONS)
    assert code == 0, said
    assert_options(parsed(words_of(said)))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"Tasks": 1}, "Tasks has to be 2 for 3 shots"),
        ({"ShotList": "/nowhere.txt"}, "There is no list /nowhere.txt"),
        ({"ShotFolder": "/nowhere"}, "There is no folder /nowhere"),
        ({"ShotList": os.devnull}, f"There is no shot in {os.devnull}"),
    ],
)
def test_the_template_fails_rather_than_leave_out_shots(shots, wrong, sentence):
    code, said = run_template(shots, **{"Chunk": 2, "Tasks": 2} | wrong)
    assert code != 0
    assert sentence in said.split("Output:")[1]
    assert not (shots.parent / "out").exists()


class Flamenco:
    """The job type in a JavaScript engine, beside a stand-in for Flamenco's own names."""

    def __init__(self) -> None:
        self._engine = quickjs.Context()
        self._engine.eval(AUTHOR)
        self._engine.eval((FARM / "planar_ik_bake.js").read_text())
        self.settings: list[dict[str, Any]] = json.loads(self._engine.eval("JSON.stringify(JOB_TYPE)"))["settings"]

    def submitted(self, **given: Any) -> dict[str, Any]:
        """The settings of a job: what is given, else the default, else what Python makes of its expression."""
        values = {setting["key"]: setting.get("default") for setting in self.settings} | given
        names = {"settings": SimpleNamespace(**values), "abspath": lambda path: Path(path).resolve()}
        for setting in self.settings:
            if "eval" in setting:
                values[setting["key"]] = eval(setting["eval"], {}, names)  # noqa: S307 - as Flamenco's add-on does
        return values

    def tasks(self, settings: dict[str, Any]) -> list[dict[str, Any]]:
        """The tasks of a job with these settings."""
        return json.loads(self._engine.eval(f"compiled({json.dumps(settings)})"))


def test_the_job_type_declares_settings_that_flamenco_knows():
    settings = Flamenco().settings
    assert settings
    for setting in settings:
        assert set(setting) <= SETTING
        assert setting["type"] in {"string", "int32", "float", "bool"}
        assert setting.get("subtype", "file_path") in {"file_path", "dir_path", "hashed_file_path"}
        assert setting.get("visible", "visible") in {"visible", "hidden", "submission", "web"}


def test_the_job_type_bakes_every_shot_of_a_list_and_runs_again(shots, tmp_path):
    out = str(tmp_path / "out")
    flamenco = Flamenco()
    given = {"shot_folder": f"{shots}/", "shot_list": str(shots / "shots.txt"), "output_folder": out, "chunk_size": 2}
    tasks = flamenco.tasks(flamenco.submitted(**given, command=PROGRAM))
    assert [(task["name"], task["type"]) for task in tasks] == [("bake-1-2", "blender"), ("bake-3-3", "blender")]
    assert [[command["name"] for command in task["commands"]] for task in tasks] == [["exec"], ["exec"]]
    commands = [task["commands"][0]["parameters"] for task in tasks]
    for skipped in (0, 3):
        done = [run(command["exe"], *command["args"]) for command in commands]
        assert [process.returncode for process in done] == [0, 0], done
        assert sum(process.stdout.count('"skipped": true') for process in done) == skipped
    assert written(Path(out)) == SHOTS


def test_the_job_type_starts_the_blender_that_flamenco_is_set_up_with(shots, addon):
    flamenco = Flamenco()
    given = {"shot_folder": "/shots", "shot_list": str(shots / "shots.txt"), "output_folder": "/baked"}
    (task,) = flamenco.tasks(flamenco.submitted(**given))
    (command,) = task["commands"]
    assert command["parameters"]["exe"] == "{blender}"
    args = command["parameters"]["args"]
    assert args[:2] == ["--command", "planar_ik"]
    given_by_default = parsed(args[2:])
    assert given_by_default["inputs"] == [Path(f"/shots/{name}") for name in SHOTS]
    assert (given_by_default["output"], given_by_default["relative_to"]) == ("/baked", Path("/shots"))
    assert (given_by_default["strict"], given_by_default["range"]) == (True, "scene")
    options = {re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower(): value for name, value in OPTIONS.items()}
    options = {name: {"yes": True, "no": False}.get(value, value) for name, value in options.items()}
    (task,) = flamenco.tasks(flamenco.submitted(**given, **options))
    assert_options(parsed(task["commands"][0]["parameters"]["args"][2:]))


@pytest.mark.parametrize(
    ("wrong", "sentence"), [({"shots": "\n"}, "There is no shot in"), ({"chunk_size": 0}, "must be 1 or more")]
)
def test_the_job_type_refuses_with_a_sentence(shots, wrong, sentence):
    flamenco = Flamenco()
    given = {"shot_folder": "/shots", "shot_list": str(shots / "shots.txt"), "output_folder": "/baked"}
    with pytest.raises(quickjs.JSException, match=sentence):
        flamenco.tasks(flamenco.submitted(**given) | wrong)
