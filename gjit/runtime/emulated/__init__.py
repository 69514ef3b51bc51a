"""A device that is no device: arrays in host memory behind a wall, for machines without a GPU.

It stands in for the part of CuPy that the runtime uses, and is stricter: nothing becomes a NumPy array by itself, fresh
memory holds junk, memory is counted and limited, and faults happen when they are asked for.
"""
