"""Exception classes of a module, as a library of the user would have them."""


class InvoiceError(Exception):
    """Carries more than a message."""

    def __init__(self, number, reason):
        super().__init__(f"invoice {number}: {reason}")
        self.number = number


class SilentError(Exception):
    """Has no text."""


class UnprintableError(Exception):
    """Fails when shown."""

    def __str__(self):
        raise RuntimeError("no text today")


def deep(levels):
    """Fails some calls further down."""
    if levels == 0:
        raise InvoiceError(7, "unpaid")
    return deep(levels - 1)
