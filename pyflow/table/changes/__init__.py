"""Relations, and the changes that unbounded ones have."""
