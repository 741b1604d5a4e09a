"""Environments of Python that travel with a program."""
