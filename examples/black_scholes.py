"""Option prices and their sensitivities by the formula of Black and Scholes: long elementwise programs.

Plain NumPy makes one trip through memory for each of some forty operations; compiled, all of them run while a tile of
the arrays is in the cache.

Run: python examples/black_scholes.py
"""

import numpy as np

import gjit
from gjit.demo import black_scholes, black_scholes_arguments, standard_normal_cdf


def standard_normal_density(x):
    return 0.3989422804014327 * np.exp(-0.5 * x * x)


# A program that returns a dictionary. The two functions it calls are scripted with it.
@gjit.script
def greeks(spot, strike, years, rate, volatility):
    root = np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / (volatility * root)
    d2 = d1 - volatility * root
    density = standard_normal_density(d1)
    discounted = strike * np.exp(-rate * years)
    return {
        "delta": standard_normal_cdf(d1),
        "gamma": density / (spot * volatility * root),
        "vega": spot * density * root,
        "theta": -0.5 * spot * density * volatility / root - rate * discounted * standard_normal_cdf(d2),
        "rho": discounted * years * standard_normal_cdf(d2),
    }


PROGRAMS = [
    (black_scholes, black_scholes.__wrapped__, black_scholes_arguments),
    (greeks, greeks.__wrapped__, black_scholes_arguments),
]


def main():
    arguments = black_scholes_arguments(5)
    call, put = black_scholes(*arguments)
    print("call", np.round(call, 3))
    print("put ", np.round(put, 3))
    for name, values in greeks(*arguments).items():
        print(f"{name:5}", np.round(values, 3))
    print(black_scholes.graph_for(*arguments))


if __name__ == "__main__":
    main()
