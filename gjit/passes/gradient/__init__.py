"""Reverse mode as a pass over typed graphs."""
