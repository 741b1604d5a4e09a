"""What a statement returns."""

__all__ = ["ResultKind"]


class ResultKind:
    """What a statement returns: that it succeeded, or rows."""

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1
