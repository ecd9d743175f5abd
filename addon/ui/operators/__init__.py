"""What a person can do: every operator, and what its selection means."""
