"""What is said when something was done, can't be done, or is wrong.

Sentences of the rooms below, which are composed there in English, are found by what they are made of: names that end up
in braces stand for anything, and `translations.OURS` among them for a sentence or words of ours, translated too.
"""

SENTENCES = {
    (
        "The bones of '{rig}' are {times} times as long as from joint to joint: scale them all in Edit Mode by {factor} "
        "about Individual Origins, or import the glTF file with Temperance for Bone Dir"
    ): "'{rig}' 的骨骼长度是关节间距的 {times} 倍：请在编辑模式下以各自的原点为轴心把它们全部缩放 {factor} 倍，或重新导入 glTF 文件并把骨骼方向设为 Temperance",
    (
        "The bones of '{rig}' do not point at the next joints: import the file again with Automatic Bone Orientation (in "
        "the older FBX importer), Fortune for Bone Dir (glTF) or Auto Connect (COLLADA)"
    ): "'{rig}' 的骨骼没有指向下一个关节：请重新导入文件，FBX 用旧版导入器并勾选 Automatic Bone Orientation，glTF 把骨骼方向设为 Fortune，COLLADA 勾选 Auto Connect",
    (
        "'{bone}' and its parent '{parent}' are no limb: select the lower of two bones that meet, like a "
        "shin or a forearm"
    ): "'{bone}' 与其父级 '{parent}' 不是肢体：请选择相接的两根骨骼中的下骨，例如小腿或前臂",
    (
        "'{upper}' and '{lower}' do not end at the next joints: press End Bones at Joints in the sidebar's Item tab"
    ): "'{upper}' 和 '{lower}' 没有止于下一个关节：请在侧栏的“条目”选项卡中点击“骨骼止于关节”",
    "Click a bone that begins straight ahead of its parent, but not where that ends": "请点击位于父级正前方、但不从父级末端开始的骨骼",
    "'{rig}' is linked: let its bones end at joints in the file that it is linked from": "'{rig}' 是链接的：请在其来源文件中让骨骼止于关节",
    "'{bone}' has Inherit Scale {setting}, which bends a limb that stretches: {way}": "'{bone}' 的继承缩放为{setting}，会使拉伸的肢体弯折：{way}",
    "'{bone}' has a chain already: remove it first, or select another bone": "'{bone}' 已经有链：请先移除，或选择另一根骨骼",
    "'{bone}' has no IK constraint": "'{bone}' 没有 IK 约束",
    "'{bone}' has no parent: a chain is a bone and its parent": "'{bone}' 没有父级：链由一根骨骼及其父级组成",
    "'{bone}' has no parent: select the lower of two bones that meet, like a shin or a forearm": "'{bone}' 没有父级：请选择相接的两根骨骼中的下骨，例如小腿或前臂",
    "'{bone}' has no parent: select the lower of two bones, like a shin or a forearm": "'{bone}' 没有父级：请选择两根骨骼中的下骨，例如小腿或前臂",
    "'{bone}' has no pole target": "'{bone}' 没有极向目标",
    "'{bone}' has no side in its name: name it like '{left}' or '{right}'": "'{bone}' 的名称没有左右之分：请命名为 '{left}' 或 '{right}' 之类",
    "'{bone}' has no target": "'{bone}' 没有目标",
    "'{bone}' has no {part}": "'{bone}' 没有{part}",
    "'{bone}' has several IK constraints: leave one, or one with a pole and one without": "'{bone}' 有多个 IK 约束：请只留一个，或一个有极向目标、一个没有",
    "'{bone}' is also in the chain of '{other}'": "'{bone}' 也在 '{other}' 的链中",
    "'{bone}' hangs on '{other}', which is hidden and moved by the rig itself: select another limb": "'{bone}' 依附于 '{other}'，后者被隐藏且由绑定自身移动：请选择另一条肢体",
    "'{bone}' is moved by the rig itself: click '{other}', which the rig has for posing by hand": "'{bone}' 由绑定自身移动：请点击 '{other}'，它供手动摆姿态之用",
    "'{bone}' is not the lower bone of a limb: click '{lower}', which bends with '{upper}'": "'{bone}' 不是肢体的下骨：请点击与 '{upper}' 一起弯曲的 '{lower}'",
    "'{bone}' is posed out of its rest plane: choose Pole, or clear its pose first": "'{bone}' 的姿态偏离静置平面：请选择极点，或先清空其姿态",
    "'{bone}' is posed out of its rest plane: set its plane to Pole, then snap": "'{bone}' 的姿态偏离静置平面：请把平面设为极点，再吸附",
    "On the rig, bones of '{rig}' can't follow its origin: pick one of its bones": "在绑定上，'{rig}' 的骨骼无法跟随其原点：请选择其中一根骨骼",
    "'{bone}', or what carries it, is scaled to nothing: set its scale to more than 0": "'{bone}' 或承载它的父级缩放为零：请将其缩放设为大于 0",
    "'{bone}' is scaled unevenly and '{lower}' inherits it: set Inherit Scale of '{other}' to Aligned": "'{bone}' 缩放不均匀且 '{lower}' 继承它：请把 '{other}' 的继承缩放设为对齐",
    "'{bone}' is the lower bone of another chain": "'{bone}' 是另一条链的下骨",
    "'{bone}' is not where its settings put it: {way}": "'{bone}' 不在其设置所定的位置：{way}",
    "'{bone}' lost its {part} and follows '{name}' still: {way}": "'{bone}' 丢失了{part}，但仍跟随 '{name}'：{way}",
    "'{bone}' or its chain was changed since it was put on the rig": "'{bone}' 或其链在转到绑定上运行之后被更改",
    "The location of '{bone}' was changed since '{other}' was put on the rig": "'{bone}' 的位置在 '{other}' 转到绑定上运行之后被更改",
    "'{name}' is disabled in viewports or excluded, and so is not posed: enable it, and hide it by its eye": "'{name}' 在视图中被禁用或被排除，因此不会解算：请启用它，并用眼睛图标隐藏",
    "{setting} of '{bone}' was animated since it was put on the rig": "'{bone}' 的{setting}在转到绑定上运行之后被添加了动画",
    "The knee of '{bone}' does not swing yet, as it does with a bend between 1 and -1": "'{bone}' 的膝部尚不会像弯曲方向在 1 与 -1 之间时那样摆动",
    "'{bone}' has another target or pole than when it was put on the rig": "'{bone}' 的目标或极点与转到绑定上运行时不同",
    "{why}, so {way}": "{why}，{way}",
    "'{bone}' points away from '{lower}', so that it can't just get longer: {way}": "'{bone}' 背向 '{lower}'，因此不能只是变长：{way}",
    "'{bone}' takes over an uneven scale axis by axis: let it inherit scale in full": "'{bone}' 逐轴继承不均匀的缩放：请让它完整继承缩放",
    "'{bone}' turns by {angle}° about its length: the plane Pole would keep it as it is": "'{bone}' 绕其长轴转动 {angle}°：平面选择“极点”可保持原样",
    "'{bone}' turns by {angle}° as its limb is switched: see what else turns it": "'{bone}' 在切换肢体时转动 {angle}°：请查看还有什么使其转动",
    "'{bone}' turns by {angle}° to the rotation of its target": "'{bone}' 转动 {angle}° 以符合目标的旋转",
    "'{bone}' was not baked. {why}": "'{bone}' 未烘焙。{why}",
    "'{bone}', {what}, is posed by the chain of '{other}': snap that one instead": "'{bone}'（{what}）由 '{other}' 的链解算：请改为吸附那一条",
    "'{bone}' is converted, but {what}": "'{bone}' 已转换，但{what}",
    "'{carrier}' carries the limb of '{bone}': have it follow something else, then snap": "'{carrier}' 带动 '{bone}' 的肢体：请让它跟随其他对象，然后吸附",
    "'{name}' has no bone '{bone}'": "'{name}' 没有骨骼 '{bone}'",
    "'{name}' is disabled in viewports, and so stands still: enable it to bake it": "'{name}' 在视图中被禁用，因此静止不动：请启用后再烘焙",
    "'{name}' is hidden: show it first": "'{name}' 已隐藏：请先显示",
    "'{name}' is in no scene, or was deleted: choose something else to follow": "'{name}' 不在任何场景中，或已被删除：请选择其他跟随对象",
    "'{name}' is in tweak mode: leave it in the NLA editor first": "'{name}' 处于调整模式：请先在非线性动画编辑器中退出",
    "'{name}' is linked from another file: make a library override of it first": "'{name}' 关联自另一个文件：请先为其创建库重写",
    "'{name}' is linked: {what} in the file that it is linked from": "'{name}' 是关联的：请在其来源文件中{what}",
    (
        "'{name}' of '{rig}' is connected to a bone that gets longer, and a game gets no scale: disconnect it in the "
        "file that the rig is linked from"
    ): "'{rig}' 的 '{name}' 与会变长的骨骼相连，而游戏不接受缩放：请在被链接的文件中断开它",
    "'{name}' shows its rest position: set its armature to Pose Position": "'{name}' 显示的是静置位置：请把骨架设为姿态位置",
    "; {kept} of {keys}, at most {error} off": "；{keys}中的 {kept} 个，偏差最多 {error}",
    "A driver or NLA strip would switch the chain of '{bone}' on again: remove that first": "驱动器或 NLA 片段会再次打开 '{bone}' 的链：请先移除它",
    "A fault of Planar IK, please report it: {error}": "平面 IK 出错，请报告：{error}",
    "Action '{name}' is linked from another file: bake into a new action": "动作 '{name}' 关联自另一个文件：请烘焙到新动作",
    "An NLA track of '{name}' plays solo, and its action not at all: end the solo first": "'{name}' 的一条 NLA 轨道处于孤立状态，其动作不播放：请先取消孤立",
    (
        "Baked {frames} of {chains} in {seconds} s; {unreached} unreached, tips at most {away} from their targets"
    ): "用 {seconds} 秒烘焙了{chains}的{frames}；{unreached}未到达，末端距目标最多 {away}",
    "Baking Planar IK: {share}   Esc: Cancel": "正在烘焙平面 IK：{share}   Esc：取消",
    "Blender does not take the expression {expression}": "Blender 不接受表达式 {expression}",
    "Bone '{bone}'": "骨骼 '{bone}'",
    "Bones or constraints that pose '{bone}' are gone, changed or another's: {way}": "控制 '{bone}' 姿态的骨骼或约束已丢失、被改动，或属于别的肢体：{way}",
    "Cancelled: nothing was baked": "已取消：未烘焙任何内容",
    "Constraint '{name}' moves '{bone}' after the chain: mute or remove it": "约束 '{name}' 在链之后移动 '{bone}'：请屏蔽或移除它",
    "Constraint '{name}' of '{owner}' moves '{bone}' too: mute or remove it": "'{owner}' 的约束 '{name}' 也移动 '{bone}'：请屏蔽或移除它",
    "Constraints that pose '{bone}' are muted: un-mute them": "控制 '{bone}' 姿态的约束被屏蔽：请取消屏蔽",
    "Converted {count} of {all} limbs": "已转换 {count} / {all} 个肢体",
    "Even muted, constraint '{name}' of '{owner}' keeps Blender from posing '{lower}' on the rig: remove it, or run on the "
    "extension": "即使已屏蔽，'{owner}' 的约束 '{name}' 仍使 Blender 无法在绑定上驱动 '{lower}'：请移除它，或在扩展上运行",
    "Fewer keys can only be measured with the chains switched off: set the tolerance to 0": "只有关闭链才能减少关键帧：请把容差设为 0",
    "Fix Shear": "修复切变",
    "For games, chains are removed and every frame is keyed: leave out keep and tolerance": "用于游戏时，链会被移除且每帧都有关键帧：请去掉“保留”和“容差”",
    "Full, without rotation": "完整（不含旋转）",
    "Go to Pose Mode and select a bone with a chain": "请进入姿态模式并选择有链的骨骼",
    "Go to Pose Mode and select a bone with a chain, or select the target or pole of one": "请进入姿态模式并选择有链的骨骼，或选择链的目标或极点",
    "Go to Pose Mode and select the lower bone of a limb": "请进入姿态模式并选择肢体的下骨",
    "Go to Pose Mode or Object Mode": "请进入姿态模式或物体模式",
    "Go to Pose Mode, or to Object Mode": "请进入姿态模式或物体模式",
    "IK constraint '{name}' of '{bone}'": "'{bone}' 的 IK 约束 '{name}'",
    "Influence of '{bone}' is driven by '{path}' of '{owner}': set that": "'{bone}' 的影响由 '{owner}' 的 '{path}' 驱动：请设置它",
    "Influence of '{bone}' is driven: remove its driver": "'{bone}' 的影响受驱动：请移除其驱动器",
    "Inherit Rotation off": "关闭继承旋转",
    "Inherit Scale set to {mode}": "继承缩放设为 {mode}",
    "Its knee limits keep '{bone}' from its pose: set Min and Max Knee Angle, and snap again": (
        "膝部限制使 '{bone}' 无法保持其姿势：请设置最小和最大膝角，然后重新吸附"
    ),
    "Left alone. {why}": "未改动。{why}",
    "Name the object that bone '{bone}' belongs to as well": "请同时指定骨骼 '{bone}' 所属的物体",
    "Neither the rig nor its targets have an action: bake the scene's range, or give a range": "绑定及其目标都没有动作：请烘焙场景的范围，或给出范围",
    "No bone begins at the tip of '{bone}', to keep the target's rotation": "'{bone}' 的末端没有骨骼可保持目标的旋转",
    "No bone of this armature has an IK constraint to convert": "此骨架没有带可转换 IK 约束的骨骼",
    "No bones can be added to '{rig}', which is linked: make empties instead": "'{rig}' 是关联的，无法添加骨骼：请改用空物体",
    "No chain is on in any frame": "任何帧都没有打开的链",
    "Of the two IK constraints of '{bone}' nothing switches one off: leave one": "'{bone}' 的两个 IK 约束没有可关闭其一的开关：请只留一个",
    "Pick an object or a bone to follow": "请选取要跟随的物体或骨骼",
    "Runs on the extension: {why}": "在扩展上运行：{why}",
    (
        "Select a bone with a chain, the lower bone of a limb, like a shin or a forearm, or what the chain follows"
    ): "请选择有链的骨骼（肢体的下骨，例如小腿或前臂），或链所跟随的对象",
    "Select a target and a pole at most besides the lower bone": "除下骨外最多选择一个目标和一个极点",
    "Select an armature, in Pose Mode or Object Mode": "请在姿态模式或物体模式下选择骨架",
    "Select one lower bone and a target, or several lower bones and no target": "请选择一根下骨和一个目标，或多根下骨而不选目标",
    "Select the lower bone of a limb": "请选择肢体的下骨",
    "'{bone}' is stretched, and keys on its scale need the extension: let the limb run on that": "'{bone}' 被拉伸，其缩放的关键帧需要扩展：请让肢体由扩展运行",
    "'{bone}' is longer than at rest and the limb is bent: clear its scale, then snap": "'{bone}' 比静置时长，且肢体弯曲：请清除其缩放，再吸附",
    "'{bone}' has no mirror image '{name}': in Edit Mode, Symmetrize it first": "'{bone}' 没有镜像 '{name}'：请先在编辑模式下对称化它",
    "The chain of '{bone}' is switched off": "'{bone}' 的链已关闭",
    "Something else moves '{name}': mute its constraints and drivers, snap again": "'{name}' 还被别的东西移动：请屏蔽其约束和驱动器，再次吸附",
    "Stretching '{bone}' of '{name}' on the rig changes what the bones of '{other}' inherit": "在绑定上拉伸 '{name}' 的 '{bone}' 会改变 '{other}' 的骨骼所继承的缩放",
    "The action of '{name}' is mixed into its NLA strips: set it to Replace, influence 1": "'{name}' 的动作与其 NLA 片段混合：请设为替换、影响 1",
    "The chain has not been posed yet": "链尚未解算",
    "The chain is not enabled": "链未启用",
    "The chain of '{bone}' runs on the rig already": "'{bone}' 的链已在绑定上运行",
    "The chain was not posed since something moved, as Live is off: switch it on, or press Solve Once": "“实时”已关闭，有东西移动后链未解算：请打开“实时”，或按“解算一次”",
    (
        "The chain would move '{bone}' by {moved} of its length, as the constraint changes the length of one "
        "of its bones more than of the other: bring it to rest, or set Most Change to more"
    ): ("链会使 '{bone}' 移动其长度的 {moved}，因为约束对两根骨骼长度的改变不一致：请恢复静置，或增大“最大变化”"),
    "The chain would move '{bone}' by {moved} of its length: set Most Change to more": "链会使 '{bone}' 移动其长度的 {moved}：请增大“最大变化”",
    (
        "The influence of '{bone}' is between 0 and 1, so that the chain, kept on, would pose the baked keys "
        "once more: switch it off, or set its influence to 0 or 1"
    ): "'{bone}' 的影响在 0 与 1 之间，保留的链会再次作用于烘焙的关键帧：请关闭它，或把影响设为 0 或 1",
    "The limb is not where its chain put it: something else moves it, or its target, after the chain": "肢体不在链所放的位置：它或其目标在链之后又被移动",
    "The limbs of '{one}' and '{other}' would share a bone: select one of the two": "'{one}' 与 '{other}' 的肢体会共用一根骨骼：请选择其一",
    "The place of the target, or of what carries the limb, is not a number: set it to one": "目标或肢体的父级的位置不是有效数值：请改为有效数值",
    "The pose of '{bone}' is not a number: clear its transforms and its parents'": "'{bone}' 的姿态不是有效数值：请清除它及其父级的变换",
    "The range ends at frame {end}, before it starts at {start}": "范围结束于第 {end} 帧，早于开始的第 {start} 帧",
    "The rotation mode of '{bone}' is animated: remove its keys first": "'{bone}' 的旋转模式有动画：请先移除其关键帧",
    "The rotation of '{bone}' is driven: remove the driver": "'{bone}' 的旋转被驱动：请移除驱动器",
    "The scale of '{bone}' in '{name}' is left out: games get it at 1": "'{name}' 中 '{bone}' 的缩放被忽略：游戏中为 1",
    "The scale of '{bone}' is driven, so that it can't stretch: remove the driver": "'{bone}' 的缩放被驱动，因此不能拉伸：请移除驱动器",
    "The scene has no preview range: set one, or bake the scene's range": "场景没有预览范围：请设置，或烘焙场景的范围",
    "The selected chains run on the extension": "选中的链在扩展上运行",
    "The selected chains run on the rig already": "选中的链已在绑定上运行",
    "The step is not above zero: give 1 for every frame, 0.5 for every half frame": "步长不大于零：1 为每帧，0.5 为每半帧",
    "The two IK constraints of '{bone}' follow different targets": "'{bone}' 的两个 IK 约束跟随不同的目标",
    "There is no IK constraint on these bones: select one that has, or choose All": "这些骨骼没有 IK 约束：请选择有约束的骨骼，或选择全部",
    "There is no bone '{bone}' on the other side of '{other}'": "'{other}' 的另一侧没有骨骼 '{bone}'",
    "There is no chain to bake: add one with Pose > Inverse Kinematics > Add Planar IK": "没有可烘焙的链：请通过 姿态 > 反向运动学 > 添加平面 IK 添加",
    "There is no object '{name}'": "没有物体 '{name}'",
    "The limb is '{upper}' and '{lower}': what is above or below it was left out, {bones}": "肢体是 '{upper}' 和 '{lower}'：其上方或下方的骨骼未被采用：{bones}",
    (
        "The rig itself switches '{bone}' between FK and IK, by '{slider}' of '{owner}': use that, and snap "
        "with the rig's own buttons"
    ): "绑定自身通过 '{owner}' 的 '{slider}' 让 '{bone}' 在 FK 与 IK 之间切换：请使用它，并用绑定自己的按钮吸附",
    (
        "The target of '{bone}' is beside the plane of its hinge: move it there, or set the plane to Free"
    ): "'{bone}' 的目标不在其铰链的平面内：请将目标移到该平面内，或将平面设为“自由”",
    (
        "The scale of '{bone}' mirrors it, which no limb on the rig keeps: make it positive, or stay on the extension"
    ): "'{bone}' 的缩放使其镜像，而绑定上的肢体都无法保持这一点：请将其设为正值，或留在扩展上运行",
    "There is no {part} to select": "没有可选择的{part}",
    "This chain and that of {whose} move each other's targets: let one follow something else": "此链与 {whose} 的链互相移动对方的目标：请让其中之一跟随别的对象",
    (
        "What carries '{bone}' is scaled unevenly, so that on the rig it can't just get longer: "
        "set Stretch Volume to Uniform, or stay on the extension"
    ): "'{bone}' 的父级缩放不均匀，因此在绑定上运行时不能只是变长：请把拉伸体积设为均匀，或留在扩展上运行",
    "What carries '{bone}' is scaled unevenly, and '{lower}' has {setting}: let it inherit in full": "'{bone}' 的父级缩放不均匀，而 '{lower}' {setting}：请让它完整继承",
    (
        "'{bone}' hangs on the limb of '{other}', which stretches unevenly too: on the rig, set Stretch "
        "Volume of one of them to Uniform, or stay on the extension"
    ): "'{bone}' 位于 '{other}' 的肢体之下，而后者也不均匀地拉伸：要在绑定上运行，请把其中之一的拉伸体积设为均匀，或留在扩展上运行",
    (
        "'{bone}' would be sheared by the scale that it inherits, and is linked: set Stretch Volume to "
        "Uniform, or Inherit Scale to Aligned in the file that the rig is linked from"
    ): ("'{bone}' 会因继承的缩放而切变且是关联的：请把拉伸体积设为均匀，或在绑定的来源文件中把继承缩放设为对齐"),
    "between 0 and 1 its influence blends the bones' rotations, and no longer the target's place": "影响在 0 与 1 之间时混合骨骼的旋转，而不再是目标的位置",
    "bring its chains back": "取回其链",
    "take away what its chains left": "移除其链留下的部分",
    "give it an armature of its own (Make Single User), or let its chain run on the extension": "请给它单独的骨架（使其独立化），或让其链在扩展上运行",
    "its knee bends in the limb's plane now, off which IK locks held it by {angle}°": "其膝部现在在肢体平面内弯曲，而 IK 锁定曾使其偏离 {angle}°",
    "its knee points at '{name}' now, and does not turn with the target": "其膝部现在指向 '{name}'，不再随目标转动",
    "make its chains portable": "让其链在绑定上运行",
    "pole": "极点",
    "rebuild it in the file that its rig is linked from": "请在其绑定的来源文件中重建",
    "press Rebuild on the Rig (pose.planar_ik_rebuild)": "请按“在绑定上重建”（pose.planar_ik_rebuild）",
    "rebuild its chains": "重建其链",
    "set Stretch Volume to Uniform": "请把拉伸体积设为均匀",
    "set it to Aligned, or Stretch Volume to Uniform": "请设为对齐，或把拉伸体积设为均匀",
    "target": "目标",
    "the IK locks of '{bone}' hold nothing any more": "'{bone}' 的 IK 锁定不再起作用",
    "what '{bone}' follows": "'{bone}' 所跟随的对象",
    "what animates its pole angle does nothing any more": "其极向角度的动画不再起作用",
    "within reach its bones keep their lengths now": "在可及范围内，其骨骼现在保持长度",
    "{count} chain": "{count} 条链",
    "{count} chains": "{count} 条链",
    "{count} frame": "{count} 帧",
    "{count} frames": "{count} 帧",
    "{count} frames are more than the {most} of one bake: give a shorter range": "{count} 帧超过一次烘焙的上限 {most}：请给出更短的范围",
    "{count} key": "{count} 个关键帧",
    "{count} keys": "{count} 个关键帧",
    "{mend}: this would not help, as nothing of the kind is in the way": "{mend}：没有此类障碍，因此无济于事",
    "{name} is animated, but disabled in renders: enable it": "{name} 有动画，但在渲染中被禁用：请启用它",
    "{name} is animated, but disabled in viewports or excluded: enable it, and hide it by its eye": "{name} 有动画，但在视图中被禁用或被排除：请启用它，并用眼睛图标隐藏",
    "{operator} over a Range": "{operator}（帧范围）",
    "{reach}: {away} from the target": "{reach}：距目标 {away}",
    "{setting} is not a number: set it to one": "{setting}不是有效数值：请改为有效数值",
    "{setting} of '{bone}' is animated by NLA strips, which act on the linked rig only": "'{bone}' 的{setting}由 NLA 片段设置动画，而它们只作用于关联的绑定",
    "{setting} of '{bone}' is driven: remove its driver, or stay on the extension": "'{bone}' 的{setting}由驱动器控制：请移除其驱动器，或留在扩展上运行",
    "{setting} of '{bone}' is animated: remove its keys first": "'{bone}' 的{setting}有动画：请先移除其关键帧",
    "{what} also turns the bone as its target is turned, which a chain does not: switch Rotation off": "{what}还使骨骼随目标旋转，而链不会：请关闭旋转",
    "{what} comes with drivers of its library, which stay: convert it in the file that it is in": (
        "{what}带有其库的驱动器，无法移除：请在其所在文件中转换"
    ),
    "{what} follows a vertex group, which a chain does not": "{what}跟随顶点组，而链不能",
    "{what} hangs on the chain of '{bone}' itself: use one that does not move with it": "{what} 自身依附于 '{bone}' 的链：请使用不随之移动的对象",
    "{what} has Use Tail off: the chain's tip is the tail of its lower bone": "{what}关闭了使用尾部：链的末端是其下骨的尾端",
    "{what} has no target": "{what}没有目标",
    "{what} has a Chain Length of {number}, and chains are of two bones: leave it as it is": (
        "{what}的链长为 {number}，而链由两根骨骼组成：请保持原样"
    ),
    "{what} keeps a distance, which a chain does not": "{what}保持距离，而链不能",
    "{what} keeps to IK limits of '{bone}': switch them off, or set Min and Max Knee Angle": "{what}受 '{bone}' 的 IK 限制：请关闭它们，或设置最小和最大膝角",
    "{what}, which has the same armature: {way}": "{what}（二者使用同一骨架）：{way}",
    "{why}: remove that chain first": "{why}：请先移除那条链",
    "{why}: remove that chain first, or select another bone": "{why}：请先移除那条链，或选择另一根骨骼",
}
