"""What the other packages share, as ``pyflink.util`` does."""
