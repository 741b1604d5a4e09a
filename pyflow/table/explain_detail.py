"""What an explanation of a plan tells beside the plan."""

__all__ = ["ExplainDetail"]


class ExplainDetail:
    """What an explanation of a plan tells beside the plan."""

    ESTIMATED_COST = 0
    CHANGELOG_MODE = 1
    JSON_EXECUTION_PLAN = 2
    PLAN_ADVICE = 3
