"""A server for compiled functions on the standard library alone, with a load generator.

Each request runs on a thread of its own. The first requests of a new signature compile it, once, while others are
answered; a function is not locked, and gives the bits that NumPy gives.

`POST /name` takes the arguments and gives the result, as `.npy` bytes or as JSON:

    curl -d '[[1, 2, 3], [2, 0, 1]]' -H 'Content-Type: application/json' localhost:8000/distances

Run: python examples/serve.py [port], or `python examples/serve.py load` for a server under load.
"""

from __future__ import annotations

import http.client
import io
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

import gjit

NPY, JSON = "application/x-npy", "application/json"
LARGEST = 64 << 20  # bytes of a request


@gjit.script
def distances(x, y):
    return np.sqrt(((x - y) ** 2).sum(axis=-1))


@gjit.script
def softmax(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


@gjit.script
def smooth(x, rounds):
    x = x.astype(np.float64)
    for _ in range(int(rounds)):
        x[1:-1] = 0.5 * x[1:-1] + 0.25 * (x[:-2] + x[2:])
    return x


FUNCTIONS = {"distances": distances, "softmax": softmax, "smooth": smooth}
PROGRAMS: list[tuple] = []  # nothing to compare at one size: the load generator does it


def read_arrays(body: bytes, kind: str) -> list[np.ndarray]:
    """The arguments of a request: a JSON list of them, or `.npy` files one after the other."""
    if kind == JSON:
        return [np.array(each) for each in json.loads(body)]
    file, arrays = io.BytesIO(body), []
    while file.tell() < len(body):
        arrays.append(np.load(file, allow_pickle=False))
    return arrays


def write_arrays(arrays: list, kind: str) -> bytes:
    if kind == JSON:
        return json.dumps([np.asarray(array).tolist() for array in arrays]).encode()
    file = io.BytesIO()
    for array in arrays:
        np.save(file, array, allow_pickle=False)
    return file.getvalue()


class Handler(BaseHTTPRequestHandler):
    """Answers one connection; `server.functions` are the functions by name."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Run a function."""
        kind = self.headers.get("Content-Type", NPY)
        function = self.server.functions.get(self.path.strip("/"))
        size = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(size) if size <= LARGEST else b""
        if function is None:
            return self.answer(404, b"there is no such function\n", "text/plain")
        if size > LARGEST:
            self.close_connection = True
            return self.answer(413, b"the request is too large\n", "text/plain")
        try:
            result = function(*read_arrays(body, kind))
        except Exception as error:  # the fault of the arguments: the client is told
            return self.answer(400, f"{type(error).__name__}: {error}\n".encode(), "text/plain")
        return self.answer(200, write_arrays([result], kind), kind)

    def answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing: a line for each request would be most of the work."""


class Server(ThreadingHTTPServer):
    """Serves functions by name on a port; 0 takes a free one."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, functions: dict, port: int = 0):
        super().__init__(("127.0.0.1", port), Handler)
        self.functions = functions

    def __enter__(self) -> Server:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        self.server_close()


def requests(count: int) -> list[tuple[str, list]]:
    """Random requests of many signatures."""
    random = np.random.default_rng(5)
    found: list[tuple[str, list]] = []
    for number in range(count):
        dtype = random.choice(["f4", "f8", "i4", "i8"])
        shape = tuple(random.integers(1, 40, size=number % 3 + 1))
        x = (random.normal(size=shape) * 10).astype(dtype)
        found.append([("distances", [x, x[::-1]]), ("softmax", [x]), ("smooth", [x, np.array(number % 5)])][number % 3])
    return found


def client(port: int, work: list[tuple[str, list]]) -> tuple[int, list[float]]:
    """Send requests over one connection: how many answers differ from NumPy's bits, and the seconds that each took."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    wrong, seconds = 0, []
    for name, arguments in work:
        begin = time.perf_counter()
        connection.request("POST", f"/{name}", write_arrays(arguments, NPY), {"Content-Type": NPY})
        response = connection.getresponse()
        body = response.read()
        seconds.append(time.perf_counter() - begin)
        expected = FUNCTIONS[name].__wrapped__(*arguments)
        wrong += response.status != 200 or body != write_arrays([expected], NPY)
    connection.close()
    return wrong, seconds


def load(port: int, clients: int, count: int) -> tuple[int, list[float]]:
    """Clients at the same time, each with requests in another order."""
    work = requests(count)
    orders = [work[start:] + work[:start] for start in range(0, count, max(count // clients, 1))][:clients]
    with ThreadPoolExecutor(clients) as pool:
        found = list(pool.map(lambda order: client(port, order), orders))
    return sum(wrong for wrong, _ in found), [second for _, seconds in found for second in seconds]


def main() -> None:
    if sys.argv[1:] == ["load"]:
        with Server(FUNCTIONS) as server:
            begin = time.perf_counter()
            wrong, seconds = load(server.server_port, clients=8, count=300)
            passed = time.perf_counter() - begin
        median, worst = np.percentile(seconds, [50, 99]) * 1e3
        print(f"{len(seconds)} answers in {passed:.1f} s, {wrong} wrong; {median:.1f} ms, 99% within {worst:.1f} ms")
        print("signatures compiled:", {name: len(f.signatures) for name, f in FUNCTIONS.items()})
        return
    server = Server(FUNCTIONS, int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
    print(f"serving {', '.join(FUNCTIONS)} on port {server.server_port}")
    server.serve_forever()


if __name__ == "__main__":
    main()
