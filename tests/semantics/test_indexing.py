from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check, layouts, read_only

CUBE = np.arange(24.0).reshape(2, 3, 4)


def test_slices_of_every_kind_are_views():
    def views(x):
        return x[::-1], x[:, ::2], x[..., -1], x[None], x[1:, -2:], x[-1, :1], x[:, np.newaxis, 1], x[...], x[0][1:]

    check(views, *[call(matrix) for matrix in layouts(np.arange(12.0).reshape(3, 4))])


def test_slices_of_slices_clamp_at_every_step():
    def chain(x, i, j):
        return (
            x[i : i + 4][j : j + 1],
            x[::-1][1:3],
            x[5:][::-1],
            x[-3:][:10],
            x[::2][::-2],
            x[20:30],
            x[-100:2],
            x[7:2:-2][1:],
            x[3:3],
            x[i:j:-1],
        )

    check(
        chain,
        *[call(np.arange(10.0), i, j) for i, j in ((0, 0), (9, 0), (3, 5), (6, 1), (-2, 0), (-4, 3), (100, -100))],
    )


def test_slices_with_computed_bounds():
    def window(x, offset):
        left = x[: -1 + offset or None]
        middle = x[slice(offset, None, 2)]
        bounds = tuple(slice(0, size - offset) for size in x.shape)
        return left, middle, x[bounds], x[offset:][: len(x) // 2]

    check(
        window, call(np.arange(6), 1), call(np.arange(6), 2), call(CUBE, 1), call(np.zeros((0, 2)), 0), call(CUBE, -1)
    )


def test_a_slice_step_of_zero_and_wrong_indices_raise():
    def pick(x, index):
        return x[index]

    check(
        pick,
        *[
            call(CUBE, index)
            for index in (
                slice(None, None, 0),
                5,
                -3,
                (0, 0, 0, 0),
                "name",
                1.0,
                (slice(None), 7),
                None,
                (1, ..., 2),
                True,
                np.int8(1),
                np.uint64(1),
                [1, 0],
                ([0, 1], [2, 0]),
                np.array([[0], [1]]),
                np.array(1),
                [],
                [2],
                np.ones(2, bool),
                np.ones(3, bool),
                CUBE > 5,
            )
        ],
    )


def test_elements_are_numpy_scalars():
    def elements(x):
        return x[0], x[-1], type(x[0]).__name__, x[0] + 1, x.flat[1], x.item(0), x[()] is x, x[1, ...]

    check(elements, *[call(np.array([3, 5]).astype(dtype)) for dtype in ("i1", "f4", "f8", "c8", "?", "O", ">f8")])


def test_slice_assignment_writes_the_caller_s_array():
    def assign(x, value):
        x[1:-1] = value
        x[::2] += 1
        x[-1] = x[0]
        x[:0] = 2
        x[5:2] *= 3
        return x

    check(
        assign,
        call(np.zeros(5), 7),
        call(np.zeros(5), np.arange(3)),
        call(np.zeros(5), [1, 2, 3]),
        call(np.zeros(5), np.arange(2)),
        call(np.zeros(5, "i1"), 300),
        call(np.zeros(5, "i4"), 2.75),
        call(np.zeros((5, 2))[:, 1], 3),
        call(np.zeros(5)[::-1], np.arange(3.0)),
        call(read_only(np.zeros(5)), 1),
        call(np.zeros(5), 1j),
        call(np.zeros((5, 2)), np.array([[1], [2], [3]])),
    )


def test_chained_and_tuple_stores():
    def store(x, y):
        x[1:, 0] = x[0, 1:] = y
        x[1, 1], y[0] = y[-1], x[0, 0]
        first, x[2, 2] = x[0, 1], 99
        return first

    check(store, call(np.zeros((3, 3)), np.array([4.0, 5.0])), call(np.zeros((3, 3), "i2"), np.array([4, 5])))


def test_augmented_assignment_of_elements_and_slices():
    def bump(x, i):
        x[i] += 10
        x[1:] -= x[:-1]
        x[i, ...] *= 2
        x[i : i + 2] **= 2
        x[[0, 0]] += 1
        return x

    check(bump, call(np.arange(5), 1), call(np.arange(4.0), -1), call(np.ones((3, 2)), 0), call(np.arange(3), 7))


def test_the_index_is_evaluated_once():
    def bump(x, order):
        def index():
            order.append("index")
            return 1

        x[index()] += len(order)
        return x, order

    check(bump, call(np.zeros(3), []), call([0, 0, 0], []))


def test_rows_swap_through_integer_arrays_but_not_through_views():
    def swap(x):
        x[[0, 1]] = x[[1, 0]]
        y = x.copy()
        y[0], y[1] = y[1], y[0]
        return x, y

    check(swap, call(np.array([[1, 2], [3, 4]])), call(np.array([1.0, 2.0, 3.0])))


def test_repeated_indices_in_an_assignment_keep_the_last_value():
    def scatter(x, index, values):
        x[index] = values
        return x

    check(
        scatter,
        call(np.arange(5), np.array([0, 1, 0, 1]), np.array([2, 3, 4, 5])),
        call(np.zeros(4), np.array([-1, 3, 0, -4]), np.array([1.0, 2, 3, 4])),
        call(np.zeros(3), [0, 0], 5.0),
        call(np.zeros(3), [0, 7], 5.0),
        call(np.zeros((2, 3)), ([0, 1], [2, 2]), [8, 9]),
    )


def test_ufunc_at_sums_repeated_indices():
    def scatter(x, index, values):
        np.add.at(x, index, values)
        np.maximum.at(x, index, 1)
        x[index] += values
        return x

    check(scatter, call(np.zeros(3), np.array([0, 0, 2]), 1.5), call(np.zeros((2, 2)), (np.array([0, 0]), 1), 1))


def test_boolean_masks_select_and_assign():
    def mask(x, limit):
        small = x < limit
        x[small] = limit
        x[~small] *= 2
        x[small & (x > 100)] = -1
        return x[small], x[x > limit], x[small].size, np.flatnonzero(small)

    check(
        mask,
        call(np.arange(6.0), 3),
        call(np.arange(6).reshape(2, 3), 2),
        call(np.array([np.nan, 1.0]), 2),
        call(np.zeros(0), 1),
        call(np.arange(6, dtype="i1")[::-2], 3),
    )


def test_masks_with_other_indices():
    def mixed(x, y):
        flags = x[..., 0] < 0
        x[flags, 1] = 9
        x[~flags, 0] *= 2
        y[0, True] = 2
        return x[flags], x[:, None, :, 1], y[..., None], flags, y[False]

    check(mixed, call(np.arange(-6.0, 6).reshape(2, 3, 2), np.ones((1, 1))))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8"])
def test_index_arrays_of_any_integer_dtype(dtype):
    def gather(x, index):
        return x[index], x.take(index), x.reshape(-1, 2)[index // 2, index % 2], np.take(x, index, mode="wrap")

    check(gather, call(np.arange(300), np.array([120, 0, 7], dtype)), call(np.arange(300.0), np.array(3, dtype)[()]))


def test_index_arrays_with_values_above_127():
    def gather(x, index):
        return x[index], x.take(index)

    check(gather, call(np.arange(300), np.array([200, 255], "u1")), call(np.arange(300), np.array([127, -1], "i1")))


def test_put_take_along_axis_and_ix():
    def several(x, index):
        np.put(x, [0, -1], [50, 60])
        order = np.argsort(x, axis=-1)
        return (
            np.take_along_axis(x, order, -1),
            x[np.ix_([1, 0], [0, 2])],
            np.take(x, index, axis=1),
            x[np.nonzero(x > 3)],
        )

    check(several, call(np.arange(6).reshape(2, 3), [0, 2]), call(np.arange(6.0).reshape(2, 3) - 2, 1))


def test_writing_while_iterating():
    def running(x):
        for index in range(1, len(x)):
            x[index] = x[index] + x[index - 1]
        for row in x[1:]:
            row *= 2
        return x

    check(running, call(np.array([[1, 2], [3, 4], [5, 6]])), call(np.array([1, 2, 3])), call(np.zeros((0, 2))))


def test_rows_are_views_that_can_be_written():
    def fill(x):
        for index, row in enumerate(x):
            row[:] = index
            row[0] += 5
        return x

    check(fill, call(np.zeros((3, 2))), call(np.zeros((2, 2, 2), "i2")), call(np.zeros((3, 2)).T))


def test_shapes_that_depend_on_data():
    def inspect(x):
        (places,) = np.nonzero(x)
        values, counts = np.unique(x, return_counts=True)
        return places, values, counts, x[x > x.mean()], len(places), np.argwhere(x > 2), np.where(x > 1)

    check(inspect, call(np.array([0, 3, 3, 0, 7])), call(np.array([0.0, 0.0])), call(np.array([1.5, -1])))


def test_shape_may_be_assigned():
    def reshape(x):
        x.shape = (2, -1)
        y = x.copy()
        y.shape = (y.size,)
        return x.shape, y

    check(reshape, call(np.arange(6)), call(np.arange(4.0)))


def test_views_made_by_functions():
    def views(x):
        return (
            x.T,
            x.reshape(-1),
            x.ravel(),
            np.swapaxes(x, 0, 1),
            np.moveaxis(x, 0, -1),
            np.expand_dims(x, 1),
            np.squeeze(x[:1]),
            x.transpose(1, 0),
            np.flip(x, 1),
            np.rot90(x),
            x.diagonal(),
            np.broadcast_to(x, (2, *x.shape)),
            np.atleast_2d(x[0]),
            x.flatten(),
            x.view(),
            np.lib.stride_tricks.sliding_window_view(x[0], 2),
        )

    check(views, *[call(matrix) for matrix in layouts(np.arange(12.0).reshape(3, 4))])


def test_setting_and_deleting_on_arrays_that_refuse():
    def refuse(x, kind):
        if kind == 0:
            del x[0]
        elif kind == 1:
            x["name"] = 1
        elif kind == 2:
            x.missing = 1
        else:
            x[0][0] = 1
        return x

    check(refuse, *[call(np.ones(3), kind) for kind in range(4)])
