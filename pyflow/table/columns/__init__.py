"""Expressions as trees, and what makes columns of Spark of them."""
