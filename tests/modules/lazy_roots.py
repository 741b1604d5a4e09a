"""A pure module; its functions import what isolated interpreters refuse when they are called."""


def root(n):
    import numpy as np

    return float(np.sqrt(n * n))


class Roots:
    def of(self, n):
        return root(n)
