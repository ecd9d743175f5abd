"""What people do with limbs, as Blender's operators: each checks, calls a task, and says in one line what it did."""
