"""What runs over unbounded rows, whatever the API: operators with keyed state, and jobs."""
