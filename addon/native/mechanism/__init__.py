"""The parts that a limb runs on: what they are, how they are made, and how they are found again."""
