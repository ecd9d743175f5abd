"""The interface in other languages, through Blender's own translations: simplified Chinese so far."""

from __future__ import annotations

from bpy.app import translations

PLAIN, OPERATOR = "*", "Operator"
"""Blender's contexts: of most that is read, and of what operators are called."""

ZH_HANS = {
    PLAIN: {
        "Add Planar IK": "添加平面 IK",
        "All": "全部",
        "Bend Side": "弯曲方向",
        "Chains": "链",
        "Free": "自由",
        "Hinge": "铰链",
        "Hinge Angle": "铰链角度",
        "Influence": "影响",
        "Limb": "肢体",
        "Limb Geometry": "肢体几何",
        "Live": "实时",
        "Lower Twist": "下骨扭转",
        "Max Knee Angle": "最大膝角",
        "Min Knee Angle": "最小膝角",
        "Mirror": "镜像",
        "Mute What Moves It": "屏蔽移动它的约束",
        "Make a Pole": "创建极向目标",
        "Make a Target": "创建目标",
        "Planar IK": "平面 IK",
        "Planar IK Presets": "平面 IK 预设",
        "Plane": "平面",
        "Pole": "极向",
        "Reached": "已到达",
        "Off Plane": "偏离平面",
        "Limited": "受限",
        "Invalid": "无效",
        "Show Limb Geometry": "显示肢体几何",
        "Softness": "柔和度",
        "Stretch": "拉伸",
        "Stretch Limit": "拉伸上限",
        "Stretch Volume": "拉伸体积",
        "Switched off": "已关闭",
        "{operator} over a Range": "{operator}(帧范围)",
        "{reach}: {away} from the target": "{reach}:距目标 {away}",
        "'{bone}' is no lower bone": "'{bone}' 不是肢体的下骨",
        "'{bone}' has no target": "'{bone}' 没有目标",
        "'{bone}' has no IK constraint": "'{bone}' 没有 IK 约束",
        "Converted {count} of {all} limbs": "已转换 {count} / {all} 个肢体",
        "Left alone. {why}": "未改动。{why}",
        "{count} frame": "{count} 帧",
        "{count} frames": "{count} 帧",
        "{count} chain": "{count} 条链",
        "{count} chains": "{count} 条链",
        "Target": "目标",
        "Too Far": "太远",
        "Too Near": "太近",
        "0 = FK, 1 = IK: share of the solution in the bones' own pose": "0 = FK，1 = IK：解在骨骼自身姿态中所占的比例",
    },
    OPERATOR: {
        "Add Planar IK": "添加平面 IK",
        "Bake Planar IK": "烘焙平面 IK",
        "Bake…": "烘焙…",
        "Convert IK Constraints to Planar IK": "将 IK 约束转换为平面 IK",
        "Flip": "翻转",
        "Flip Planar IK": "翻转平面 IK",
        "Limb": "肢体",
        "Mirror": "镜像",
        "Mirror Planar IK": "镜像平面 IK",
        "Pole": "极向",
        "Remove": "移除",
        "Remove Planar IK": "移除平面 IK",
        "Snap FK to IK": "将 FK 吸附到 IK",
        "Snap IK to FK": "将 IK 吸附到 FK",
        "Solve Once": "求解一次",
        "Switch FK/IK": "切换 FK/IK",
        "Switch to FK": "切换到 FK",
        "Switch to IK": "切换到 IK",
        "Target": "目标",
    },
}

LANGUAGES = {
    "zh_HANS": {(context, text): said for context, texts in ZH_HANS.items() for text, said in texts.items()},
}


def register() -> None:
    """Add the languages to Blender's."""
    translations.register(__package__, LANGUAGES)


def unregister() -> None:
    """Take them away."""
    translations.unregister(__package__)
