"""The main job: a program made of a traced function, a scripted function, a traced module and a scripted module.

The program itself is in `gjit/demo.py`, so that an installed gjit can run it too: `python -m gjit demo`. This file
shows how it is used.

Run: python examples/hybrid_frontend.py
"""

import numpy as np

import gjit
from gjit.demo import EXPECTED, Net, factorial


def factorial_arguments(size):
    # 20! is the last factorial that an int64 holds.
    return (np.array(min(size, 20)),)


PROGRAMS = [(factorial, factorial.__wrapped__, factorial_arguments)]


def main():
    net = Net()
    print("The scripted function keeps its loop:")
    print(factorial.graph)
    print("The traced module is straight-line code:")
    print(net.fifth_of_root.graph)

    # Traced once, on the number 5; scripted parts keep their control flow, so the graph is right for every input.
    whole = gjit.trace(net, np.array(5))
    for x, expected in EXPECTED.items():
        values = net(np.array(x)), whole(np.array(x)), whole(np.array(float(x)))
        print(f"Y({x}) =", *values)
        assert all(value == expected for value in values)


if __name__ == "__main__":
    main()
