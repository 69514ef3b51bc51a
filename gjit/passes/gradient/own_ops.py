"""What the ops of gradient graphs do to memory, so that gradients of gradients see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OwnOp:
    """One op, by positions of its inputs.

    links     inputs that the result may be, hold or share memory with
    flows     inputs whose data is in the result
    written   the input whose data is written, with the data of `sources`
    """

    links: tuple[int, ...] = ()
    flows: tuple[int, ...] = ()
    written: int | None = None
    sources: tuple[int, ...] = ()


OWN_OPS = {
    "gradient.zeros": OwnOp(),
    "gradient.leaf": OwnOp(),
    "gradient.outside": OwnOp(),
    "gradient.check_store": OwnOp(),
    "gradient.check_items": OwnOp(),
    "gradient.one": OwnOp(),
    "gradient.null": OwnOp(),
    "gradient.count": OwnOp(),
    "gradient.unit": OwnOp(),
    "gradient.saved": OwnOp(flows=(0,)),
    "gradient.finished": OwnOp(flows=(1,)),
    "gradient.cotangent": OwnOp(links=(0,), flows=(0,)),
    "gradient.array": OwnOp(links=(0,), flows=(0,)),
    "gradient.assume": OwnOp(links=(0,), flows=(0,)),
    "gradient.accumulate": OwnOp(written=0, sources=(1,)),
    "gradient.accumulate_copied": OwnOp(written=0, sources=(1,)),
    "gradient.scatter": OwnOp(written=0, sources=(2,)),
    "gradient.take": OwnOp(flows=(0,), written=0),
    "gradient.take_chosen": OwnOp(flows=(0,), written=0),
    "gradient.take_item": OwnOp(flows=(1,), written=1),
    "gradient.put_chosen": OwnOp(written=0, sources=(2,)),
    "gradient.move": OwnOp(written=0, sources=(1,)),
    "gradient.in_place": OwnOp(links=(2,), flows=(2,)),
    "gradient.item": OwnOp(links=(1,), flows=(1,)),
    "gradient.attribute": OwnOp(links=(1,), flows=(1,)),
    "gradient.parts": OwnOp(links=(1,), flows=(1,)),
    "gradient.items": OwnOp(links=(1,), flows=(1,)),
    "gradient.entries": OwnOp(links=(1,), flows=(1,)),
    "gradient.callable": OwnOp(links=(0, 1), flows=(0, 1)),
    "gradient.pairs": OwnOp(links=(0, 1), flows=(0, 1)),
    "gradient.item_reverse": OwnOp(written=1, sources=(3,)),
    "gradient.put_item": OwnOp(written=1, sources=(3,)),
    "gradient.item_again": OwnOp(written=4, sources=(2,)),
}
MIRRORED = {
    "gradient.in_place": (2,),
    "gradient.item": (1,),
    "gradient.attribute": (1,),
    "gradient.parts": (1,),
    "gradient.items": (1,),
    "gradient.entries": (1,),
    "gradient.pairs": (0, 1),
    "gradient.set_item": (1, 4),
    "gradient.set_attribute": (0, 2),
}
"""Ops on shadows whose own shadow is what the op gives for the shadows of these inputs."""
