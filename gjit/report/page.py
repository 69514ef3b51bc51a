"""An explanation as HTML: one page, no scripts, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from gjit.ir.node_texts import escape
from gjit.report.host import HostReport
from gjit.report.regions import RegionReport
from gjit.report.words import bytes_text, count, intermediates_text, ops_text, ran_text

_STYLE = """
.gjit-explanation { font: 14px/1.45 system-ui, sans-serif; color: #222; background: #fff; padding: 8px; }
.gjit-explanation h2 { font-size: 17px; margin: 4px 0; }
.gjit-explanation h3 { font-size: 14px; margin: 18px 0 4px; }
.gjit-explanation code, .gjit-explanation pre { font: 12px/1.4 ui-monospace, Menlo, Consolas, monospace; color: #222; }
.gjit-explanation pre { background: #f5f6f8; padding: 8px; overflow-x: auto; margin: 0; }
.gjit-explanation table { border-collapse: collapse; font-size: 13px; }
.gjit-explanation th, .gjit-explanation td { border: 1px solid #d5dae0; padding: 4px 8px; text-align: left; }
.gjit-explanation td, .gjit-explanation th { vertical-align: top; background: #fff; color: #222; }
.gjit-explanation td i { display: inline-block; width: 12px; height: 12px; border: 1px solid #777; margin-right: 6px; }
.gjit-explanation td pre { background: none; padding: 0; }
.gjit-explanation .picture { overflow: auto; max-height: 900px; border: 1px solid #d5dae0; }
"""


_REGION_TITLES = ("region", "lines", "computes", "reads", "writes", "never whole in memory", "runs")


class Explained(Protocol):
    """What a page shows of an explanation."""

    @property
    def function(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def engine(self) -> str: ...
    @property
    def regions(self) -> int: ...
    @property
    def details(self) -> tuple[RegionReport, ...]: ...
    @property
    def host(self) -> tuple[HostReport, ...]: ...
    @property
    def code(self) -> str: ...


def fragment(explanation: Explained, picture: str) -> str:
    """The explanation as one element, for a notebook; `picture` is the SVG of its graph."""
    head = f"{count(explanation.regions, 'region')} on the engine {explanation.engine}"
    parts = [
        f"<style>{_STYLE}</style>",
        f"<h2>{escape(explanation.function)}</h2>",
        f"<p><code>({escape(explanation.signature)})</code><br>{escape(head)}</p>",
    ]
    if explanation.details:
        parts.append(_table("Regions", _REGION_TITLES, map(_region_row, explanation.details)))
    if explanation.host:
        parts.append(_table("On the host", ("what", "line", "why"), map(_host_row, explanation.host)))
    parts.append(f'<h3>Graph</h3><div class="picture">{picture}</div>')
    parts.append(f"<h3>Host program</h3><pre>{escape(explanation.code.rstrip())}</pre>")
    return f'<div class="gjit-explanation">{"".join(parts)}</div>'


def document(explanation: Explained, picture: str) -> str:
    """The explanation as a whole page."""
    head = f'<meta charset="utf-8"><title>{escape(explanation.function)}</title>'
    return f"<!doctype html>\n<html lang=en><head>{head}</head><body>{fragment(explanation, picture)}</body></html>\n"


def _table(title: str, titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in titles)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<h3>{escape(title)}</h3><table><tr>{head}</tr>{body}</table>"


def _region_row(region: RegionReport) -> list[str]:
    return [
        f'<i style="background:{escape(region.colour)}"></i><b>{escape(region.name)}</b><br>{escape(region.function)}',
        f"<pre>{escape(chr(10).join(region.source))}</pre>",
        escape(ops_text(region.ops)),
        _bytes(region.bytes_read),
        _bytes(region.bytes_written),
        escape(intermediates_text(region)),
        escape(ran_text(region)),
    ]


def _bytes(size: int | None) -> str:
    return escape(bytes_text(size)).replace(" ", "&nbsp;")


def _host_row(each: HostReport) -> list[str]:
    what = f"{escape(each.kind)} <b>{escape(each.what)}</b><br>{escape(each.function)}"
    return [what, f"{escape(each.place)}<pre>{escape(each.source)}</pre>", escape(each.reason)]
