// SPDX-License-Identifier: GPL-3.0-or-later
// A job type of Flamenco 3.3 or newer: bakes the chains of many .blend files, a chunk of shots in each task. A task that
// is run again skips the shots that are done. README.md beside this file says how to install it and choose the chunk.

const JOB_TYPE = {
    label: "Planar IK Bake",
    settings: [
        { key: "shot_folder", type: "string", subtype: "dir_path", required: true,
          description: "The folder of the shots, as the workers see it" },
        { key: "shot_list", type: "string", subtype: "file_path", required: true,
          description: "A text file with the name of a .blend file on each line, as seen from the folder" },
        { key: "output_folder", type: "string", subtype: "dir_path", required: true,
          description: "Where the baked files go, in the same folders as the shots" },
        { key: "chunk_size", type: "int32", default: 20, propargs: { min: 1 }, description: "Shots in a task" },
        { key: "range", type: "string", default: "scene",
          description: "Which frames: scene, preview, action (from first to last key), or as in 1:250" },
        { key: "step", type: "float", default: 1, propargs: { min: 0.01 },
          description: "Frames from one key to the next" },
        { key: "tolerance", type: "float", default: 0, propargs: { min: 0 },
          description: "How far knee and tip may be off for the sake of fewer keys, in scene units; 0 keys every frame" },
        { key: "action", type: "string", choices: ["current", "new"], default: "current",
          description: "Where keys go: the rig's action, or a copy of it" },
        { key: "keep", type: "bool", default: false, description: "Leave the chains on" },
        { key: "purpose", type: "string", choices: ["animation", "game"], default: "animation",
          description: "For a game, whole rigs are keyed and lose their constraints and chains" },
        { key: "scene", type: "string", default: "",
          description: "The name of the scene to bake, or all; left empty, the one that is active in the file" },
        { key: "strict", type: "bool", default: true,
          description: "A shot fails whose libraries are missing, or with chains in other scenes, or drivers that stand " +
            "still without Python" },
        { key: "allow_no_chains", type: "bool", default: false,
          description: "A shot without chains is a success, and comes out as it is" },
        { key: "enable_autoexec", type: "bool", default: false,
          description: "Run the Python of the shots, which their drivers may need. Only for files that you trust" },
        { key: "max_unreached", type: "int32", default: 1000000, propargs: { min: 0 },
          description: "A shot with a chain that has more unreached frames than this fails, and with it its task" },
        { key: "max_miss", type: "float", default: 0, propargs: { min: 0 },
          description: "How far a tip may be from its target in a frame that counts as reached, in scene units" },
        { key: "command", type: "string", default: "{blender} --command planar_ik",
          description: "What runs the program on the workers; it is split at spaces" },
        // A job type can't read files, so that the list is read where the job is submitted.
        { key: "shots", type: "string", required: true, visible: "web",
          eval: "abspath(settings.shot_list).read_text(encoding='utf-8-sig')", description: "What the list holds" },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const shots = settings.shots.split(/\r?\n/).filter((name) => name.trim());
    if (shots.length === 0) {
        throw `There is no shot in ${settings.shot_list}`;
    }
    if (!(settings.chunk_size >= 1)) {
        throw "chunk_size must be 1 or more";
    }
    for (let first = 0; first < shots.length; first += settings.chunk_size) {
        const chunk = shots.slice(first, first + settings.chunk_size);
        const task = author.Task(`bake-${first + 1}-${first + chunk.length}`, "blender");
        task.addCommand(bakeCommand(settings, chunk));
        job.addTask(task);
    }
}

function bakeCommand(settings, shots) {
    const folder = settings.shot_folder.replace(/[\/\\]+$/, "");
    const [exe, ...args] = settings.command.split(" ").filter((word) => word);
    const isWhole = (name) => /^([\/\\]|[A-Za-z]:)/.test(name);
    return author.Command("exec", {
        exe: exe,
        args: args.concat(
            ["bake"],
            shots.map((name) => (isWhole(name) ? name : `${folder}/${name}`)),
            ["-o", settings.output_folder, "--relative-to", folder],
            bakeOptions(settings),
        ),
    });
}

function bakeOptions(settings) {
    const isNamed = ["scene", "preview", "action"].includes(settings.range);
    return [].concat(
        ["--step", String(settings.step), "--tolerance", String(settings.tolerance), "--action", settings.action],
        ["--max-unreached", String(settings.max_unreached), "--max-miss", String(settings.max_miss)],
        ["--skip-existing"],
        isNamed ? ["--range", settings.range] : [`--frames=${settings.range}`],
        settings.scene ? [`--scene=${settings.scene}`] : [],
        settings.purpose === "animation" ? [] : ["--for", settings.purpose],
        settings.keep ? ["--keep"] : [],
        settings.strict ? ["--strict"] : [],
        settings.allow_no_chains ? ["--allow-no-chains"] : [],
        settings.enable_autoexec ? ["--enable-autoexec"] : [],
    );
}
