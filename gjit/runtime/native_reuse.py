"""Arrays between the kernels of a region: scratch memory, or the memory of a result that is made of them."""

from __future__ import annotations

from gjit.ir.graph import Value
from gjit.runtime.native_program import Draft, StageDraft


def temporaries_of(draft: Draft) -> tuple[frozenset[Value], dict[Value, Value]]:
    """What lies in scratch memory, and which result takes the memory of which array that is not needed any more."""
    stages = [stage for stage in draft.stages if stage is not None]
    seen = set(draft.results)
    seen.update(value for steps in draft.host for step in steps for value in step.node.inputs)
    hidden = {value for stage in stages for _, value in stage.fresh.values() if value not in seen}
    reused: dict[Value, Value] = {}
    for stage in stages:
        for name, (_, made) in stage.fresh.items():
            if made in hidden or made in reused:
                continue
            source = next((each for each in hidden - set(reused.values()) if _is_free(each, stage, name, stages)), None)
            if source is not None:
                reused[made] = source
    return frozenset(hidden - set(reused.values())), reused


def _is_free(value: Value, stage: StageDraft, name: str, stages: list[StageDraft]) -> bool:
    """Whether a stage alone reads an array, at the places where it writes the output `name`."""
    readers = [each for each in stages if value in each.sources.values()]
    if readers != [stage]:
        return False
    item, _ = stage.fresh[name]
    made = next(made for each in stages for made, key in each.fresh.values() if key is value)
    arrays = [key for key, source in stage.sources.items() if source is value]
    places = (stage.space.strides, stage.space.apart)
    is_alike = made.dtype == item.dtype and made.shape == item.shape and made.strides == item.strides
    return is_alike and all(each.get(key) == each.get(name) for key in arrays for each in places)
