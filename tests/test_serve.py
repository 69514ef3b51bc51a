"""The example server answers rightly under load, while its functions are compiled for the first time."""

from __future__ import annotations

import http.client
import json

import numpy as np

import gjit
from examples import serve


def fresh():
    """The functions, not compiled yet."""
    return {name: gjit.script(function.__wrapped__) for name, function in serve.FUNCTIONS.items()}


def test_every_answer_is_right_and_each_signature_is_compiled_once():
    functions = fresh()
    with serve.Server(functions) as server:
        wrong, seconds = serve.load(server.server_port, clients=6, count=48)
    assert wrong == 0
    assert len(seconds) == 6 * 48
    for name, function in functions.items():
        kinds = {
            tuple((argument.dtype, argument.ndim) for argument in arguments)
            for each, arguments in serve.requests(48)
            if each == name
        }
        assert function.statistics.signatures == len(kinds)
    assert sum(function.statistics.calls for function in functions.values()) == 6 * 48


def ask(port, path, body, kind=serve.JSON):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, body, {"Content-Type": kind})
    response = connection.getresponse()
    found = response.status, response.read()
    connection.close()
    return found


def test_json_errors_and_unknown_names():
    with serve.Server(fresh()) as server:
        port = server.server_port
        status, body = ask(port, "/distances", json.dumps([[[1.0, 2.0]], [[1.0, 4.0]]]))
        assert (status, json.loads(body)) == (200, [[2.0]])
        assert ask(port, "/nothing", "[]")[0] == 404
        assert ask(port, "/softmax", "[")[0] == 400
        assert ask(port, "/distances", json.dumps([[1, 2], [1, 2, 3]]))[1].startswith(b"ValueError")
        pickled = serve.write_arrays([np.ones(2)], serve.NPY).replace(b"'<f8'", b"'|O' ")
        assert ask(port, "/softmax", pickled, serve.NPY)[0] == 400
