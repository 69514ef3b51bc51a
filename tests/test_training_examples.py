"""The examples that train: at small sizes, what they learn gets better, and what they compute is right."""

from __future__ import annotations

import numpy as np
import pytest

from examples import fit_ode, greeks, train_digits, train_lstm


def test_digits_are_learned():
    pytest.importorskip("sklearn")
    x, labels = train_digits.digits()
    for loss, is_network in ((train_digits.regression_loss, False), (train_digits.network_loss, True)):
        parameters = train_digits.initial(is_network, np.random.default_rng(1), width=16)
        losses = train_digits.train(loss, parameters, x[:512], labels[:512], epochs=8)
        assert losses[-1] < 0.5 * losses[0]


def test_both_models_learn_what_can_be_learned():
    generator = np.random.default_rng(2)
    x = generator.uniform(0, 1, (256, 64))
    labels = np.argmax(x[:, :10], axis=1)
    for loss, is_network in ((train_digits.regression_loss, False), (train_digits.network_loss, True)):
        losses = train_digits.train(loss, train_digits.initial(is_network, generator, 16), x, labels, epochs=15)
        assert losses[-1] < 0.85 * losses[0]


def test_the_equation_is_fitted():
    observed = fit_ode.solve(fit_ode.TRUE, 30)
    parameters, losses = fit_ode.fit(fit_ode.TRUE * 1.1, observed, rounds=40)
    assert losses[-1] < 0.1 * losses[0]
    assert fit_ode.misfit(parameters, observed) < 0.1 * losses[0]


def test_greeks_are_those_of_the_closed_form():
    spot, strike = np.array([90.0, 100.0, 120.0]), np.full(3, 100.0)
    time, rate, volatility = 0.5, 0.02, 0.25
    found = greeks.greeks(spot, strike, time, rate, volatility)
    spread = volatility * np.sqrt(time)
    upper = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / spread
    density = np.exp(-0.5 * upper**2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(found["delta"], greeks.normal(upper), atol=1e-4)
    np.testing.assert_allclose(found["gamma"], density / (spot * spread), atol=1e-4)
    np.testing.assert_allclose(found["vega"], np.sum(spot * density * np.sqrt(time)), rtol=1e-3)


def test_the_lstm_learns():
    losses = train_lstm.train(40, steps=4, width=8)
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
