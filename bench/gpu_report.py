"""The goals of a device as lines of text and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from bench.gpu_goals import Goal

_HEIGHT, _LEFT, _WIDTH = 22, 420, 400
_COLOURS = {True: "#2e7d32", False: "#c62828", None: "#607d8b"}


def goal_line(goal: Goal) -> str:
    """Name, value, the bars, and whether the first was reached."""
    word = {True: "pass", False: "MISS", None: ""}[goal.passed]
    bars = "" if goal.accept is None else f"{goal.accept:g} / {goal.stretch:g}"
    return f"{goal.name:58} {goal.value:12.3f} {goal.unit:5} {bars:>18} {word}"


def plot(goals: Sequence[Goal]) -> str:
    """A bar for each goal, as long as its value is of the bar it has to reach; a line stands where that is."""
    judged = [goal for goal in goals if goal.accept is not None]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _WIDTH + 120}" '
        f'height="{_HEIGHT * len(judged) + 20}" font-family="sans-serif" font-size="12">'
    ]
    for place, goal in enumerate(judged):
        lines += _bar(goal, 10 + place * _HEIGHT)
    middle = _LEFT + _WIDTH // 2
    lines.append(f'<line x1="{middle}" x2="{middle}" y1="0" y2="{_HEIGHT * len(judged) + 20}" stroke="black"/>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _bar(goal: Goal, top: int) -> list[str]:
    share = goal.accept / max(goal.value, 1e-12) if goal.is_least else goal.value / max(goal.accept, 1e-12)
    length = min(share, 2.0) * _WIDTH / 2
    colour = _COLOURS[goal.passed]
    return [
        f'<text x="4" y="{top + 14}">{escape(goal.name)}</text>',
        f'<rect x="{_LEFT}" y="{top + 2}" width="{length:.1f}" height="{_HEIGHT - 6}" fill="{colour}"/>',
        f'<text x="{_LEFT + _WIDTH + 8}" y="{top + 14}">{goal.value:.3g} {goal.unit}</text>',
    ]
