"""A module of functions that shares its globals with the program where they run in it."""

driver = 0
seen = []


def see(n):
    seen.append(n)
    return n
