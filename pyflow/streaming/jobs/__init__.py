"""Jobs that run beside the program."""
