"""The shell and the SQL client: what their programs have in common, and each of them."""
