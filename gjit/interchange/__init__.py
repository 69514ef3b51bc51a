"""Graphs in other forms: files, other run times, other array libraries."""
