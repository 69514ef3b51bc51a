import numpy as np
import pytest

import gjit
from gjit.ir.types import ArrayType
from gjit.ops import effects_of, table
from gjit.ops.row import Effect
from gjit.runtime import native as gjit_compiler

CALLS = []


@gjit.register_op(types=lambda x, k: x, pure=True)
def smooth(x, k):
    CALLS.append(k)
    return np.convolve(x, np.ones(k) / k, mode="same")


@gjit.register_op(writes=(0,))
def clear(x):
    x[:] = 0.0


def test_the_op_is_one_node_that_round_trips():
    compiled = gjit.script(lambda x: smooth(x * 2.0, 3) + 1.0)
    x = np.arange(6.0)
    assert compiled(x).tolist() == (np.convolve(x * 2.0, np.ones(3) / 3, mode="same") + 1.0).tolist()
    text = str(compiled.graph)
    assert "user.smooth" in text
    assert str(gjit.parse_graph(text)) == text
    assert compiled.statistics.host_calls == 0


def test_its_type_rule_types_what_follows():
    compiled = gjit.script(lambda x: np.sqrt(np.abs(smooth(x, 3))) + 1.0)
    node = next(node for node in compiled.graph_for(np.ones(4)).all_nodes() if node.op == "user.smooth")
    assert node.result.type == ArrayType(np.dtype("f8"), 1)
    assert compiled.statistics.regions == 1


def test_its_body_is_not_captured_and_it_runs_when_traced():
    traced = gjit.trace(lambda x: smooth(x, 3) * 2, np.ones(5))
    assert "user.smooth" in str(traced.graph)
    x = np.arange(7.0)
    assert traced(x).tolist() == (smooth(x, 3) * 2).tolist()


def test_effects():
    def program(x):
        y = x + 1.0
        clear(x)
        return y, x + 1.0

    compiled = gjit.script(program)
    y, z = compiled(np.ones(3))
    assert (y.tolist(), z.tolist()) == ([2.0] * 3, [1.0] * 3)
    node = next(node for node in compiled.graph.all_nodes() if node.op == "user.clear")
    assert Effect.WRITES in effects_of(node)
    assert Effect.WRITES not in table["user.smooth"].effects


def test_names_are_taken_once():
    assert gjit.register_op(smooth) is smooth
    with pytest.raises(ValueError, match=r"there is an op 'user.smooth' already"):
        gjit.register_op(lambda x: x, name="smooth")
    with pytest.raises(ValueError, match="cannot be the name of an op"):
        gjit.register_op(lambda x: x)
    with pytest.raises(TypeError, match="takes a function, not int"):
        gjit.register_op(3)


def bent(x, slope):
    return np.where(x > 0, x, slope * x)


def softened(x):
    return np.where(x > 0.5, np.log1p(x), x)


def clipped_text(x):
    return x if isinstance(x, str) else np.minimum(x, 1.0)


def activation(x):
    return np.sqrt(np.abs(bent(x * 2.0, 0.1) + 1.0))


@pytest.fixture(scope="module")
def bent_op():
    return gjit.register_op(bent, elementwise=True, kernel="{0} > 0 ? {0} : {1} * {0}")


@pytest.mark.usefixtures("bent_op")
class TestElementwise:
    def test_it_joins_a_region_and_is_typed_by_a_sample(self):
        compiled = gjit.script(activation)
        graph = compiled.graph_for(np.ones(4, np.float32))
        node = next(node for node in graph.all_nodes() if node.op == "user.bent")
        assert node.result.type == ArrayType(np.dtype("f4"), 1)
        compiled(np.ones(4))
        assert compiled.statistics.regions == 1

    @pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
    @pytest.mark.parametrize("shape", [(3, 400_001), (1 << 20,)])
    def test_large_arrays_run_tile_by_tile(self, dtype, shape):
        x = np.random.default_rng(5).normal(size=shape).astype(dtype)
        compiled = gjit.script(activation, engine="numpy")
        result = compiled(x)
        assert compiled.statistics.launches == 1
        assert result.dtype == activation(x).dtype
        assert result.tobytes() == activation(x).tobytes()

    @pytest.mark.parametrize("layout", [lambda x: x[:, ::2], lambda x: x.T, lambda x: x[:, None]])
    def test_other_layouts_run_op_by_op(self, layout):
        x = layout(np.random.default_rng(5).normal(size=(700, 2000)))
        compiled = gjit.script(activation, engine="numpy")
        result, expected = compiled(x), activation(x)
        assert (result.strides, result.tobytes()) == (expected.strides, expected.tobytes())

    @pytest.mark.skipif(not gjit_compiler.is_available(), reason="needs a C++ compiler")
    @pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "f2"])
    def test_its_kernel_runs_on_the_native_engine(self, dtype):
        def program(x):
            return bent(x * 2, 3) + 1

        x = np.random.default_rng(5).normal(size=5000).astype(dtype)
        compiled = gjit.script(program, engine="native")
        result = compiled(x)
        assert result.dtype == program(x).dtype
        assert result.tobytes() == program(x).tobytes()
        assert compiled.statistics.launches == (dtype != "f2")

    def test_without_kernel_the_native_engine_runs_the_function(self):
        gjit.register_op(softened, elementwise=True)
        compiled = gjit.script(lambda x: softened(x * 2.0) + 1.0, engine="native")
        x = np.linspace(0, 1, 1000)
        assert np.array_equal(compiled(x), softened(x * 2.0) + 1.0)
        assert compiled.statistics.launches == 0

    def test_a_broken_promise_gives_what_python_gives(self):
        def first(x):
            return x[:2] + 1.0

        gjit.register_op(first, elementwise=True)
        compiled = gjit.script(lambda x: np.sqrt(first(np.exp(x))), engine="numpy")
        x = np.ones(1 << 20)
        assert compiled(x).tolist() == np.sqrt(np.exp(x)[:2] + 1.0).tolist()

    def test_its_exceptions_and_warnings_are_its_own(self):
        def inverse(x):
            if np.any(x < 0):
                raise ValueError("negative")
            return 1.0 / x

        gjit.register_op(inverse, elementwise=True)
        compiled = gjit.script(lambda x: inverse(np.sqrt(x) - 1.0) * 2.0 + x, engine="numpy")
        x = np.full(1 << 20, 4.0)
        compiled(x)
        assert compiled.statistics.launches == 1
        x[700_000] = 1.0
        with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
            compiled(x)
        assert [warning.filename for warning in caught] == [__file__]
        x[-1] = 0.0
        with pytest.raises(ValueError, match="negative"):
            compiled(x)


def test_elementwise_options_that_do_not_go_together():
    with pytest.raises(ValueError, match="say elementwise=True"):
        gjit.register_op(lambda x: x, name="plain", kernel="{0}")
    with pytest.raises(ValueError, match="makes a new array"):
        gjit.register_op(lambda x: x, name="plain", elementwise=True, views=(0,))
    for text in ("{x} + 1", "1.0", "{} * 2"):
        with pytest.raises(ValueError, match="no expression over"):
            gjit.register_op(lambda x: x, name="plain", elementwise=True, kernel=text)
    assert "user.plain" not in table


def test_an_elementwise_function_of_text_is_left_alone():
    gjit.register_op(clipped_text, elementwise=True)
    compiled = gjit.script(lambda x: clipped_text(x))
    assert compiled("word") == "word"
