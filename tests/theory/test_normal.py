"""z-scores in both conventions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bufferlab.theory.normal import Convention, probability_of, z_score


def test_quantiles_of_tables() -> None:
    np.testing.assert_allclose(z_score([0.5, 0.975, 0.99]), [0.0, 1.95996, 2.32635], atol=1e-5)


def test_the_document_takes_the_quantile_of_two_tau_minus_one() -> None:
    assert z_score(0.99, "document") == pytest.approx(float(z_score(0.98)))
    assert round(float(z_score(0.99, "document")), 2) == 2.05


def test_z_of_zero_is_one_half_and_three_quarters_in_the_document() -> None:
    assert probability_of(0.0) == 0.5
    assert probability_of(0.0, "document") == 0.75


@given(probability=st.floats(0.51, 0.999999), convention=st.sampled_from(["one-sided", "document"]))
def test_probability_of_is_the_inverse(probability: float, convention: Convention) -> None:
    assert probability_of(z_score(probability, convention), convention) == pytest.approx(probability)


@given(low=st.floats(0.001, 0.999), step=st.floats(1e-4, 0.5))
def test_a_higher_probability_has_a_higher_z(low: float, step: float) -> None:
    high = min(low + step, 0.9995)
    if high > low:
        assert z_score(high) > z_score(low)


@pytest.mark.parametrize(
    ("probability", "convention"),
    [(1.0, "one-sided"), (0.0, "one-sided"), (0.5, "document"), (1.0, "document")],
)
def test_probabilities_without_a_z_are_refused(probability: float, convention: Convention) -> None:
    with pytest.raises(ValueError, match="probability"):
        z_score(probability, convention)
