"""Functions in expressions: built-in ones, and those of programs."""
