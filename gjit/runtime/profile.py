"""One call with a clock at each of the user's lines: `CompiledFunction.profile`.

Python's trace hook watches the generated functions (their code carries the user's file and lines) and the calls of
regions; every other frame is left alone, and nothing is watched outside the profiled call.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gjit.ir.node_texts import lines_of
from gjit.runtime.dynamic import generated
from gjit.runtime.region import Region
from gjit.runtime.tiles import TiledRegion

MOST_EVENTS = 200_000
"""How many events a timeline keeps; times of lines are complete in any case."""


@dataclass(frozen=True, slots=True)
class Event:
    """One bar of the timeline: a call of a function, a stay on a line, a run of a region.

    kind      `function`, `line` or `region`
    start     in seconds from the begin of the call
    duration  in seconds
    details   file and line; for a region its engine and whether it ran as a whole or op by op
    """

    kind: str
    name: str
    start: float
    duration: float
    details: dict[str, object]


@dataclass(slots=True)
class LineTime:
    """The time spent at one line of the user's, in seconds, without what its calls of compiled functions took."""

    file: str
    line: int
    times: int = 0
    total: float = 0.0
    in_regions: float = 0.0

    @property
    def text(self) -> str:
        """The line as it stands in the file, or nothing."""
        return linecache.getline(self.file, self.line).strip()


@dataclass(slots=True)
class Profile:
    """One call of a compiled function, timed by line. `str()` is a table of the slowest lines, with their share of the
    time at all lines.

    function  its name
    engine    what ran its regions
    result    what the call returned
    duration  of the call in seconds, watching included
    lines     the lines that ran, the slowest first
    events    the timeline, in order of their ends
    dropped   how many events are left out of it
    """

    function: str
    engine: str
    result: Any = None
    duration: float = 0.0
    lines: list[LineTime] = field(default_factory=list)
    events: list[Event] = field(default_factory=list, repr=False)
    dropped: int = 0

    def __str__(self) -> str:
        head = f"{self.function} on the engine {self.engine}: {_milliseconds(self.duration)} ms"
        rows = ["  total ms   share  in regions    times  line", *map(self._row, self.lines[:_MOST_ROWS])]
        if len(self.lines) > _MOST_ROWS:
            rows.append(f"  and {len(self.lines) - _MOST_ROWS} more lines")
        return "\n".join([head, *rows])

    def _row(self, line: LineTime) -> str:
        share = line.total / max(sum(each.total for each in self.lines), 1e-12)
        inside = line.in_regions / line.total if line.total else 0.0
        place = f"{os.path.basename(line.file)}:{line.line}  {line.text}"
        return f"{_milliseconds(line.total):>10} {share:7.1%} {inside:11.1%} {line.times:8d}  {place}".rstrip()

    def as_json(self) -> str:
        """The timeline in the trace format of Chrome, which Perfetto reads too."""
        process, thread = os.getpid(), threading.get_native_id()
        named = {"name": "thread_name", "ph": "M", "pid": process, "tid": thread, "args": {"name": self.function}}
        bars = [
            {
                "name": event.name,
                "cat": event.kind,
                "ph": "X",
                "ts": event.start * 1e6,
                "dur": event.duration * 1e6,
                "pid": process,
                "tid": thread,
                "args": event.details,
            }
            for event in sorted(self.events, key=lambda event: (event.start, -event.duration))
        ]
        about = {"function": self.function, "engine": self.engine, "dropped": self.dropped}
        return json.dumps({"traceEvents": [named, *bars], "displayTimeUnit": "ms", "otherData": about})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the timeline (`.json`) or the table (`.txt`).

        Raises:
            ValueError: another suffix.
        """
        target = Path(path)
        forms: dict[str, Callable[[], str]] = {".json": self.as_json, ".txt": lambda: f"{self}\n"}
        if target.suffix not in forms:
            raise ValueError(f"a profile is saved as {' or '.join(forms)}, not as {target.suffix or target.name!r}")
        target.write_text(forms[target.suffix](), encoding="utf-8")


_MOST_ROWS = 20


def profile_call(call: Callable[[], object], function: str, engine: str, regions: Iterable[Region]) -> Profile:
    """Run `call` once, watched.

    Args:
        call: runs the compiled function.
        function, engine: what the profile says of them.
        regions: that are known to belong to it; others of the same kinds are seen too.

    Raises what the call raises; the trace hook is then back as it was.
    """
    profile = Profile(function, engine)
    watch = _Watch(profile, regions)
    with watch.watching():
        profile.result = call()
    profile.duration = time.perf_counter() - watch.begin
    profile.lines = sorted(watch.lines.values(), key=lambda line: -line.total)
    return profile


@dataclass(slots=True)
class _Frame:
    """A generated function that runs: the line that it is on, and since when; `away` is the time spent in others.

    head    the line of the `def`, which the checks of an entry have; 0 where the body is on that line too
    """

    file: str
    began: float
    head: int
    line: int = 0
    since: float = 0.0
    away: float = 0.0


class _Watch:
    """The trace hook of one profiled call, for one thread."""

    def __init__(self, profile: Profile, regions: Iterable[Region]):
        self.profile = profile
        self.lines: dict[tuple[str, int], LineTime] = {}
        kinds = {TiledRegion, *map(type, regions)}
        calls = (getattr(kind.__call__, "__code__", None) for kind in kinds)
        self._region_codes = {code for code in calls if code is not None}
        self._frames: list[_Frame] = []
        self._in_region = False
        self.begin = time.perf_counter()

    @contextmanager
    def watching(self):
        """Watch this thread for a block."""
        before = sys.gettrace()
        self.begin = time.perf_counter()
        sys.settrace(self._on_call)
        try:
            yield
        finally:
            sys.settrace(before)

    def _on_call(self, frame: types.FrameType, kind: str, argument: object) -> Callable | None:
        code = frame.f_code
        if code in self._region_codes:
            return self._region(frame)
        return self._function(frame) if generated.get(id(code)) is code else None

    def _function(self, frame: types.FrameType) -> Callable:
        now = time.perf_counter()
        code = frame.f_code
        watched = _Frame(code.co_filename, now, _head(code))
        self._frames.append(watched)

        def watch(frame: types.FrameType, kind: str, argument: object) -> Callable:
            now = time.perf_counter()
            if kind == "line" and frame.f_lineno != watched.line:
                self._end_line(watched, now)
                watched.line, watched.since, watched.away = frame.f_lineno, time.perf_counter(), 0.0
            elif kind == "return":
                self._end_line(watched, now)
                self._leave(watched)
                if watched.line != watched.head:  # else the checks have gone to another function
                    details = {"file": code.co_filename, "line": code.co_firstlineno}
                    self._add("function", code.co_qualname, watched.began, now, details)
            return watch

        return watch

    def _leave(self, watched: _Frame) -> None:
        self._frames.pop()
        if self._frames:
            self._frames[-1].away += time.perf_counter() - watched.began

    def _end_line(self, watched: _Frame, now: float) -> None:
        if watched.line in (0, watched.head):
            return
        record = self._line(watched.file, watched.line)
        record.times += 1
        record.total += now - watched.since - watched.away
        name = record.text or f"line {watched.line}"
        self._add("line", name, watched.since, now, {"file": watched.file, "line": watched.line})

    def _line(self, file: str, line: int) -> LineTime:
        record = self.lines.get((file, line))
        if record is None:
            record = self.lines[file, line] = LineTime(file, line)
        return record

    def _region(self, frame: types.FrameType) -> Callable | None:
        if self._in_region:  # one engine has handed the region to another
            return None
        self._in_region = True
        region = frame.f_locals.get(frame.f_code.co_varnames[0])
        frame.f_trace_lines = False
        counts, start = (region.tiled, region.native), time.perf_counter()
        caller = self._frames[-1] if self._frames else None

        def watch(frame: types.FrameType, kind: str, argument: object) -> Callable:
            if kind == "return":
                self._in_region = False
                self._end_region(region, caller, start, counts)
            return watch

        return watch

    def _end_region(self, region: Region, caller: _Frame | None, start: float, counts: tuple[int, int]) -> None:
        now = time.perf_counter()
        tiled, native = counts
        way = "as a whole" if region.tiled > tiled else "op by op"
        if caller is not None and caller.line:
            self._line(caller.file, caller.line).in_regions += now - start
        ops = ", ".join(inner.op.partition(".")[2] or inner.op for inner in region.node.blocks[0])
        engine = "native" if region.native > native else "numpy"
        details = {"engine": engine, "ran": way, "lines": lines_of(region.node), "ops": ops}
        self._add("region", f"region at {lines_of(region.node) or 'no line'}", start, now, details)

    def _add(self, kind: str, name: str, start: float, end: float, details: dict[str, object]) -> None:
        if len(self.profile.events) >= MOST_EVENTS:
            self.profile.dropped += 1
            return
        self.profile.events.append(Event(kind, name, start - self.begin, end - start, details))


def _head(code: types.CodeType) -> int:
    """The line of the `def`, unless other code is on it."""
    lines = {line for _, _, line in code.co_lines() if line is not None}
    return code.co_firstlineno if max(lines) > code.co_firstlineno else 0


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3f}"
