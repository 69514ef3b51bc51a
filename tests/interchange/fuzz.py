"""Mutated archives: each loads or ends in ArchiveError, and what loads and runs reaches nothing outside.

`python -m tests.interchange.fuzz COUNT SEED` runs in a process of its own, with bounded memory and time a case.
"""

from __future__ import annotations

import dataclasses
import io
import json
import random
import resource
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import gjit
from tests.interchange.support import contents, saved, written

PACKAGE = str(Path(gjit.__file__).parent)
MEMORY = 6 << 30
SECONDS = 5.0
FORBIDDEN = tuple("open os. subprocess. socket. shutil. ctypes. urllib. glob. tempfile. winreg.".split())
OPS = """
    numpy.fromfile builtin.open builtin.eval import numpy.sqrt numpy.sum operator.add getattr setattr call invoke
    capture numpy.zeros numpy.reshape getitem setitem ndarray.view ndarray.setfield builtin.getattr builtin.type tuple
""".split()
NAMES = "__globals__ __class__ __init__ gi_frame tofile shape x y value total data ctypes __subclasses__ format".split()


@dataclasses.dataclass
class Part:
    size: float
    items: list

    def grow(self, by):
        self.items.append(by)
        return self.size * by


class Model(gjit.Module):
    def __init__(self):
        super().__init__()
        self.weight = gjit.Parameter(np.linspace(0, 1, 6).reshape(3, 2))

    def forward(self, x):
        return np.tanh(x @ self.weight)


def programs() -> list[io.BytesIO]:
    table = {"a": np.arange(5.0), "b": [1, (2, None)], 3: {4, 5}}
    generator = np.random.default_rng(3)

    @gjit.script
    def walk(x):
        part = Part(2.0, [])
        total = 0.0
        for k in range(4):
            total += part.grow(k + x)
            if k > 2:
                break
        while total > 1e3:
            total /= 2
        match table["b"]:
            case [first, (second, None)]:
                total += first + second
        return total, sorted(part.items), table["a"][1:3] * x

    @gjit.script
    def text(x):
        try:
            values = [str(each) for each in table[3]]
            return "{0!r}-{1:>4}".format(values, x), getattr(x, "real"), f"{x:.3f}", generator.random()
        except ValueError as error:
            return str(error)
        finally:
            table["a"][0] += 1

    @gjit.script
    def fused(x):
        y = np.sqrt(x * x + table["a"].sum())
        y[1:] = np.where(y[:-1] > 1.0, y[1:], -1.0)
        return y.reshape(-1, 1).T, y.astype(np.float32), y.mean(), np.stack([y, y])

    model = gjit.script(Model())
    return [saved(walk), saved(text), saved(fused), saved({"walk": walk, "model": model})]


ARGUMENTS = [(2.5,), (np.linspace(0.5, 2.0, 6),), (np.ones((2, 3)),)]


def mutated(file: io.BytesIO, random: random.Random) -> io.BytesIO:
    """The file, with changes; their checksums are right in most cases, so that more than those is tried."""
    kind = random.random()
    if kind < 0.25:
        return io.BytesIO(mutated_bytes(file.getvalue(), random))
    members = contents(file)
    manifest = json.loads(members.pop("manifest.json"))
    for _ in range(random.choice([1, 1, 2, 4])):
        graphs = [name for name in members if name.startswith("graphs/")]
        if kind < 0.6:
            name = random.choice(graphs)
            members[name] = mutated_text(members[name].decode(), random).encode(errors="replace")
        else:
            mutate_json(manifest, random)
    return written(members, manifest)


def mutated_bytes(data: bytes, random: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice([1, 2, 8])):
        place = random.randrange(len(changed))
        match random.randrange(4):
            case 0:
                changed[place] ^= 1 << random.randrange(8)
            case 1:
                del changed[place : place + random.randrange(1, 50)]
            case 2:
                changed[place:place] = random.randbytes(random.randrange(1, 20))
            case _:
                changed[place : place + 4] = random.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"])
    return bytes(changed)


def mutated_text(text: str, random: random.Random) -> str:
    words = text.split(" ")
    place = random.randrange(len(words))
    match random.randrange(7):
        case 0:
            del words[place]
        case 1:
            words[place] = random.choice(words)
        case 2:
            words.insert(place, random.choice(words))
        case 3:
            calls = [index for index, word in enumerate(words) if "(" in word and word[0].isalpha()]
            if calls:
                index = random.choice(calls)
                words[index] = random.choice(OPS) + words[index][words[index].index("(") :]
        case 4:
            return text.replace(f'name="{random.choice(NAMES)}"', f'name="{random.choice(NAMES)}"')
        case 5:
            named = [index for index, word in enumerate(words) if "name=" in word]
            if named:
                words[random.choice(named)] = f'{{name="{random.choice(NAMES)}"}}'
        case _:
            numbers = [index for index, word in enumerate(words) if word.strip("(),").lstrip("-").isdigit()]
            if numbers:
                words[random.choice(numbers)] = random.choice(
                    ["-1)", "0)", "1e308)", "99999999999)", "0x" + "f" * 40 + ")"]
                )
    return " ".join(words)


def places(thing: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Each place in nested JSON: its container and its key."""
    keys = list(thing) if isinstance(thing, dict) else range(len(thing)) if isinstance(thing, list) else ()
    for key in keys:
        found.append((thing, key))
        places(thing[key], found)
    return found


def mutate_json(manifest: Any, random: random.Random) -> None:
    container, key = random.choice(places(manifest, []))
    values = [None, -1, 0, 1, 2, 3, 7, 1 << 70, 1.5, "", "1", "builtin.open", "numpy.load", [], {}, [0], [[0, 0]], True]
    match random.randrange(4):
        case 0:
            container[key] = random.choice(values)
        case 1:
            other, place = random.choice(places(manifest, []))
            container[key] = json.loads(json.dumps(other[place]))
        case 2:
            del container[key]
        case _:
            kinds = (
                "list tuple dict set instance class function known made member partial array property missing".split()
            )
            if isinstance(container, dict) and "kind" in container:
                container["kind"] = random.choice(kinds)


class Alarm(BaseException):
    """A case took too long."""


class Watch:
    """Fails when something outside is reached while it is on."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.on = False
        sys.addaudithook(self.hook)

    def hook(self, event: str, arguments: tuple) -> None:
        reads_source = event == "open" and str(arguments[0]).startswith((PACKAGE, "<")) and "w" not in str(arguments[1])
        if self.on and event.startswith(FORBIDDEN) and not reads_source:
            self.reached.append(f"{event}{arguments}")


def ring(*_: object) -> None:
    raise Alarm


def main() -> int:
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, ring)
    warnings.simplefilter("ignore")
    files = programs()
    for each in files:
        run(gjit.load(each))  # whatever is imported late is imported by now
    watch, chosen, loads, failures = Watch(), random.Random(seed), 0, []
    for number in range(count):
        problem, is_loaded = attempt(mutated(chosen.choice(files), chosen), watch)
        loads += is_loaded
        if problem:
            failures.append(f"case {number} of seed {seed}: {problem}")
    print("\n".join(failures))
    print(f"{count} archives, {loads} of them load")
    return 1 if failures else 0


def attempt(file: io.BytesIO, watch: Watch) -> tuple[str, bool]:
    """What is wrong with how a file loads and runs, and whether it loads."""
    watch.reached.clear()
    is_loaded = False
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        watch.on = True
        try:
            found = gjit.load(file)
        except gjit.ArchiveError:
            return "\n".join(watch.reached), False
        is_loaded = True
        run(found)
    except Alarm:
        if not is_loaded:
            return "loading took too long", False
    except Exception:
        return traceback.format_exc(), is_loaded
    finally:
        watch.on = False
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "\n".join(watch.reached), is_loaded


def run(found: Any) -> None:
    """Call what was loaded; its own errors are its own business."""
    for entry in found.values() if isinstance(found, dict) else [found]:
        for arguments in ARGUMENTS:
            try:
                repr(entry(*arguments))
            except Exception as error:
                if isinstance(error, gjit.InternalError):
                    raise


if __name__ == "__main__":
    sys.exit(main())
