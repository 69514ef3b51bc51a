"""Numbers in words, the same in the text and on the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gjit.report.regions import RegionReport

_MOST_OPS = 16
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


def ops_text(ops: Sequence[str]) -> str:
    """The ops in order; of many, how often each is there.

    >>> ops_text(["mul", "add"]), ops_text(["mul", "add", "mul"] * 6)
    ('mul, add', '18 ops: 12 mul, 6 add')
    """
    if len(ops) <= _MOST_OPS:
        return ", ".join(ops)
    counted = [f"{number} {op}" for op, number in Counter(ops).most_common()]
    return f"{len(ops)} ops: {', '.join(counted)}"


def intermediates_text(region: RegionReport) -> str:
    """How many arrays are never made, with those that the user has named; nothing where there are none."""
    if not region.intermediates:
        return ""
    named = [name for name in dict.fromkeys(region.intermediates) if name not in region.ops]
    shown = f": {', '.join(named)}" if named else ""
    arrays = count(len(region.intermediates), "array")
    return f"{arrays} ({bytes_text(region.intermediate_bytes)}){shown}"


def memory_text(region: RegionReport) -> str:
    """What one run of a region moves through memory."""
    read, written = bytes_text(region.bytes_read), bytes_text(region.bytes_written)
    return f"one run for these arguments reads {read}, writes {written}"


def ran_text(region: RegionReport) -> str:
    """How a region runs, and how often it has."""
    if region.least_elements is None:
        return "runs op by op in place: one pass would gain nothing"
    launches = "1 launch" if region.launches == 1 else f"{region.launches} launches"
    if region.is_nest:
        refused = "".join(f"; {reason} keeps it on the host" for reason in region.refusals)
        so_far = f"so far {launches}, {count(region.fallbacks, 'run')} on the host"
        return f"a loop nest: runs as native code from {region.least_elements} elements on; {so_far}{refused}"
    so_far = f"so far {launches}, {count(region.fallbacks, 'fallback')}"
    return f"runs as one pass from {region.least_elements} elements on, below op by op in place; {so_far}"
