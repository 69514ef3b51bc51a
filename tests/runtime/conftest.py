from __future__ import annotations

import pytest

from gjit import settings
from gjit.runtime import arrangement, native_region, tile_plan, tiles


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles as short as they may be, so that small arrays are cut too."""
    monkeypatch.setattr(tiles, "MINIMUM_ELEMENTS", 1)
    monkeypatch.setattr(tile_plan, "MINIMUM_BYTES", 1)
    monkeypatch.setattr(arrangement, "TILE_BYTES", 1)
    monkeypatch.setattr(arrangement, "_MAXIMUM_OVERSIZE", 1 << 40)


@pytest.fixture(scope="session")
def kernel_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def kernels(monkeypatch, kernel_folder):
    """Native kernels for arrays of any size, kept in a folder of the test run."""
    monkeypatch.setattr(native_region, "MINIMUM_ELEMENTS", 1)
    with settings.config(cache_dir=str(kernel_folder)):
        yield kernel_folder
