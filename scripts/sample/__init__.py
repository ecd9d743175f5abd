"""The sample file: a cut-out puppet and a biped, each an asset, whose limbs run on the rig."""
