"""What is said of a field or button under the mouse."""

TOOLTIPS = {
    "0 = FK, 1 = IK: share of the solution in the bones' own pose": "0 = FK，1 = IK：解在骨骼自身姿态中所占的比例",
    "A copy of the rig's action; the rig uses it from then on": "绑定动作的副本；此后绑定使用它",
    "A limit of the knee, the influence or rounding keeps the tip away": "膝部的限制、影响值或舍入误差使末端无法到达",
    "All chains of the scene": "场景中的所有链",
    "Bend the selected chains to the other side": "使选中的链向另一侧弯曲",
    (
        "Bend the selected chains towards their poles; where there is none, one is made where the knee "
        "points, so that the limb stays where it is"
    ): "使选中的链朝各自的极点弯曲；没有极点时会在膝部所指处创建一个，肢体保持不动",
    "Bone of the pole's armature that the knee points to": "极点骨架中膝部所指的骨骼",
    "Bone of the target armature that the tip goes to": "目标骨架中末端要到达的骨骼",
    "Choose what the selected chains follow, from a list of the bones and objects that there are": "从现有的骨骼和物体列表中选择选中的链所跟随的对象",
    "Control bones of the rig that go along with its topmost bone": "随绑定的最上层骨骼移动的控制骨",
    "Control bones of the rig that hang on nothing": "绑定中没有父级的控制骨",
    "Distance from tip to target": "末端到目标的距离",
    "Do it on every frame of a range, with keys": "在帧范围的每一帧上执行，并插入关键帧",
    (
        "Draw bend plane, reach, limits and the other solution of selected chains, and of chains whose "
        "target is selected"
    ): "绘制选中的链、以及目标被选中的链的弯曲平面、可及范围、限制和另一个解",
    "Empties in the active collection": "活动集合中的空物体",
    "FK from IK, and IK from FK": "由 IK 到 FK，由 FK 到 IK",
    "First frame, if the range is given": "给定范围时的第一帧",
    "First frame; the scene's if none is given": "第一帧；未给出时为场景的第一帧",
    "Frames from one key to the next": "相邻关键帧之间的帧数",
    "Frames from one key to the next; 0.5 bakes half frames too": "相邻关键帧之间的帧数；0.5 也烘焙半帧",
    "Free, soft near full reach; folds as far as a calf lets it": "自由，接近伸直时柔和；弯曲到小腿所能及的程度",
    "Free, soft near full reach; stops short of straight": "自由，接近伸直时柔和；不会完全伸直",
    "From the first to the last key of the rig and its targets": "从绑定及其目标的第一个关键帧到最后一个",
    "Give the bones on the other side the chains of the selected ones, with mirrored targets and poles": "把选中的链连同镜像的目标和极点赋予另一侧的骨骼",
    "Go on with the target selected, ready to move": "随后选中目标，以便移动",
    "Hinge on a rig that lies in one plane; Pole with a pole, or if the limb is twisted; else Free": (
        "绑定处于同一平面时为铰链；有极点或肢体扭转时为极点；否则为自由"
    ),
    "Hinge, for legs whose coxa turns to the target; hardly soft, always well bent": "铰链，用于基节转向目标的腿；几乎不柔和，始终保持弯曲",
    "Hinge, without softness or limits: goes where it is told": "铰链，无柔和与限制：指向哪里就到哪里",
    "How far a limb may move for its constraint to go, in its lengths and in the axes of its bones": "去除约束时肢体允许的变化，以其长度及骨骼的轴计",
    "How far knee and tip may be off for the sake of fewer keys; 0 for a key on every frame": "为减少关键帧，膝部和末端允许的偏差；0 表示每帧一个关键帧",
    "How far the bones lengthen past reach": "超出可及范围时骨骼伸长的程度",
    (
        "Make the active bone and its parent as long as to the next joints. Their heads and axes stay, and "
        "with them pose and skin"
    ): "使活动骨骼及其父级的长度到达下一个关节；头部和轴保持不变，姿态和蒙皮也随之不变",
    "Largest factor by which the bones lengthen": "骨骼伸长的最大倍数",
    "Largest inner angle of the knee": "膝部的最大内角",
    "Last frame, if the range is given": "给定范围时的最后一帧",
    "Last frame; the scene's if none is given": "最后一帧；未给出时为场景的最后一帧",
    "Leave the chains on; the keys are then the pose at influence 0, without the stretch": "保留链；关键帧即为影响为 0 时的姿态，不含拉伸",
    "Let the extension pose the selected limbs, and take away what ran on the rig": "由扩展摆出选中肢体的姿态，并移除绑定上的机构",
    (
        "Let the rig's own bones, constraints and drivers pose the selected limbs: without the extension, "
        "and with their own channels free"
    ): "由绑定自身的骨骼、约束和驱动器摆出选中肢体的姿态：无需扩展，且肢体自身的通道保持自由",
    "Make the solved pose of the selected chains the bones' own (FK) pose": "使选中链的解成为骨骼自身的（FK）姿态",
    "Make what poses the selected limbs on the rig anew, as their chains are set now": "按链当前的设置，重新创建绑定上摆出选中肢体姿态的机构",
    (
        "Move target and pole of the selected chains, and set bend side, hinge and twist, so that the "
        "solution (IK) is the bones' own (FK) pose"
    ): "移动选中链的目标和极点，并设置弯曲方向、铰链和扭转，使解（IK）等于骨骼自身的（FK）姿态",
    "Name of a bone of the pole object": "极点物体的骨骼名称",
    "Name of a bone of the target": "目标的骨骼名称",
    "Name of the chain's armature; empty for the active chain": "链所在骨架的名称；留空为活动链",
    "Name of the chain's lower bone": "链的下骨名称",
    "File that the armature is linked from, if it is": "骨架所链接自的文件(如有)",
    "Name of the pole object; empty for a new empty": "极点物体的名称；留空则新建空物体",
    "Name of the target object; empty for the selected one or a new empty": "目标物体的名称；留空则用选中的物体或新建空物体",
    "Object that the knee points to": "膝部所指的物体",
    "Object that the tip goes to; an armature's bone is named below": "末端要到达的物体；骨架的骨骼在下方指定",
    "Only the length changes": "只改变长度",
    "Part of the limb's length over which it eases into full extension": "肢体平缓地完全伸直所经过的长度比例",
    "Pose all chains whenever the frame changes or something is edited": "帧改变或有编辑时摆出所有链的姿态",
    (
        "Pose the selected bone and its parent so that its tail follows a target: the other selected object or "
        "bone, or a new empty. Without one of your own the limb stays where it is; else its tip goes there"
    ): "使选中的骨骼及其父级的尾端跟随目标：另一个选中的物体或骨骼，或新建的空物体。没有自己的目标时肢体保持不动；否则其末端移到目标处",
    "Pose the selected chains once, for when Live is off": "解算选中的链一次，用于“实时”关闭时",
    "Pose this bone and its parent so that this bone's tail goes to the target": "摆出此骨骼及其父级的姿态，使其尾端到达目标",
    "Put a chain on every selected limb": "为每个选中的肢体添加链",
    "Save the settings of the active chain as a preset, or remove one": "把活动链的设置保存为预设，或删除预设",
    "Select this limb": "选择此肢体",
    "Select this part of the chain and make it active, in the mode in which it can be moved": "选择链的此部件并使其成为活动项，切换到可移动它的模式",
    "Set plane, softness and knee limits of the selected chains as this kind of limb wants them": "按此类肢体的需要设置选中链的平面、柔和度和膝部限制",
    (
        "Side of the line from root to target on which the knee lies: 1 as at rest or towards the pole, -1 "
        "the mirror image; between them the knee swings round the line"
    ): "膝部位于根到目标连线的哪一侧：1 与静置时相同或朝向极点，-1 为其镜像；两者之间膝部绕该线摆动",
    "Smallest inner angle of the knee": "膝部的最小内角",
    (
        "Switch the selected chains between FK and IK without moving the limb: FK takes the solution over, "
        "or target and pole go to where the limb is. With Auto Keying, keys are set that hold the old state "
        "up to this frame"
    ): (
        "在 FK 与 IK 之间切换选中的链而不移动肢体：FK 接管解，或目标和极点移到肢体所在处。开启自动插帧时，会"
        "插入保持旧状态到此帧的关键帧"
    ),
    "Take away what keeps the selected chains from being posed": "消除使选中的链无法解算的原因",
    "Take the active bone and its parent, also if they do not look like a limb": "使用活动骨骼及其父级，即使它们不像肢体",
    "Take the chains off the selected bones and give them their own pose back. Constraints that Convert replaced do not come back: undo for that": "从选中的骨骼移除链，并恢复其自身的姿态。被“转换”替换的约束不会恢复：如需请撤销",
    "The action of the rig; keys outside the range and on other channels stay": "绑定的动作；范围外和其他通道上的关键帧保留",
    "The bones get thinner and keep their volume": "骨骼变细并保持体积",
    "The bones' own pose": "骨骼自身的姿态",
    "The chain can't be posed; its message says why": "链无法解算；原因见其消息",
    "The extension poses the chain whenever something moves": "有东西移动时由扩展解算链",
    "The extension: nothing is added to the rig": "扩展：不向绑定添加任何内容",
    "The kind of limb": "肢体的种类",
    "The lower bone": "下骨",
    "The object or bone to follow": "要跟随的物体或骨骼",
    "The plane of the limb at rest, swung the shortest way to where the target is": "肢体静置时的平面，以最短路径摆向目标",
    "The plane of the limb at rest; a target beside it is projected onto it": "肢体静置时的平面；平面外的目标会投影到其上",
    "The plane that the limb bends in": "肢体弯曲所在的平面",
    "The plane through root, target and pole": "经过根、目标和极点的平面",
    "The range given below": "下面给出的范围",
    "The rig's own bones, constraints and drivers pose the chain, extension or not": "由绑定自身的骨骼、约束和驱动器解算链，无论有无扩展",
    "The rig's own bones, constraints and drivers, which leave the limb's own channels free": "绑定自身的骨骼、约束和驱动器，肢体自身的通道保持自由",
    "The scene's frame range": "场景的帧范围",
    "The scene's preview range": "场景的预览范围",
    "The target": "目标",
    "The target is beside the plane that the hinge bends in": "目标不在铰链弯曲的平面内",
    "The target is farther than the limb is long": "目标距离超过肢体长度",
    "The target is nearer than the limb folds": "目标距离小于肢体折叠后的长度",
    "The tip is on the target": "末端在目标上",
    "The width changes with the length": "宽度随长度改变",
    "Those of all bones of the armature": "骨架中所有骨骼的",
    "Those of the selected bones": "选中骨骼的",
    "Those of the selected bones and of their children": "选中骨骼及其子级的",
    "Turn IK constraints of two bones into chains, without moving the limbs": "把两根骨骼的 IK 约束转换为链，肢体不移动",
    "Turn of the axis that the limb bends about, round the upper bone at rest": "肢体弯曲的轴绕静置上骨的转角",
    "Turn of the knee off the pole, about the line from root to target": "膝绕根部至目标的连线偏离极点的转角",
    "Turn of the lower bone about its own length, besides what bends the limb": "除肢体弯曲外，下骨绕自身长轴的转角",
    "Turn the bone below the limb, a foot or a hand, as the target is turned; in FK it is free to be posed": "使肢体下方的骨骼（脚或手）随目标旋转；在 FK 中可自由摆放",
    "Turn the knees or elbows of all limbs added to the other side": "把所有新加肢体的膝或肘转到另一侧",
    "Turn what the chains do into keys on their bones. Esc cancels and leaves everything as it was": "把链的结果变为骨骼上的关键帧。按 Esc 取消，一切保持原样",
    "What becomes of the bones' width while they lengthen": "骨骼伸长时宽度如何变化",
    "What is made where no target or pole is selected": "未选择目标或极点时创建什么",
    "What poses the chain": "由什么解算链",
    "What poses the limb": "由什么摆出肢体的姿态",
    "What the knee points to": "膝部所指的对象",
    "What the tip goes to": "末端要到达的对象",
    "What to do": "要做什么",
    "What to pick": "要选取什么",
    "What to select": "要选择什么",
    "Where the keys go": "关键帧写到哪里",
    "Whether the tip came to the target": "末端是否到达目标",
    "Which chains to bake": "烘焙哪些链",
    "Which constraints to convert": "转换哪些约束",
    "Which frames to bake": "烘焙哪些帧",
    "Which of the two to switch to": "切换到哪一种",
    "Why the chain can't be posed": "链无法解算的原因",
    "{what}. On every frame of a range, which a dialog asks for, with keys": "{what}。在对话框所询问的帧范围的每一帧上执行，并插入关键帧",
}
