"""Which bones a person means, and whether IK can be put on them."""
