"""The hybrid frontend at work: traced and scripted functions and modules in one program, then Black-Scholes timed.

The program computes Y(x) from z(x) = floor(sqrt((2|x|)!) / 5): half of z where z is even, its negative where z is odd.
Each of its four parts is written in the way that suits it: straight-line code is traced, a loop or a branch that
depends on data is scripted, and both come as functions and as modules.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

import gjit
from gjit.timing import Comparison, compare, readable_seconds

EXPECTED = {1: 0, 2: 0, 3: -5, 4: 20, 5: 190, 6: -4377, 7: -59051}
"""Y(x) for the inputs of the demo."""


def double_magnitude(x):
    """|2x|. No control flow: tracing records all there is to know."""
    return abs(2 * x)


@gjit.script
def factorial(x):
    """1 * 2 * ... * x. The number of rounds depends on the input: a script keeps the loop, where a trace could not."""
    z = np.ones((), dtype=np.int64)
    for i in range(int(x)):
        z = z * (i + 1)
    return z


class FifthOfRoot(gjit.Module):
    """floor(sqrt(x) / 5) in single precision: a module without control flow, to be traced."""

    def forward(self, x):
        """`x`: any real array or scalar of NumPy; the result is float32."""
        x = x.astype(np.float32)
        return np.floor(np.sqrt(x) / 5.0)


class HalveOrNegate(gjit.ScriptModule):
    """x / 2 for even x, -x for odd: a module whose method is scripted, since it branches on data."""

    @gjit.script_method
    def forward(self, x):
        """`x`: one number."""
        if int(np.fmod(x, 2.0)) == 0:
            return x / 2.0
        return -x


class Net(gjit.Module):
    """The whole program: a plain module that holds the compiled parts and calls them."""

    def __init__(self):
        super().__init__()
        self.double_magnitude = gjit.trace(double_magnitude, np.array(5))
        self.fifth_of_root = gjit.trace(FifthOfRoot(), np.array(100))
        self.halve_or_negate = HalveOrNegate()

    def forward(self, x):
        """Y(x) for one integer or float `x`."""
        return self.halve_or_negate(self.fifth_of_root(factorial(self.double_magnitude(x))))


def standard_normal_cdf(x):
    """The standard normal distribution function, within 7.5e-8.

    Formula 26.2.17 of M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, National Bureau of
    Standards, 1964.
    """
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = 0.3989422804014327 * np.exp(-0.5 * x * x) * series
    return np.where(x < 0.0, tail, 1.0 - tail)


@gjit.script
def black_scholes(spot, strike, years, rate, volatility):
    """Prices of European options: (call, put), each of the shape that the arguments broadcast to."""
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation
    d2 = d1 - deviation
    discounted = strike * np.exp(-rate * years)
    call = spot * standard_normal_cdf(d1) - discounted * standard_normal_cdf(d2)
    put = call - spot + discounted  # parity of put and call
    return call, put


def black_scholes_arguments(size: int) -> tuple:
    """Random spot prices, strikes and times to expiry of `size` options, with one rate and one volatility."""
    random = np.random.default_rng(2012)
    spot = random.uniform(10.0, 50.0, size)
    strike = random.uniform(10.0, 50.0, size)
    years = random.uniform(1.0, 2.0, size)
    return spot, strike, years, 0.02, 0.3


def main(size: int = 10_000_000, rounds: int = 7) -> None:
    """Run the demo: graphs, the table of values, the regions of Black-Scholes, its timings at `size` options."""
    net = Net()
    show_graphs(net)
    show_values(net)
    show_black_scholes(size, rounds)


def show_graphs(net: Net) -> None:
    """Print the graph of each part."""
    parts = {
        "traced function": net.double_magnitude,
        "scripted function": factorial,
        "traced module": net.fifth_of_root,
        "scripted method of a module": net.halve_or_negate.forward,
    }
    for title, part in parts.items():
        heading(title)
        print(part.graph)


def show_values(net: Net) -> None:
    """Print Y(x) from `net` and from `net` traced as a whole, over inputs and dtypes that tracing did not see."""
    whole = gjit.trace(net, np.array(5))
    captures = whole.statistics.captures
    heading("the whole program, traced")
    print(whole.graph)
    heading("values")
    print("   x        Net     traced    float64      int16")
    for x, expected in EXPECTED.items():
        values = [net(np.array(x)), *(whole(np.array(x, dtype=kind)) for kind in (np.int64, np.float64, np.int16))]
        print(f"{x:4d}" + "".join(f"{float(value):11.0f}" for value in values))
        if any(value != expected for value in values):
            raise AssertionError(f"Y({x}) is {expected}, not {values}")
    print(f"traced again for other inputs: {whole.statistics.captures - captures} times")


def show_black_scholes(size: int, rounds: int) -> None:
    """Check Black-Scholes against NumPy, print its plan, and time it."""
    arguments = black_scholes_arguments(size)
    heading("Black-Scholes: the plan")
    print(gjit.explain(black_scholes, *arguments))
    heading(f"Black-Scholes: call and put prices of {size:,} options, float64")
    same = same_bits(black_scholes.__wrapped__(*arguments), black_scholes(*arguments))
    print(f"the same bits as plain NumPy: {'yes' if same else 'NO'}")
    comparison = compare(
        black_scholes.__wrapped__, black_scholes, lambda: arguments, rounds=rounds, progress=progress_line
    )
    print_comparison(comparison)


def same_bits(expected: Sequence[np.ndarray], got: Sequence[np.ndarray]) -> bool:
    """Whether two lists of arrays agree in dtype, shape and every bit."""
    return all(
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
        for one, other in zip(expected, got, strict=True)
    )


def print_comparison(comparison: Comparison) -> None:
    """Medians of both sides and the ratio with its spread."""
    low, high = comparison.spread
    print(f"plain NumPy  {readable_seconds(comparison.plain_seconds):>10}  (median of {len(comparison.plain)} rounds)")
    print(f"gjit         {readable_seconds(comparison.compiled_seconds):>10}")
    print(f"ratio        {comparison.ratio:9.2f}x  (middle half of the rounds: {low:.2f} to {high:.2f})")


def heading(title: str) -> None:
    """A line that sets off a part of the output."""
    print(f"\n-- {title} ".ljust(100, "-"), flush=True)


def progress_line(done: int, rounds: int) -> None:
    """One line on standard error that counts the rounds up and is wiped at the end."""
    text = f"round {done} of {rounds}"
    end = "\r" + " " * len(text) + "\r" if done == rounds else ""
    print("\r" + text, end=end, file=sys.stderr, flush=True)
