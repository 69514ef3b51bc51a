"""What runs in the body of a class: names, control flow, annotations, exceptions."""

from __future__ import annotations

import numpy as np

from tests.semantics.support import call, check

LIMIT = 7
limit = "global"


class Recording(dict):
    def __init__(self):
        super().__init__(injected="from the namespace", limit="in the namespace")
        self.log = []

    def __setitem__(self, key, value):
        self.log.append(key)
        super().__setitem__(key, value)


class Prepared(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Recording()

    def __new__(mcs, name, bases, namespace):
        made = super().__new__(mcs, name, bases, dict(namespace))
        made.log = [key for key in namespace.log if key not in ("__module__", "__qualname__")]
        return made


def test_names_in_a_class_body():
    def run(x, flag):
        local = x + 1
        limit = "local"

        class Body:
            first = limit  # a local of the function: the class does not bind the name
            LIMIT = LIMIT  # not bound yet: the global
            inner = LIMIT + 1
            if flag:
                chosen = "yes"
            else:
                chosen = "no"
            squares = [i * i for i in range(3)]
            outer = [local for _ in range(2)]
            total = 0
            for index in range(4):
                if index == 2:
                    continue
                total += index
            else:
                ended = True
            while total > 2:
                total -= 1
            a, (b, *c) = 1, (2, 3, 4)
            try:
                missing = undefined_name
            except NameError as error:
                message = str(error)
            with np.errstate(all="ignore"):
                managed = np.float64(1.0) / 0
            temporary = 1
            del temporary
            text = f"{a}{b!r}"
            walrus = (named := 5) + named
            lam = staticmethod(lambda value: value + local)

            def limit_of(self):
                return limit, LIMIT

        names = [key for key in vars(Body) if not key.startswith("__")]
        found = [Body.first, Body.inner, Body.chosen, Body.squares, Body.outer, Body.total, Body.index, Body.ended]
        more = [Body.a, Body.b, Body.c, Body.message, Body.managed, Body.text, Body.walrus, Body.named, Body.lam(1)]
        return names, found, more, Body().limit_of()

    check(run, call(1, True), call(np.float32(2), False))


def test_a_name_that_the_class_binds_hides_the_local_from_its_body():
    def run():
        limit = "local"

        class Body:
            if False:
                limit = 1
            seen = limit  # the class binds the name, so this is the global

            def method(self):
                return limit

        return Body.seen, Body().method()

    check(run, call())


def test_nonlocal_and_global_in_a_class_body():
    def run(x):
        count = x
        limit = "local"

        class Body:
            nonlocal count
            global limit
            count += 1
            seen = count, limit

            def method(self):
                return limit

        return count, Body.seen, Body().method(), "count" in vars(Body)

    check(run, call(1), call(2.5))


def test_a_namespace_that_a_metaclass_prepares():
    def run(x):
        limit = "local"

        class Thing(metaclass=Prepared):
            seen = injected, limit, LIMIT, x  # noqa: F821
            part = x * 2
            part += 1
            array = np.arange(3) + part

            def method(self):
                return limit, x

        return Thing.log, Thing.seen, Thing.array, Thing().method()

    check(run, call(2), call(np.float32(3)))


def test_match_in_a_class_body():
    def run(x):
        class Body:
            match x:
                case {"a": value}:
                    kind = "mapping"
                case [first, *rest]:
                    kind = "sequence"
                case _:
                    kind = None

        return sorted(name for name in vars(Body) if not name.startswith("__")), Body.kind

    check(run, call({"a": 1}), call([1, 2]), call(5))


def test_guards_and_handlers_in_a_class_body():
    def run(x):
        class Body:
            kinds = (ValueError, KeyError)
            match x:
                case [first, *rest] if first > 1 and (size := len(rest)) < limit_of(rest):
                    found = first, size
                case [first, *_] if max(rest, default=0) > first:
                    found = "a later one is greater"
                case _:
                    found = None
            try:
                {}[1]
            except kinds[x is None :] as error:
                caught = repr(error)
            except (fallback := KeyError):
                caught = "fallback"

        return sorted((key, repr(value)) for key, value in vars(Body).items() if not key.startswith("__"))

    check(run, call([5, 1]), call([1, 2, 0]), call([1, 0]), call([]), call(None))


def limit_of(values):
    return len(values) + 1


def test_an_exception_in_a_class_body():
    def run(x):
        log = []
        try:

            class Broken:
                log.append("begin")
                value = 1 / x
                log.append("end")

        except ZeroDivisionError as error:
            return log, str(error)
        return log, Broken.value

    check(run, call(0), call(2))


def test_errors_leave_from_the_line_of_the_user():
    def run(x):
        class Broken:
            a = 1
            value = a / x

        return Broken

    check(run, call(0))


def test_an_imported_name_in_a_class_body():
    def run():
        class Body:
            import math
            from itertools import chain as linked

            root = math.sqrt(4)
            parts = list(linked([1], [2]))

        return Body.root, Body.parts, Body.math.pi

    check(run, call())


def test_annotations_are_evaluated_or_kept_as_text():
    def run():
        class Body:
            a: int
            b: undefined = 3  # noqa: F821
            (c): int = 4

            def method(self, x: missing, /) -> also_missing:  # noqa: F821
                y: nowhere = x  # noqa: F821
                return y

        def inner(a: int, b: "text" = 2) -> None:  # noqa: F821
            """Inner."""

        return (
            Body.__annotations__,
            Body.b,
            Body.c,
            Body().method(2),
            Body.method.__annotations__,
            inner.__annotations__,
            inner.__doc__,
        )

    check(run, call())


def test_private_names():
    def run(x):
        __private = x

        class _Owner:
            __value = __private_global = 3
            copied = __value

            def __init__(self, __argument=2):
                self.__field = __argument

            def get(self):
                __local = self.__field
                return [__local, self.__value, self._Owner__field]

            class __Nested:
                __value = 4

                def name(self):
                    return self.__value

            def nested(self):
                return self.__Nested().name(), self.__Nested.__name__, self.__Nested.__qualname__

        owner = _Owner(5)
        names = sorted(name for name in vars(_Owner) if not name.startswith("__"))
        return owner.get(), owner.nested(), names, sorted(vars(owner)), __private, hasattr(owner, "__field")

    check(run, call(1))


def test_names_and_documents():
    def run():
        class Outer:
            class Inner:
                """Inside."""

                def method(self, x: int, *args: str, key: float = 2.0, **rest: bytes) -> list[int]:
                    """Doc of the method."""

                def bare(self):
                    return 1

            def make(self):
                class Deep:
                    pass

                return Deep.__qualname__

        method = Outer.Inner.method
        return (
            [Outer.__qualname__, Outer.Inner.__qualname__, method.__qualname__, Outer().make()],
            [Outer.__module__ == method.__module__, Outer.__doc__, Outer.Inner.__doc__, method.__doc__],
            [method.__annotations__, method.__kwdefaults__, Outer.Inner.bare.__doc__, method.__name__],
            [key for key in vars(Outer.Inner) if key not in ("__dict__", "__weakref__")],
        )

    check(run, call())
