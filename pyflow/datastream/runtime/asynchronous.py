"""temporary."""


class AsyncOperator:
    def __init__(self, d): ...
