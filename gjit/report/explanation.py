"""The answer of `gjit.explain`, as text and as data."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from gjit.capture.program import Fallback
from gjit.ir.draw import svg
from gjit.report.host import HostReport
from gjit.report.page import document, fragment
from gjit.report.regions import RegionReport, region_names
from gjit.report.words import count, intermediates_text, memory_text, ops_text, ran_text
from gjit.runtime.plan import Plan


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer of `gjit.explain`: `str()` of it is the text, `as_json()` the same as data; a notebook shows a page.

    signature   the types that the plan was made for
    engine      what runs the regions
    regions     how many regions the plan has
    details     one report for each
    host        loops, calls and operations that stay on the host, with line and reason
    fallbacks   calls that run in the interpreter, or as one call of NumPy, with line and reason
    transfers   copies between host and device so far (none on a CPU)
    code        the host program
    plan        what is explained
    """

    function: str
    signature: str
    engine: str
    regions: int
    details: tuple[RegionReport, ...]
    host: tuple[HostReport, ...]
    fallbacks: tuple[Fallback, ...]
    transfers: int
    code: str
    plan: Plan = field(repr=False, compare=False)

    def as_json(self) -> str:
        """The explanation as a JSON object; a number of bytes that is not known is null."""
        data: dict[str, object] = {
            name: getattr(self, name) for name in ("function", "signature", "engine", "regions", "transfers", "code")
        }
        data.update({name: list(map(asdict, getattr(self, name))) for name in ("details", "host", "fallbacks")})
        return json.dumps(data, indent=2)

    @property
    def svg(self) -> str:
        """A picture of the graph and of those that it calls, with its regions in colour."""
        return svg(self.plan.graph, region_names(self.plan))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the explanation to a file: a page (`.html`), data (`.json`), the picture (`.svg`) or the text (`.txt`).

        Raises:
            ValueError: another suffix.
        """
        target = Path(path)
        forms: dict[str, Callable[[], str]] = {
            ".html": lambda: document(self, self.svg),
            ".json": self.as_json,
            ".svg": lambda: self.svg,
            ".txt": lambda: f"{self}\n",
        }
        if target.suffix not in forms:
            raise ValueError(f"an explanation is saved as {', '.join(forms)}, not as {target.suffix or target.name!r}")
        target.write_text(forms[target.suffix](), encoding="utf-8", errors="backslashreplace")

    def _repr_html_(self) -> str:
        return fragment(self, self.svg)

    def __str__(self) -> str:
        return "\n".join(self._text())

    def _text(self) -> Iterator[str]:
        yield f"{self.function}({self.signature}): {count(self.regions, 'region')} on the engine {self.engine}"
        for region in self.details:
            yield f"  {region.name} of {region.function}, {region.lines}: {ops_text(region.ops)}"
            yield from (f"    {line}" for line in region.source)
            yield f"    in: {', '.join(region.inputs)}  out: {', '.join(region.outputs) or 'a store'}"
            yield f"    {memory_text(region)}"
            if region.intermediates:
                yield f"    never whole in memory: {intermediates_text(region)}"
            yield f"    {ran_text(region)}"
        yield from ["on the host:"] if self.host else []
        for each in self.host:
            yield f"  {each.kind} {each.what} ({each.place}): {each.reason}"
            yield from [f"    {each.source}"] if each.source else []
        yield from [f"copied between host and device so far: {count(self.transfers, 'time')}"] if self.transfers else []
        yield "host program:"
        yield from ("  " + line for line in self.code.rstrip().splitlines())
