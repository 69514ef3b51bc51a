"""Files that were damaged, or made to do harm, end in a clear error: nothing runs, nothing is written."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import gjit
from gjit.interchange.archive.container import Writer
from tests.interchange.support import contents, rewritten, saved, written

WEIGHTS = np.arange(6.0).reshape(2, 3)
ROOT = Path(__file__).parent.parent.parent


class Box:
    def __init__(self, value):
        self.value = value

    def twice(self):
        return 2 * self.value


@pytest.fixture(scope="module")
def file():
    box = Box([1.0, {"a": WEIGHTS}])

    @gjit.script
    def program(x, name="value"):
        total = 0.0
        for row in WEIGHTS:
            if row.sum() > x:
                total = total + row[0]
        match x:
            case Box(value=inner):
                return inner
        return total, box.value, getattr(box, name), Box(x).twice(), "{}".format(x)

    return saved(program)


def refused(file, match=None):
    with pytest.raises(gjit.ArchiveError, match=match):
        gjit.load(file)


def test_the_file_itself_loads(file):
    assert gjit.load(file)(2.0)[0] == 3.0
    assert gjit.load(rewritten(file, {}))(2.0)[0] == 3.0


def test_what_is_no_archive(tmp_path):
    for data in (b"", b"PK", b"hello" * 100, b"PK\x05\x06" + bytes(18)):
        refused(io.BytesIO(data))
        path = tmp_path / "file"
        path.write_bytes(data)
        refused(path)
    with pytest.raises(FileNotFoundError):
        gjit.load(tmp_path / "nothing")


def test_every_truncation_is_noticed(file):
    data = file.getvalue()
    for length in [*range(0, len(data), 37), len(data) - 1]:
        refused(io.BytesIO(data[:length]))


def test_every_flipped_bit_that_matters_is_noticed(file):
    data = file.getvalue()
    expected = repr(gjit.load(file)(2.0))
    for place in range(0, len(data), 11):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        try:
            found = gjit.load(io.BytesIO(bytes(changed)))
        except gjit.ArchiveError:
            continue
        assert repr(found(2.0)) == expected  # a bit of the zip's own that says nothing


def with_members(*names, flags=None, data=b"x"):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            if flags:
                flags(info)
            archive.writestr(info, data)
    return file


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "extra/../../up", "extra//a", "c:/x", "graphs/x", "a\\b", ""])
def test_names_that_lead_elsewhere(name):
    refused(with_members(name), "name that no archive has|no archive")


def test_links_compression_encryption_and_twins():
    def link(info):
        info.external_attr = 0o120777 << 16

    def packed(info):
        info.compress_type = zipfile.ZIP_DEFLATED

    refused(with_members("manifest.json", flags=link), "no plain file")
    refused(with_members("manifest.json", flags=packed, data=bytes(1 << 20)), "not stored as it is")
    with pytest.warns(UserWarning, match="Duplicate"):
        file = with_members("manifest.json", "manifest.json")
    refused(file, "twice")
    data = bytearray(with_members("manifest.json").getvalue())
    data[data.index(b"PK\1\2") + 8] |= 1
    refused(io.BytesIO(bytes(data)), "not stored")


def test_members_that_share_bytes_or_lie_outside(file):
    data = bytearray(file.getvalue())
    entries = [place for place in range(len(data)) if data[place : place + 4] == b"PK\1\2"]
    first, second = entries[:2]
    other = bytearray(data)
    other[second + 42 : second + 46] = data[first + 42 : first + 46]
    refused(io.BytesIO(bytes(other)))
    other = bytearray(data)
    other[first + 20 : first + 28] = (1 << 31).to_bytes(4, "little") * 2
    refused(io.BytesIO(bytes(other)))


def test_manifests_that_make_no_sense(file):
    members = {name: data for name, data in contents(file).items() if name != "manifest.json"}
    for manifest in (b"", b"[]", b"{", b"[" * 100_000, b"\xff", {"format": 1}, {"format": "1"}):
        refused(written(members, manifest))
    refused(rewritten(file, {}, lambda manifest: manifest.update(format=99)), "newer gjit")
    for key in ("objects", "entries", "buffers", "members", "ops"):
        for value in (None, 3, "x", [3], {"": 10**9}, {"": -1}):
            refused(rewritten(file, {}, lambda manifest, key=key, value=value: manifest.update({key: value})))


def test_missing_and_additional_members(file):
    refused(rewritten(file, {"graphs/0": None}), "missing|not those that the manifest lists")
    refused(rewritten(file, {"graphs/9": b"x"}), "not those that the manifest lists")


def record_of(manifest, kind):
    return next(record for record in manifest["objects"] if record.get("kind") == kind)


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [1 << 62, 1 << 62]},
        {"shape": [-1, 3]},
        {"shape": [2, 4]},
        {"strides": [1 << 62, 8]},
        {"strides": [-24, 8]},
        {"offset": -8},
        {"offset": 1 << 40},
        {"offset": True},
        {"buffer": 7},
        {"dtype": "object"},
        {"dtype": "'O'"},
        {"dtype": 'struct(8, False, ("a", object, 0))'},
        {"dtype": "no"},
        {"shape": [1] * 65, "strides": [0] * 65},
        {"shape": None},
    ],
    ids=str,
)
def test_arrays_that_reach_outside_their_buffer(file, change):
    refused(rewritten(file, {}, lambda manifest: record_of(manifest, "array").update(change)))


def test_objects_that_hold_themselves_or_nest_without_end(file):
    def cycle(manifest):
        manifest["objects"].append({"kind": "tuple", "items": [len(manifest["objects"])]})
        manifest["entries"] = {"": len(manifest["objects"]) - 1}

    def deep(manifest):
        start = len(manifest["objects"])
        manifest["objects"] += [{"kind": "tuple", "items": [start + k + 1]} for k in range(100_000)]
        manifest["objects"].append({"kind": "tuple", "items": []})
        manifest["entries"] = {"": start}

    refused(rewritten(file, {}, cycle), "hold each other")
    refused(rewritten(file, {}, deep), "too deeply|recursion")


def test_values_of_another_kind_than_they_should_have(file):
    def confuse(found, **changes):
        return rewritten(file, {}, lambda manifest: record_of(manifest, found).update(changes))

    for changed in (
        confuse("class", bases=["3"]),
        confuse("class", bases=["builtin.bool"]),
        confuse("class", name="a b"),
        confuse("class", members=[["__reduce__", "1"]]),
        confuse("class", members=[["__class__ = 3", "1"]]),
        confuse("instance", **{"class": "1"}),
        confuse("instance", state=[["__class__", "1"]]),
        confuse("instance", state=[["__dict__", "1"]]),
        confuse("function", graph="0"),
        confuse("function", graph=99),
        confuse("function", captures=[]),
        confuse("list", items=3),
        confuse("dict", items=[[0]]),
        confuse("dict", items=[["[]", "1"]]),
        confuse("dict", kind="module", name="os"),
        confuse("dict", kind="known", name="os.system"),
        confuse("dict", kind="bit generator", name="__import__"),
        confuse("dict", kind="made", by="builtin.eval", of=["1"]),
        confuse("dict", kind="nothing"),
    ):
        refused(changed)


@pytest.mark.parametrize(
    "name",
    [
        "builtin.eval",
        "builtin.exec",
        "builtin.open",
        "builtin.__import__",
        "builtin.globals",
        "builtin.compile",
        "builtin.input",
        "builtin.breakpoint",
        "numpy.load",
        "numpy.save",
        "numpy.fromfile",
        "numpy.memmap",
        "numpy.lib.stride_tricks.as_strided",
        "numpy.from_dlpack",
        "operator.attrgetter",
        "operator.methodcaller",
        "ndarray.tofile",
        "ndarray.dump",
        'named("os.system")',
    ],
)
def test_functions_that_reach_further(file, name):
    text = contents(file)["graphs/0"].decode()
    last = text.rindex("return")
    as_value = rewritten(file, {"graphs/0": f"{text[:last]}%z = call({name}, 'x') {text[last:]}".encode()})
    refused(as_value)
    if "(" not in name:
        as_op = rewritten(file, {"graphs/0": f"{text[:last]}%z = {name}('x') {text[last:]}".encode()})
        refused(as_op)
        library = f'%z = library("x") {{function="{name}"}} '
        refused(rewritten(file, {"graphs/0": (text[:last] + library + text[last:]).encode()}))


@pytest.mark.parametrize(
    "node",
    [
        '%z = getattr(%x) {name="__globals__"}',
        '%z = getattr(%x) {name="__class__ "}',
        '%z = getattr(%x) {name="gi_frame"}',
        '%z = getattr(%x) {name="ctypes"}',
        'setattr(%x, 1) {name="__class__"}',
        '%z = import() {module="os", name="", level=0}',
        '%z = import() {module="numpy", name="load", level=0}',
        '%z = import() {module="numpy", name="", level=1}',
        '%z = cell() {name="a=1;import os"}',
        '%z = call(%x, __import__("os")=1)',
        '%z = numpy.sqrt(%x, "a b"=1)',
        "%z = no_such_op(%x)",
        "%z = user.not_registered(%x)",
        "%z = region(%x) { body(%y) { yield %y } }",
        "%z = numpy.sqrt(%later)",
        "%z = numpy.sqrt(%z)",
        "%z, %w = numpy.sqrt(%x)",
        '%z = invoke(%x) {function="nowhere"}',
        "%z = capture() {slot=99}",
        "break",
        '%z = class() {name="A"} { body(%n, %c: cell) { class.store(%n, 1) {name="__reduce__"} yield } }',
        '%z = class() {name="A b"} { body(%n, %c: cell) { yield } }',
        'match(%x) {patterns=("_: pass\\n case y",)} { guard() { yield } body() { yield } otherwise() { yield } }',
        'match(%x) {patterns=("a.b",)} { guard() { yield } body() { yield } otherwise() { yield } }',
        'match(%x) {patterns=("_0(__globals__=g)",)} { guard() { yield } body() { yield } otherwise() { yield } }',
    ],
)
def test_nodes_that_are_none(file, node):
    text = contents(file)["graphs/0"].decode()
    last = text.rindex("return")
    refused(rewritten(file, {"graphs/0": f"{text[:last]}{node} {text[last:]}".encode()}))


def test_names_that_would_become_other_python(file):
    text = contents(file)["graphs/0"].decode()
    for old, new in (("%x", '%"x): import os #"'), ("%x", '%"class"'), ("%x", '%"__import__(1)"')):
        changed = rewritten(file, {"graphs/0": text.replace(old, new).encode()})
        try:
            found = gjit.load(changed)
        except gjit.ArchiveError:
            continue
        assert found(2.0)[0] == 3.0  # the names of values are made anew


def test_deep_and_huge_texts(file):
    started = time.monotonic()
    deep = "%a = if(%x) { then() { " * 20_000
    refused(rewritten(file, {"graphs/0": f"graph f(%x) {{ {deep}".encode()}))
    refused(rewritten(file, {"graphs/0": ("graph f(%x) { return " + "(" * 100_000).encode()}))
    refused(rewritten(file, {"graphs/0": b"graph f(%x) { return 0x" + b"f" * 1_000_000}))
    refused(rewritten(file, {"graphs/0": b"\xff\xfe"}))
    assert time.monotonic() - started < 60.0


def test_source_lines_that_are_none(file):
    name = next(name for name in contents(file) if name.startswith("sources/"))
    for data in (b"", b"[]", b"{}", json.dumps({"file": 3, "lines": []}).encode(), b"[" * 100_000):
        refused(rewritten(file, {name: data}))
    far = json.dumps({"file": "<a.py 000000000000>", "lines": {str(10**12): "x", "-1": "y"}}).encode()
    gjit.load(rewritten(file, {name: far}))
    real = json.dumps({"file": __file__, "lines": {"1": "evil"}}).encode()
    gjit.load(rewritten(file, {name: real}))
    import linecache

    assert "evil" not in linecache.getline(__file__, 1)


def test_a_changed_array_is_noticed_when_it_is_verified(tmp_path):
    path = tmp_path / "large.gjit"
    weights = np.zeros(1 << 21)
    gjit.save(gjit.script(lambda: weights), path)
    data = bytearray(path.read_bytes())
    data[1 << 20] ^= 1
    path.write_bytes(data)
    assert gjit.load(path)().any()
    with pytest.raises(gjit.ArchiveError, match="damaged"):
        gjit.load(path, verify=True)


def fuzz(count, seed):
    command = [sys.executable, "-m", "tests.interchange.fuzz", str(count), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=3600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert f"{count} archives" in done.stdout


def test_mutated_archives_end_with_clear_errors():
    fuzz(300, 1)


@pytest.mark.slow
def test_many_mutated_archives_end_with_clear_errors():
    for seed in range(2, 12):
        fuzz(1_000, seed)


def test_the_writer_gives_the_same_bytes_each_time():
    def make():
        file = io.BytesIO()
        writer = Writer(file)
        writer.add("graphs/0", b"text")
        writer.close()
        return file.getvalue()

    assert make() == make()
