"""The greeks of European options as derivatives of the Black-Scholes price: `python -m examples.greeks`."""

from __future__ import annotations

import numpy as np

import gjit

PROGRAMS: list = []
"""Programs that are compared with NumPy bit by bit: the greeks have closed forms, which the test compares."""


def normal(x: np.ndarray) -> np.ndarray:
    """The distribution function of the normal distribution, by the rational approximation of Abramowitz and Stegun."""
    t = 1 / (1 + 0.2316419 * np.abs(x))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * series
    return np.where(x > 0, 1 - tail, tail)


def call_price(spot: np.ndarray, strike: np.ndarray, time: float, rate: float, volatility: float) -> np.ndarray:
    """The price of a call."""
    spread = volatility * np.sqrt(time)
    upper = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / spread
    return spot * normal(upper) - strike * np.exp(-rate * time) * normal(upper - spread)


def total(spot: np.ndarray, strike: np.ndarray, time: float, rate: float, volatility: float) -> float:
    """The sum of the prices: its gradient holds the derivative of each."""
    return np.sum(call_price(spot, strike, time, rate, volatility))


delta_of_all = gjit.grad(total)


def total_delta(spot: np.ndarray, strike: np.ndarray, time: float, rate: float, volatility: float) -> float:
    """The sum of the deltas."""
    return np.sum(delta_of_all(spot, strike, time, rate, volatility))


def greeks(spot: np.ndarray, strike: np.ndarray, time: float, rate: float, volatility: float) -> dict[str, object]:
    """Delta and gamma of each option; vega, theta and rho of all together."""
    arguments = (spot, strike, time, rate, volatility)
    delta, in_time, in_rate, in_volatility = gjit.grad(total, (0, 2, 3, 4))(*arguments)
    gamma = gjit.grad(total_delta)(*arguments)
    return {"delta": delta, "gamma": gamma, "vega": in_volatility, "theta": -in_time, "rho": in_rate}


def main() -> None:
    """Print the greeks of three options."""
    found = greeks(np.array([90.0, 100.0, 110.0]), np.full(3, 100.0), 0.5, 0.02, 0.25)
    for name, value in found.items():
        print(f"{name:6} {np.round(value, 5)}")


if __name__ == "__main__":
    main()
