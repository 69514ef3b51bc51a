import threading

import numpy as np
import pytest

import gjit
from gjit import settings


@pytest.fixture(autouse=True)
def _nothing_is_set():
    before = dict(settings._process)
    settings._set_process({})
    yield
    settings._set_process(before)


def test_default_environment_process_and_block(monkeypatch):
    assert settings.get("threads") == 0
    monkeypatch.setenv("GJIT_THREADS", "3")
    assert settings.get("threads") == 3
    gjit.config(threads=2)
    assert settings.get("threads") == 2
    with gjit.config(threads=1):
        assert settings.threads() == 1
        with gjit.config(threads=5):
            assert settings.get("threads") == 5
        assert settings.get("threads") == 1
    assert settings.get("threads") == 2


def test_a_block_holds_for_its_thread_alone():
    seen = []
    with gjit.config(threads=7):
        thread = threading.Thread(target=lambda: seen.append(settings.get("threads")))
        thread.start()
        thread.join()
    assert seen == [0]


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"device": "gpu"}, ValueError, "give one of auto, cpu, cuda, cuda:free, emulated"),
        ({"threads": "many"}, ValueError, "whole number"),
        ({"disable": "perhaps"}, ValueError, "give 1 or 0"),
        ({"speed": 11}, TypeError, "no knob 'speed'"),
    ],
)
def test_wrong_values(values, error, text):
    with pytest.raises(error, match=text):
        gjit.config(**values)


def test_a_wrong_environment_variable_names_itself(monkeypatch):
    monkeypatch.setenv("GJIT_ENGINE", "fast")
    with pytest.raises(ValueError, match="GJIT_ENGINE='fast': give one of auto, numpy, native"):
        settings.get("engine")


def test_disable_runs_the_plain_function():
    frames = []

    def function(x):
        frames.append(1)
        return x + 1

    compiled = gjit.script(function)
    with gjit.config(disable=True):
        assert compiled(1) == 2
    assert compiled.statistics.captures == 0
    assert compiled(1) == 2
    assert compiled.statistics.captures == 1
    assert len(frames) == 2


def test_another_device_is_an_error_that_says_what_to_do():
    compiled = gjit.script(lambda x: x + 1)
    with gjit.config(device="cuda"), pytest.raises(gjit.DeviceError, match="set GJIT_DEVICE=cpu or auto"):
        compiled(np.ones(3))
    assert compiled(np.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_engine_of_block_decorator_and_process():
    plain = gjit.script(lambda x: np.sqrt(x) + 1.0)
    decorated = gjit.script(lambda x: np.sqrt(x) + 1.0, engine="numpy")
    x = np.ones(3)
    assert plain.explain(x).engine == "auto"
    gjit.config(engine="native")
    assert (plain.explain(x).engine, decorated.explain(x).engine) == ("native", "numpy")
    with gjit.config(engine="numpy"):
        assert plain.explain(x).engine == "numpy"
        assert plain(x).tolist() == [2.0] * 3
    assert plain(x).tolist() == decorated(x).tolist() == [2.0] * 3
    with gjit.config(engine="native"):
        assert decorated.explain(x).engine == "native"
    gjit.config(engine="numpy")
    assert plain.explain(x).engine == "numpy"
    assert plain.statistics.signatures == 3  # for auto, native and numpy
    with pytest.raises(ValueError, match="give one of auto, numpy, native"):
        gjit.script(lambda x: x, engine="fast")
