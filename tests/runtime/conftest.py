from __future__ import annotations

import pytest

from gjit.runtime import arrangement, tile_plan, tiles


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles as short as they may be, so that small arrays are cut too."""
    monkeypatch.setattr(tiles, "MINIMUM_ELEMENTS", 1)
    monkeypatch.setattr(tile_plan, "MINIMUM_BYTES", 1)
    monkeypatch.setattr(arrangement, "TILE_BYTES", 1)
    monkeypatch.setattr(arrangement, "_MAXIMUM_OVERSIZE", 1 << 40)
