"""What a limb is: its bones, its settings, what it follows, and what keeps it from being posed."""
