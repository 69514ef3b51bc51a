from __future__ import annotations

import collections

import numpy as np

from tests.semantics.support import call, check


def test_methods_of_lists():
    def methods(items):
        other = items.copy()
        other.append(4)
        other.extend((5, 6))
        other.insert(0, 9)
        other.remove(1)
        last, first = other.pop(), other.pop(0)
        other.reverse()
        other.sort(reverse=True)
        return other, last, first, other.index(3), other.count(2), len(other), 5 in other, 77 not in other, other * 2

    check(methods, call([3, 1, 2]), call([1]), call([2, 1, 3, 2]))


def test_a_list_argument_is_the_caller_s_list():
    def mutate(items):
        items.append(len(items))
        items[0] = -1
        items += [7]
        items *= 2
        items.insert(1, items[-1])
        return items

    check(mutate, call([5, 6]), call([0.5]), call([]), calls=2)


def test_slices_of_lists_are_assigned_and_deleted():
    def reshape(items):
        items[1:3] = [9, 9, 9]
        del items[0]
        del items[-2:]
        items[::2] = [0] * len(items[::2])
        return items, items[::-1], items * 2, [0] + items, items[5:], items[-1:]

    check(reshape, call([1, 2, 3, 4]), call([1, 2, 3]), call([1]))


def test_slices_of_lists_that_do_not_fit_raise():
    def assign(items, values):
        items[::2] = values
        return items

    check(assign, call([1, 2, 3], [7, 8]), call([1, 2, 3], [7]), call([1, 2, 3], 5))


def test_one_list_in_two_places():
    def grid(size):
        row = [0] * size
        rows = [row] * 2
        rows[0][0] = 7
        copies = [list(row) for _ in range(2)]
        copies[0][0] = 1
        return rows, copies, rows[0] is rows[1], copies[0] is copies[1], [[]] * 3

    check(grid, call(2), call(1))


def test_arrays_collected_in_a_list():
    def collect(x, count):
        kept = []
        for index in range(count):
            x = x - 1 if index % 2 else x + 2
            kept.append(x)
        return np.stack(kept), len(kept), np.array(kept).sum(), kept

    check(collect, call(np.array([1.0]), 3), call(np.ones((2, 2), "f4"), 2), call(2.0, 1), call(np.zeros(1), 0))


def test_values_of_many_types_in_one_list():
    def measure(x):
        items = [1, 2.5, "text", None, x, (1, 2), True]
        score = 0
        for item in items:
            if isinstance(item, str):
                score += 100
            elif item is None:
                score += 10
            elif isinstance(item, np.ndarray):
                score += int(item.sum())
            elif isinstance(item, (int, float)) and not isinstance(item, bool):
                score += item
        return score, len(items), [type(item).__name__ for item in items]

    check(measure, call(np.array([1, 2])), call(np.zeros((2, 2))), call(3))


def test_comprehensions_of_every_kind():
    def comprehend(count):
        index = "kept"
        squares = [index * index for index in range(count) if index % 2]
        pairs = [(a, b) for a in range(2) for b in range(count) if a != b if b < 3]
        table = {key: key * key for key in range(count)}
        unique = sorted({value % 2 for value in range(count)})
        nested = [[a + b for b in range(2)] for a in range(2)]
        total = sum(value for value in range(count))
        return squares, pairs, table, unique, nested, total, index

    check(comprehend, call(4), call(0), call(1))


def test_comprehensions_see_the_names_around_them():
    def scale(values, factor):
        shifted = [value * factor + len(values) for value in values]
        makers = [lambda extra: extra + factor for _ in range(2)]
        late = [lambda: index for index in range(3)]
        return shifted, [maker(1) for maker in makers], [function() for function in late]

    check(scale, call([1, 2], 3), call(np.array([1.0, 2.0]), 0.5), call((), 1))


def test_generator_expressions_that_are_consumed_in_place():
    def consume(values, limit):
        rows = (value * 2 for value in values)
        first = next(rows, None)
        bounds = tuple(slice(0, size) for size in (limit, limit))
        return (
            first,
            list(rows),
            any(value > limit for value in values),
            all(value for value in values),
            max((value for value in values), default=None),
            dict((value, 1) for value in range(limit)),
            np.ones((3, 3))[bounds],
        )

    check(consume, call([1, 2, 3], 2), call([], 1), call(np.array([0.5, 4.0]), 0))


def test_dictionaries():
    def use(table, key):
        table.setdefault("list", []).append(key)
        table["count"] = table.get("count", 0) + 1
        table.update(extra=1, **{"more": 2})
        removed = table.pop("extra")
        merged = {**table, "last": key} | {key: "own"}
        merged.pop("missing", None)
        del merged["count"]
        return (
            list(table),
            list(merged.items()),
            removed,
            key in table,
            len(merged),
            [*merged.values()],
            dict(zip("ab", (1, 2))),
        )

    check(use, call({}, "k"), call({"count": 3, "list": [0]}, 5), call(collections.OrderedDict(a=1), None))


def test_missing_keys_raise():
    def read(table, key):
        return table[key]

    check(
        read,
        call({"a": 1}, "a"),
        call({}, "zz"),
        call({1: 2}, 1.0),
        call({}, []),
        call(collections.defaultdict(list), 3),
    )


def test_keys_of_many_types():
    def keys(x):
        table = {}
        table[(1, 2)] = x
        table[3] = x + 1
        table[None] = 0
        table[3.0] = x + 2
        table[True] = "true"
        table[1] = "one"
        return table, len(table), table[(1, 2)], list(table)[0], table | {3: 5}

    check(keys, call(1), call(np.float32(1)), call(0.5))


def test_dictionary_changed_while_iterating_raises():
    def grow(table):
        for key in table:
            table[key + 1] = 0
        return table

    check(grow, call({1: 0}), call({}))


def test_sets():
    def unique(items):
        seen = set()
        order = []
        for item in items:
            if item not in seen:
                seen.add(item)
                order.append(item)
        seen |= {100}
        seen.discard(2)
        return order, sorted(seen), seen & {1, 100}, {1} < {1, 2}, seen ^ {1}, frozenset(order), len(seen - {100})

    check(unique, call([2, 1, 2, 3]), call([]), call((0.5, 1, True)))


def test_unpacking():
    def unpack(nested):
        a, (b, c), *rest = nested
        first, *middle, last = rest
        a, b = b, a
        [d, e] = first, last
        *heads, _ = nested
        return a, b, c, first, middle, last, d, e, heads

    check(
        unpack, call((1, (2, 3), 4, 5, 6, 7)), call((1, (2, 3), 4)), call([1, "xy", 3, 4]), call((1, 2, 3, 4)), call(5)
    )


def test_unpacking_arrays():
    def unpack(matrix):
        first, *others = matrix
        (a, b), c = matrix[:2], matrix[-1]
        x, y = matrix.shape
        return first, others, a, b, c, x, y

    check(unpack, call(np.arange(6.0).reshape(3, 2)), call(np.ones((2, 2, 2))), call(np.ones((1, 2))))


def test_displays_with_spreads():
    def spread(items, table):
        return [*items, 0, *items], (*items,), {*items, 9}, {**table, "k": 1, **table}, [*"ab", *range(2)]

    check(spread, call([1, 2], {"a": 1}), call((), {}), call(np.array([1, 2]), {"k": 5}))


def test_operations_of_tuples():
    def operate(pair, index):
        return (
            pair[index],
            pair[1:],
            pair[::-1],
            pair + (9,),
            pair * 2,
            pair < (1, 3),
            pair == (1, 2.0),
            2.0 in pair,
            len(pair),
            tuple([1, 2]),
            pair.count(1),
            hash(pair) == hash((1, 2)),
        )

    check(operate, call((1, 2.0), -1), call((1, 2), 0), call((1, 2), 5))


def test_zip_enumerate_reversed_map_and_filter():
    def iterate(a, b):
        lines = []
        for index, (left, right) in enumerate(zip(a, b), 5):
            lines.append((index, left, right))
        for left in reversed(a):
            lines.append(left)
        for pair in zip(a, a[1:], b):
            lines.append(pair)
        return (
            lines,
            list(map(len, b)),
            list(filter(None, [0, 1, 2])),
            list(map(lambda x, y: (x, y), a, b)),
            sorted(b, key=len),
        )

    check(iterate, call([1, 2, 3], ["p", "qq"]), call([], []), call(np.array([1.5, 2.5]), ["aa", "b"]))


def test_zip_strict_raises():
    def strict(a, b):
        return [pair for pair in zip(a, b, strict=True)]

    check(strict, call([1], [2]), call([1, 2], [2]))


def test_nested_containers_are_reached_by_mutation():
    def mutate(pair, a, b, table):
        pair[0].append(2)
        a.append(9)
        table["n"] = table.get("n", 0) + len(b)
        table["a"] = a
        table["a"].append(10)
        pair[1]["x"] += 1
        return len(a), len(b), a is b

    shared = [1]
    check(
        mutate,
        call(([0], {"x": np.zeros(2)}), shared, shared, {}),
        call(([], {"x": np.ones(1)}), [1], [2, 3], {"n": 5}),
    )


def test_a_container_that_holds_itself():
    def knot(items):
        items.append(items)
        table = {"self": None}
        table["self"] = table
        return items[-1] is items, table

    check(knot, call([1]))


def test_named_tuples():
    class Point(collections.namedtuple("Point", "x y", defaults=[2.0])):
        def swap(self):
            return self._replace(x=self.y, y=self.x)

    def use(point, x):
        other = Point(point.y * x)
        a, b = point.swap()
        return other, a + b, Point(y=1.0, x=5.0).x, point._fields, point._asdict(), point == (1.0, 3.0), point[0]

    check(use, call(Point(1.0, 3.0), 2), call(Point(np.ones(2)), np.ones(2)))


def test_collections_of_the_standard_library():
    def use(words):
        counts = collections.Counter(words)
        queue = collections.deque(words, maxlen=3)
        queue.appendleft("first")
        groups = collections.defaultdict(list)
        for word in words:
            groups[len(word)].append(word)
        return counts.most_common(1), queue, groups, sorted(groups)

    check(use, call(["a", "bb", "a"]), call([]), host_calls=0)
