"""Numbers in words, the same in the text and on the page."""

from __future__ import annotations

from gjit.report.regions import RegionReport

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "region"), count(0, "region")
    ('1 region', '0 regions')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def bytes_text(size: int | None) -> str:
    """A number of bytes in the unit that suits it.

    >>> bytes_text(8_000_000), bytes_text(24), bytes_text(None)
    ('8.0 MB', '24 bytes', 'unknown')
    """
    if size is None:
        return "unknown"
    amount, unit = float(size), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{size} {_UNITS[0]}" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def memory_text(region: RegionReport) -> str:
    """What one run of a region moves through memory."""
    read, written = bytes_text(region.bytes_read), bytes_text(region.bytes_written)
    return f"one run for these arguments reads {read}, writes {written}"


def ran_text(region: RegionReport) -> str:
    """How a region runs, and how often it has."""
    if region.least_elements is None:
        return "runs op by op in place: one pass would gain nothing"
    so_far = f"so far {count(region.launches, 'launch').replace('launchs', 'launches')}"
    so_far += f", {count(region.fallbacks, 'fallback')}"
    return f"runs as one pass from {region.least_elements} elements on, below op by op in place; {so_far}"
