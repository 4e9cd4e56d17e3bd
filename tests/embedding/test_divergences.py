import dataclasses
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from protolearn.embedding import divergences
from protolearn.embedding.divergences import (
    DIVERGENCES,
    Alpha,
    Beta,
    Bregman,
    CauchySchwarz,
    Csiszar,
    Divergence,
    Eta,
    Gamma,
    GeneralizedKullbackLeibler,
    GeneralizedRenyi,
    Hellinger,
    ItakuraSaito,
    KullbackLeibler,
    NeRV,
    Renyi,
    ReverseGeneralizedKullbackLeibler,
    ReverseKullbackLeibler,
    Tsallis,
    check_divergence,
    get_divergence,
    pairwise_divergences,
)


def jensen_shannon(u):
    return u * np.log(u) - (1 + u) * np.log((1 + u) / 2)


def jensen_shannon_slope(u):
    return np.log(u) - np.log((1 + u) / 2)


def plain_power(b):
    """Return x^b with its derivatives, for a Bregman divergence."""
    return Bregman(lambda x: x**b, lambda x: b * x ** (b - 1), lambda x: b * (b - 1) * x ** (b - 2))


def alpha_function(a):
    """Return the f of the alpha divergence of densities, with a slope at 1 that measures must not see."""
    return (lambda u: (u**a - 1) / (a * (a - 1))), (lambda u: u ** (a - 1) / (a - 1))


FAMILIES = {
    repr(divergence): divergence
    for divergence in [
        KullbackLeibler(),
        GeneralizedKullbackLeibler(),
        ReverseKullbackLeibler(),
        ReverseGeneralizedKullbackLeibler(),
        NeRV(0.0),
        NeRV(0.1),
        NeRV(1.0),
        ItakuraSaito(),
        *[Eta(eta) for eta in (1.2, 2.0, 2.5, 3.0)],
        *[Beta(beta) for beta in (-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)],
        *[Alpha(alpha) for alpha in (-1.0, -0.3, 0.0, 0.5, 1.0, 1.7, 2.0)],
        *[GeneralizedRenyi(alpha) for alpha in (0.2, 0.5, 1.0, 2.0)],
        *[GeneralizedRenyi(alpha, normalized=True) for alpha in (-1.0, 0.0, 0.5, 1.0, 2.0)],
        *[Renyi(alpha) for alpha in (0.3, 0.5, 1.0, 2.0)],
        *[Tsallis(alpha) for alpha in (0.3, 0.5, 1.0, 2.0)],
        Hellinger(),
        *[Gamma(gamma) for gamma in (0.0, 0.2, 0.5, 1.0, 2.0)],
        CauchySchwarz(),
    ]
} | {
    "Bregman(exp)": Bregman(np.exp, np.exp, np.exp),
    "Bregman(power)": plain_power(2.5),
    "Csiszar(jensen_shannon)": Csiszar(jensen_shannon, jensen_shannon_slope),
    "Csiszar(alpha)": Csiszar(*alpha_function(1.5)),
    "Csiszar(alpha, generalized)": Csiszar(*alpha_function(1.5), generalized=True),
}
FOR_DENSITIES = (KullbackLeibler, ReverseKullbackLeibler, NeRV, Renyi, Tsallis)  # negative for some other arrays
POWERS = {name: d.limit() for name, d in FAMILIES.items() if d.limit().pull is not None}
families = pytest.mark.parametrize("divergence", FAMILIES.values(), ids=FAMILIES.keys())

entries = st.floats(0.1, 2.0)
pairs = st.integers(2, 5).flatmap(
    lambda n: st.tuples(arrays(float, n, elements=entries), arrays(float, n, elements=entries))
)
triples = st.integers(2, 5).flatmap(lambda n: arrays(float, (3, n), elements=entries))
some = settings(max_examples=20, deadline=None)


def densities(*arrays):
    return [x / x.sum(axis=-1, keepdims=True) for x in arrays]


def is_for_densities(divergence):
    plain_f = isinstance(divergence, Csiszar) and not divergence.generalized
    return plain_f or isinstance(divergence.limit(), FOR_DENSITIES)


def suited(divergence, p, q):
    return densities(p, q) if is_for_densities(divergence) else (p, q)


def differences(function, x, step=1e-3):
    """Return the derivatives of a function of rows at x (n,), exact up to the fourth power of a relative step."""
    h = np.diag(step * x)
    near, far = (function(x + k * h) - function(x - k * h) for k in (1, 2))
    return (8 * near - far) / (12 * step * x)


def formula(divergence, p, q):
    """Return a divergence written out as in the books, for positive arrays."""
    log_ratio = np.log(p / q)
    match divergence:
        case KullbackLeibler():
            return np.sum(p * log_ratio)
        case ReverseKullbackLeibler():
            return -np.sum(q * log_ratio)
        case NeRV(c):
            return np.sum(c * p * log_ratio) - np.sum((1 - c) * q * log_ratio)
        case GeneralizedKullbackLeibler() | Beta(1.0) | Alpha(1.0) | GeneralizedRenyi(1.0, _):
            return np.sum(p * log_ratio - p + q)
        case ReverseGeneralizedKullbackLeibler() | Alpha(0.0) | GeneralizedRenyi(0.0, True):
            return np.sum(-q * log_ratio - q + p)
        case ItakuraSaito() | Beta(0.0):
            return np.sum(p / q - log_ratio - 1)
        case Eta(n):
            return np.sum(p**n + (n - 1) * q**n - n * p * q ** (n - 1))
        case Beta(b):
            return np.sum(p * (p ** (b - 1) - q ** (b - 1)) / (b - 1) - (p**b - q**b) / b)
        case Alpha(a):
            return np.sum(p**a * q ** (1 - a) - a * p + (a - 1) * q) / (a * (a - 1))
        case GeneralizedRenyi(a, normalized):
            inside = 1 + np.sum(p**a * q ** (1 - a) - a * p + (a - 1) * q)
            return np.log(inside) / ((a - 1) * (a if normalized else 1)) if inside > 0 else np.inf
        case Renyi(1.0) | Tsallis(1.0):
            return np.sum(p * log_ratio)
        case Renyi(a):
            return np.log(np.sum(p**a * q ** (1 - a))) / (a - 1)
        case Tsallis(a):
            return (1 - np.sum(p**a * q ** (1 - a))) / (1 - a)
        case Hellinger():
            return np.sum((np.sqrt(p) - np.sqrt(q)) ** 2) / 2
        case CauchySchwarz():
            return np.log(np.sum(p**2) * np.sum(q**2)) / 2 - np.log(np.sum(p * q))
        case Gamma(0.0):
            return np.sum(p * log_ratio)
        case Gamma(g):
            own = np.sum(p ** (g + 1)) ** (1 / (g * (g + 1)))
            return np.log(own * np.sum(q ** (g + 1)) ** (1 / (g + 1)) / np.sum(p * q**g) ** (1 / g))
        case Bregman(phi, slope, _):
            return np.sum(phi(p) - phi(q) - slope(q) * (p - q))
        case Csiszar(f, slope, generalized):
            return np.sum(q * f(p / q)) - generalized * slope(1.0) * np.sum(p - q)


def derivative_formula(divergence, p, q):
    """Return the Frechet derivative as tabulated (with its errata), for positive arrays."""
    u = p / q
    match divergence:
        case KullbackLeibler():
            return -u
        case GeneralizedKullbackLeibler():
            return 1 - u
        case ReverseKullbackLeibler():
            return 1 - np.log(u)
        case ItakuraSaito():
            return (q - p) / q**2
        case Eta(n):
            return n * (n - 1) * q ** (n - 2) * (q - p)
        case Beta(b):
            return q ** (b - 2) * (q - p)
        case Alpha(a):
            return -(u**a - 1) / a
        case GeneralizedRenyi(a, False):
            return -(u**a - 1) / (1 + np.sum(p**a * q ** (1 - a) - a * p + (a - 1) * q))
        case Renyi(a):
            return -(u**a) / np.sum(p**a * q ** (1 - a))
        case Tsallis(a):
            return -(u**a)
        case Hellinger():
            return (1 - np.sqrt(u)) / 2
        case Gamma(g):
            return q**g / np.sum(q ** (g + 1)) - p * q ** (g - 1) / np.sum(p * q**g)


TABULATED = [
    KullbackLeibler(),
    GeneralizedKullbackLeibler(),
    ReverseKullbackLeibler(),
    ItakuraSaito(),
    Eta(2.5),
    Beta(0.5),
    Alpha(0.5),
    GeneralizedRenyi(2.0),
    Renyi(0.5),
    Tsallis(0.5),
    Hellinger(),
    Gamma(0.5),
    CauchySchwarz(),
]


# Values and derivatives


@given(pair=pairs)
@some
def test_values_are_those_of_the_formulas(pair):
    for name, divergence in FAMILIES.items():
        p, q = suited(divergence, *pair)
        expected = formula(divergence, p, q)
        np.testing.assert_allclose(divergence.value(p, q), expected, rtol=1e-9, atol=1e-10, err_msg=name)


@given(pair=pairs)
@some
def test_derivatives_are_those_of_the_formulas(pair):
    for divergence in TABULATED:
        expected = derivative_formula(divergence, *pair)
        found = divergence.derivative(*pair)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=repr(divergence))


@given(pair=pairs)
@some
def test_derivatives_are_those_of_the_values(pair):
    for name, divergence in FAMILIES.items():
        p, q = suited(divergence, *pair)
        if isinstance(divergence, GeneralizedRenyi) and divergence.value(p, q) > 3.0:
            continue  # close to the border, where it turns infinite, differences are useless
        derivative = divergence.derivative(p, q)
        expected = differences(partial(divergence.value, p), q)
        np.testing.assert_allclose(derivative, expected, atol=1e-6 * max(1.0, np.abs(derivative).max()), err_msg=name)


@given(pair=pairs)
@some
def test_slopes_are_the_derivatives_of_terms(pair):
    p, q = pair
    h = 1e-3 * q
    for name, divergence in FAMILIES.items():
        form = divergence.limit()
        near, far = (form.terms(p, q + k * h) - form.terms(p, q - k * h) for k in (1, 2))
        expected = (8 * near - far) / (12 * h)
        np.testing.assert_allclose(form.slopes(p, q), expected, rtol=1e-6, atol=1e-6, err_msg=name)


@given(pair=pairs)
@some
def test_weights_are_the_derivatives_of_outer(pair):
    for name, divergence in FAMILIES.items():
        form = divergence.limit()
        sums = form.terms(*suited(divergence, *pair)).sum(axis=-1)
        if isinstance(form, GeneralizedRenyi):
            sums = np.maximum(sums, -0.7)  # it is infinite from -1 on
        sums = np.where(np.abs(sums) < 1e-3, 1e-3, sums)  # a relative step needs something to be relative to
        expected = differences(lambda rows, form=form: form.outer(rows.T), sums)
        np.testing.assert_allclose(form.weights(sums), expected, rtol=1e-6, atol=1e-8, err_msg=name)


@given(pair=pairs)
@some
def test_the_pull_is_the_part_of_the_slopes_that_depends_on_p(pair):
    p, q = pair
    for name, form in POWERS.items():
        index, factor, p_power, q_power = form.pull
        for other in (p[::-1], 0.0)[: 1 if form.needs_positive_p else 2]:
            changes = q * (form.slopes(p, q) - form.slopes(other, q))
            expected = np.zeros_like(changes)
            expected[index] = factor * (p**p_power - other**p_power) * q**q_power
            np.testing.assert_allclose(changes, expected, rtol=1e-9, atol=1e-9, err_msg=name)


@given(pair=pairs)
@some
def test_the_terms_part_into_those_of_p_and_of_q_and_the_pull(pair):
    p, q = pair
    for name, form in POWERS.items():
        index, factor, a, b = form.pull
        if b == 0.0:
            continue  # a logarithm
        mixed = form.terms(p, q) - form.terms(p, q[::-1]) - form.terms(p[::-1], q) + form.terms(p[::-1], q[::-1])
        expected = np.zeros_like(mixed)
        expected[index] = factor / b * (p**a - p[::-1] ** a) * (q**b - q[::-1] ** b)
        np.testing.assert_allclose(mixed, expected, rtol=1e-9, atol=1e-8, err_msg=name)


@families
def test_families_with_a_pull(divergence):
    form = divergence.limit()
    without = (ReverseKullbackLeibler, ReverseGeneralizedKullbackLeibler, NeRV, Bregman, Csiszar)
    assert (form.pull is None) == isinstance(form, without)
    if form.pull and type(form).outer is not Divergence.outer:
        assert form.pull.q_power != 0.0


@given(pair=pairs)
@some
def test_divergences_are_positive_and_zero_between_equals(pair):
    for name, divergence in FAMILIES.items():
        p, q = suited(divergence, *pair)
        assert divergence.value(p, q) >= -1e-12, name
        assert abs(divergence.value(p, p)) < 1e-10, name
        if np.abs(np.subtract(*densities(p, q))).max() > 0.05:
            assert divergence.value(p, q) > 1e-6, name


@families
def test_rounding_makes_no_divergence_of_measures_negative(divergence):
    p = np.random.default_rng(8).uniform(0.1, 1.0, (500, 5))
    if not is_for_densities(divergence):
        assert (divergence.value(p, p * (1 + 1e-12)) >= 0.0).all()


@families
def test_leading_axes_are_broadcast(divergence):
    rng = np.random.default_rng(0)
    P, Q = densities(rng.uniform(0.1, 1, (3, 1, 4)), rng.uniform(0.1, 1, (5, 4)))
    values, derivatives = divergence.value(P, Q), divergence.derivative(P, Q)
    assert values.shape == (3, 5)
    assert derivatives.shape == (3, 5, 4)
    np.testing.assert_allclose(values[1, 2], divergence.value(P[1, 0], Q[2]), rtol=1e-12)
    np.testing.assert_allclose(derivatives[1, 2], divergence.derivative(P[1, 0], Q[2]), rtol=1e-12)


# Limits and links between families


@pytest.mark.parametrize(
    ("family", "parameter", "expected"),
    [
        (Beta, 1.0, GeneralizedKullbackLeibler()),
        (Beta, 0.0, ItakuraSaito()),
        (Alpha, 1.0, GeneralizedKullbackLeibler()),
        (Alpha, 0.0, ReverseGeneralizedKullbackLeibler()),
        (GeneralizedRenyi, 1.0, GeneralizedKullbackLeibler()),
        (Renyi, 1.0, KullbackLeibler()),
        (Tsallis, 1.0, KullbackLeibler()),
        (Gamma, 0.0, KullbackLeibler()),
    ],
    ids=str,
)
@pytest.mark.parametrize("offset", [-1e-4, -2e-6, -5e-7, 0.0, 5e-7, 2e-6, 1e-4])
def test_limits_are_approached_from_both_sides(family, parameter, expected, offset):
    rng = np.random.default_rng(1)
    p, q = densities(*rng.uniform(0.1, 1, (2, 6)))
    if family is Gamma:
        offset = abs(offset)
    divergence = family(parameter + offset)
    assert (divergence.limit() == expected) == (abs(offset) < 1e-6)
    close = {"rtol": 10 * abs(offset), "atol": 30 * abs(offset) + 1e-9}
    np.testing.assert_allclose(divergence.value(p, q), expected.value(p, q), **close)
    tangent = np.eye(6) - 1 / 6  # along which densities can change
    np.testing.assert_allclose(tangent @ divergence.derivative(p, q), tangent @ expected.derivative(p, q), **close)


@pytest.mark.parametrize("offset", [-1e-4, -2e-6, 0.0, 2e-6, 1e-4])
def test_the_normalized_renyi_divergence_has_a_limit_at_zero(offset):
    p, q = np.random.default_rng(2).uniform(0.1, 1, (2, 6))
    value = GeneralizedRenyi(offset, normalized=True).value(p, q)
    assert abs(value - ReverseGeneralizedKullbackLeibler().value(p, q)) < 10 * abs(offset) + 1e-9


@given(pair=pairs, order=st.floats(1.1, 4.0))
@some
def test_eta_is_a_multiple_of_beta(pair, order):
    np.testing.assert_allclose(Eta(order).value(*pair), order * (order - 1) * Beta(order).value(*pair), atol=1e-10)
    expected = order * (order - 1) * Beta(order).derivative(*pair)
    np.testing.assert_allclose(Eta(order).derivative(*pair), expected, atol=1e-10)


@given(pair=pairs)
@some
def test_named_members_of_families(pair):
    p, q = pair
    for value, expected in [
        (Eta(2.0).value(p, q), np.sum((p - q) ** 2)),
        (Beta(2.0).value(p, q), np.sum((p - q) ** 2) / 2),
        (Alpha(2.0).value(p, q), np.sum((p - q) ** 2 / q) / 2),  # Pearson
        (Alpha(-1.0).value(p, q), np.sum((p - q) ** 2 / p) / 2),  # Neyman
        (Alpha(0.5).value(p, q), 4 * Hellinger().value(p, q)),
        (Gamma(1.0).value(p, q), CauchySchwarz().value(p, q)),
        (CauchySchwarz().value(p, q), -np.log(p @ q / np.linalg.norm(p) / np.linalg.norm(q))),
        (NeRV(0.3).value(p, q), 0.3 * KullbackLeibler().value(p, q) + 0.7 * KullbackLeibler().value(q, p)),
    ]:
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(Alpha(0.5).derivative(p, q), 4 * Hellinger().derivative(p, q), atol=1e-12)
    np.testing.assert_allclose(Gamma(1.0).derivative(p, q), CauchySchwarz().derivative(p, q), atol=1e-12)


@given(pair=pairs, alpha=st.floats(0.1, 3.0))
@some
def test_alpha_tsallis_and_renyi_divergences_of_densities_are_functions_of_each_other(pair, alpha):
    assume(abs(alpha - 1) > 1e-3)
    p, q = densities(*pair)
    one = Alpha(alpha).value(p, q)
    np.testing.assert_allclose(Tsallis(alpha).value(p, q), alpha * one, atol=1e-10)
    renyi = np.log(1 + alpha * (alpha - 1) * one) / (alpha - 1)
    np.testing.assert_allclose(Renyi(alpha).value(p, q), renyi, atol=1e-10)
    np.testing.assert_allclose(GeneralizedRenyi(alpha).value(p, q), renyi, atol=1e-10)
    np.testing.assert_allclose(GeneralizedRenyi(alpha, normalized=True).value(p, q), renyi / alpha, atol=1e-10)
    slope = Tsallis(alpha).derivative(p, q)
    np.testing.assert_allclose(Renyi(alpha).derivative(p, q) * np.sum(p**alpha * q ** (1 - alpha)), slope, rtol=1e-9)
    np.testing.assert_allclose(alpha * Alpha(alpha).derivative(p, q), slope + 1, atol=1e-9)


@given(pair=pairs, alpha=st.floats(-2.0, 3.0))
@some
def test_exchanging_the_arguments_of_alpha_divergences(pair, alpha):
    p, q = pair
    assume(min(abs(alpha), abs(alpha - 1)) > 1e-3)
    np.testing.assert_allclose(Alpha(alpha).value(p, q), Alpha(1 - alpha).value(q, p), rtol=1e-8, atol=1e-10)


BREGMAN = {
    "gkl": (Bregman(lambda x: x * np.log(x), lambda x: np.log(x) + 1, lambda x: 1 / x), GeneralizedKullbackLeibler()),
    "is": (Bregman(lambda x: 3 * x - np.log(x), lambda x: 3 - 1 / x, lambda x: 1 / x**2), ItakuraSaito()),
    "eta": (plain_power(2.5), Eta(2.5)),
    "flat eta": (plain_power(1.5), Eta(1.5)),
}
bregman = pytest.mark.parametrize(("generic", "special"), BREGMAN.values(), ids=BREGMAN.keys())


@given(pair=pairs)
@some
def test_bregman_divergences_of_functions_are_those_of_families(pair):
    for generic, special in BREGMAN.values():
        np.testing.assert_allclose(generic.value(*pair), special.value(*pair), atol=1e-10)
        np.testing.assert_allclose(generic.derivative(*pair), special.derivative(*pair), atol=1e-10)


@bregman
def test_the_bregman_divergence_of_a_function_knows_zeros(generic, special):
    for p, q in [([0.0, 1.0], [1.0, 1.0]), ([1.0, 1.0], [0.0, 1.0]), ([0.0, 1.0], [0.0, 2.0])]:
        np.testing.assert_allclose(generic.value(p, q), special.value(p, q), rtol=1e-10)
        np.testing.assert_allclose(generic.derivative(p, q), special.derivative(p, q), rtol=1e-10, atol=1e-100)
    assert generic.needs_positive_p == special.needs_positive_p
    assert generic.needs_positive_q == special.needs_positive_q


def u_log_u(u):
    return u * np.log(u)


def u_log_u_slope(u):
    return np.log(u) + 1


CSISZAR = {
    "gkl": (Csiszar(u_log_u, u_log_u_slope, generalized=True), GeneralizedKullbackLeibler()),
    "kl": (Csiszar(u_log_u, u_log_u_slope), KullbackLeibler()),
    "reverse": (Csiszar(lambda u: -np.log(u), lambda u: -1 / u), ReverseKullbackLeibler()),
    "hellinger": (Csiszar(lambda u: (np.sqrt(u) - 1) ** 2 / 2, lambda u: (1 - u**-0.5) / 2), Hellinger()),
    **{f"alpha {a}": (Csiszar(*alpha_function(a), generalized=True), Alpha(a)) for a in (-1.0, 0.4, 1.6, 3.0)},
}
csiszar = pytest.mark.parametrize(("generic", "special"), CSISZAR.values(), ids=CSISZAR.keys())


@given(pair=pairs)
@some
def test_f_divergences_of_functions_are_those_of_families(pair):
    for generic, special in CSISZAR.values():
        np.testing.assert_allclose(generic.value(*pair), special.value(*pair), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(generic.derivative(*pair), special.derivative(*pair), rtol=1e-8, atol=1e-9)


@csiszar
def test_the_f_divergence_of_a_function_knows_zeros(generic, special):
    for p, q in [([0.0, 1.0], [0.5, 0.5]), ([0.5, 0.5], [0.0, 1.0]), ([0.0, 1.0], [0.0, 1.0])]:
        np.testing.assert_allclose(generic.value(p, q), special.value(p, q), rtol=1e-10, atol=1e-12)
        conjugate = generic.conjugate()
        np.testing.assert_allclose(conjugate.value(q, p), special.value(p, q), rtol=1e-10, atol=1e-12)
        assert not np.isnan(generic.derivative(p, q)).any()


@given(pair=pairs)
@some
def test_the_conjugate_exchanges_the_arguments(pair):
    p, q = pair
    for generic, special in CSISZAR.values():
        conjugate = generic.conjugate()
        np.testing.assert_allclose(conjugate.value(q, p), special.value(p, q), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(conjugate.conjugate().value(p, q), special.value(p, q), rtol=1e-8, atol=1e-10)
        expected = differences(partial(special.value, q=q), p)
        derivative = conjugate.derivative(q, p)
        np.testing.assert_allclose(derivative, expected, atol=1e-6 * max(1.0, np.abs(derivative).max()))


@given(pair=pairs, c=st.floats(-3, 3))
@some
def test_a_multiple_of_u_minus_1_does_not_change_an_f_divergence_of_densities(pair, c):
    p, q = densities(*pair)
    tilted = Csiszar(lambda u: jensen_shannon(u) + c * (u - 1), lambda u: jensen_shannon_slope(u) + c)
    plain = FAMILIES["Csiszar(jensen_shannon)"]
    np.testing.assert_allclose(tilted.value(p, q), plain.value(p, q), atol=1e-10)
    generalized = dataclasses.replace(tilted, generalized=True)
    np.testing.assert_allclose(
        generalized.value(*pair), dataclasses.replace(plain, generalized=True).value(*pair), atol=1e-10
    )


# Properties


BREGMAN_FAMILIES = [
    (GeneralizedKullbackLeibler(), np.log),
    (ItakuraSaito(), lambda x: -1 / x),
    (Eta(1.5), lambda x: 1.5 * x**0.5),
    (Beta(3.0), lambda x: x**2 / 2),
    (Beta(-0.5), lambda x: -(x**-1.5) / 1.5),
]
with_slope = pytest.mark.parametrize(
    ("divergence", "slope"), BREGMAN_FAMILIES, ids=[repr(d) for d, _ in BREGMAN_FAMILIES]
)


@given(triple=triples)
@some
def test_three_points(triple):
    p, q, g = triple
    for divergence, slope in BREGMAN_FAMILIES:
        expected = divergence.value(p, q) + divergence.value(q, g) + (p - q) @ (slope(q) - slope(g))
        np.testing.assert_allclose(divergence.value(p, g), expected, rtol=1e-9, atol=1e-9)


@with_slope
def test_the_mean_minimizes_the_average_bregman_divergence(divergence, slope):
    X = np.random.default_rng(3).uniform(0.2, 2.0, (20, 3))
    mean = X.mean(axis=0)
    np.testing.assert_allclose(divergence.derivative(X, mean).sum(axis=0), 0.0, atol=1e-8)
    found = minimize(
        lambda q: divergence.value(X, q).mean(),
        np.full(3, 0.7),
        jac=lambda q: divergence.derivative(X, q).mean(axis=0),
        bounds=[(0.1, 3.0)] * 3,
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    np.testing.assert_allclose(found.x, mean, rtol=1e-4)


@with_slope
def test_pythagoras_for_the_projection_on_a_plane(divergence, slope):
    g, direction = np.array([0.4, 1.1, 0.9]), np.array([1.0, 0.5, -0.3])

    def projected(step):  # the q with slope(q) - slope(g) along the normal of the plane
        return minimize(lambda q: np.sum((slope(q) - slope(g) - step * direction) ** 2), g, method="BFGS", tol=1e-14).x

    q = projected(0.1)
    in_plane = q + 0.1 * np.array([0.3, 0.0, 1.0])  # orthogonal to the normal
    expected = divergence.value(in_plane, q) + divergence.value(q, g)
    np.testing.assert_allclose(divergence.value(in_plane, g), expected, rtol=1e-5)


F_DIVERGENCES = [*(Alpha(a) for a in (-1.0, 0.0, 0.3, 1.0, 2.0)), Hellinger(), FAMILIES["Csiszar(jensen_shannon)"]]


@given(triple=triples, mix=st.floats(0, 1))
@some
def test_f_divergences_are_jointly_convex_and_shrink_with_coarse_graining(triple, mix):
    p, q, other = triple
    for divergence in F_DIVERGENCES:
        mixed = divergence.value(mix * p + (1 - mix) * other, mix * q + (1 - mix) * p)
        assert mixed <= mix * divergence.value(p, q) + (1 - mix) * divergence.value(other, p) + 1e-10
        coarse_p, coarse_q = (np.append(x[2:], x[0] + x[1]) for x in (p, q))
        assert divergence.value(coarse_p, coarse_q) <= divergence.value(p, q) + 1e-10


def test_an_f_divergence_of_densities_is_largest_for_disjoint_ones():
    plain = FAMILIES["Csiszar(jensen_shannon)"]
    p, q = np.array([0.3, 0.7, 0.0]), np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(plain.value(p, q), 2 * np.log(2))  # f(0) + f*(0)


@given(pair=pairs, a=st.floats(1e-3, 1e3), b=st.floats(1e-3, 1e3))
@some
def test_scales(pair, a, b):
    p, q = pair
    for divergence in (Gamma(0.3), Gamma(2.0), CauchySchwarz()):
        np.testing.assert_allclose(divergence.value(a * p, b * q), divergence.value(p, q), atol=1e-9)
        np.testing.assert_allclose(b * divergence.derivative(a * p, b * q), divergence.derivative(p, q), atol=1e-9)
    for divergence, degree in [(ItakuraSaito(), 0), (Beta(1.5), 1.5), (Eta(3.0), 3), (Alpha(0.3), 1), (Hellinger(), 1)]:
        np.testing.assert_allclose(
            divergence.value(a * p, a * q), a**degree * divergence.value(p, q), rtol=1e-6, atol=1e-9
        )
    np.testing.assert_allclose(b * Renyi(0.5).derivative(a * p, b * q), Renyi(0.5).derivative(p, q), rtol=1e-9)
    shift = (0.3 * np.log(a) + 0.7 * np.log(b)) / (0.3 - 1)
    np.testing.assert_allclose(Renyi(0.3).value(a * p, b * q), Renyi(0.3).value(p, q) + shift, atol=1e-9)


@pytest.mark.parametrize("divergence", [Gamma(0.1), Gamma(5.0), CauchySchwarz(), Renyi(0.5), Renyi(5.0)], ids=repr)
@pytest.mark.parametrize("scales", [(1e-300, 1.0), (1.0, 1e-290), (1e300, 1e-300), (1e-305, 1e300)])
def test_tiny_and_huge_numbers(divergence, scales):
    p, q = np.random.default_rng(4).uniform(0.1, 1.0, (2, 8))
    a, b = scales
    shift = divergence._shift(a, b)
    np.testing.assert_allclose(divergence.value(a * p, b * q), divergence.value(p, q) + shift, rtol=1e-10)
    np.testing.assert_allclose(
        b * divergence.derivative(a * p, b * q), divergence.derivative(p, q), rtol=1e-10, atol=1e-12
    )


def test_gamma_divergences_hardly_see_outliers_elsewhere():
    rng = np.random.default_rng(5)
    q = np.append(rng.uniform(0.5, 1, 10), np.full(10, 1e-4))
    outliers = np.append(np.zeros(10), rng.uniform(0.5, 1, 10))
    p, q, outliers = densities(np.append(rng.uniform(0.5, 1, 10), np.zeros(10)), q, outliers)
    target = rng.permutation(q[:10])
    g = np.append(target, q[10:])
    for gamma, bound in [(0.5, 0.03), (1.0, 3e-4)]:
        divergence = Gamma(gamma)
        mixed = 0.9 * p + 0.1 * outliers
        seen = divergence.value(mixed, g) - divergence.value(mixed, q)  # what an optimizer compares
        assert abs(seen - (divergence.value(p, g) - divergence.value(p, q))) < bound


# Zeros


INF = np.inf
AT_ZERO = [  # D([0, 0, 1] || [0, 1, 1]), then D([0, 1, 1] || [0, 0, 1])
    (KullbackLeibler(), 0.0, INF),
    (GeneralizedKullbackLeibler(), 1.0, INF),
    (ReverseKullbackLeibler(), INF, 0.0),
    (ReverseGeneralizedKullbackLeibler(), INF, 1.0),
    (NeRV(0.5), INF, INF),
    (NeRV(0.0), INF, 0.0),
    (NeRV(1.0), 0.0, INF),
    (ItakuraSaito(), INF, INF),
    (Eta(1.5), 0.5, 1.0),
    (Eta(2.0), 1.0, 1.0),
    (Beta(-1.0), INF, INF),
    (Beta(0.5), 2.0, INF),
    (Beta(1.5), 2 / 3, 4 / 3),
    (Beta(2.0), 0.5, 0.5),
    (Alpha(-1.0), INF, 0.5),
    (Alpha(0.0), INF, 1.0),
    (Alpha(0.5), 2.0, 2.0),
    (Alpha(1.0), 1.0, INF),
    (Alpha(2.0), 0.5, INF),
    (GeneralizedRenyi(0.5), 2 * np.log(2), 2 * np.log(2)),
    (GeneralizedRenyi(2.0), np.log(2), INF),
    (GeneralizedRenyi(-1.0, normalized=True), INF, np.log(2) / 2),
    (Renyi(0.5), 0.0, 0.0),
    (Renyi(2.0), 0.0, INF),
    (Tsallis(0.5), 0.0, 0.0),
    (Tsallis(2.0), 0.0, INF),
    (Hellinger(), 0.5, 0.5),
    (Gamma(0.5), 2 / 3 * np.log(2), 4 / 3 * np.log(2)),
    (CauchySchwarz(), np.log(2) / 2, np.log(2) / 2),
]


@pytest.mark.parametrize(("divergence", "zero_p", "zero_q"), AT_ZERO, ids=[repr(case[0]) for case in AT_ZERO])
def test_zeros(divergence, zero_p, zero_q):
    both, zero = [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]
    np.testing.assert_allclose(divergence.value(zero, both), zero_p, atol=1e-12)
    np.testing.assert_allclose(divergence.value(both, zero), zero_q, atol=1e-12)
    assert divergence.needs_positive_p or np.isfinite(zero_p)
    assert divergence.needs_positive_q or np.isfinite(zero_q)


@families
def test_zeros_never_make_nan_and_the_flags_tell_where_infinity_is(divergence):
    values = np.array([0.0, 0.3, 1.0])
    p, q = (x.reshape(-1, 1) for x in np.meshgrid(values, values))
    p, q = (np.hstack([x, np.full_like(x, 0.5)]) for x in (p, q))
    found, derivative = divergence.value(p, q), divergence.derivative(p, q)
    assert not np.isnan(found).any()
    assert not np.isnan(derivative).any()
    finite = np.isfinite(found) & np.isfinite(derivative).all(axis=1)
    zero_p, zero_q = p[:, 0] == 0.0, q[:, 0] == 0.0
    assert finite[~zero_p & ~zero_q].all()
    assert divergence.needs_positive_q == (not finite[~zero_p & zero_q].all())
    assert divergence.needs_positive_p == (not finite[zero_p & ~zero_q].all())


@families
def test_parts_do_not_warn_of_zeros_that_are_allowed(divergence):
    form = divergence.limit()
    p, q = np.array([0.2, 0.3, 0.5]), np.array([1e-30, 0.5, 0.5])
    for zeros in (0.0, np.array([0.0, 0.0, 1.0])) if not form.needs_positive_p else (1e-6,):
        assert np.isfinite(form.terms(zeros, q)).all()
        assert np.isfinite(form.slopes(zeros, q)).all()
        assert form.terms(zeros, q).shape == form.slopes(p, q).shape


@families
def test_equal_arrays_with_zeros_have_divergence_zero(divergence):
    p = np.array([0.0, 0.25, 0.75, 0.0])
    assert abs(divergence.value(p, p)) < 1e-12


@pytest.mark.parametrize(
    "divergence", [Gamma(0.3), Gamma(1.0), Gamma(3.0), CauchySchwarz(), Renyi(0.5), Renyi(2.0)], ids=repr
)
def test_disjoint_supports_are_infinitely_far_apart(divergence):
    assert divergence.value([1.0, 0.0], [0.0, 1.0]) == INF
    assert divergence.value([[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]])[1] < INF


def test_nothing_has_no_direction():
    assert Gamma().value([0.0, 0.0], [1.0, 1.0]) == INF
    assert Gamma().value([1.0, 1.0], [0.0, 0.0]) == INF


def test_the_generalized_renyi_divergence_of_counts_is_infinite():
    p, q = np.array([40.0, 3.0]), np.array([5.0, 38.0])
    assert GeneralizedRenyi(0.5).value(p, q) == INF
    assert np.isinf(GeneralizedRenyi(0.5).derivative(p, q)).all()
    assert GeneralizedRenyi(0.5).value(*densities(p, q)) == pytest.approx(Renyi(0.5).value(*densities(p, q)))


@pytest.mark.parametrize(
    "divergence", [Alpha(0.5), Beta(1.5), Gamma(0.5), Hellinger(), GeneralizedKullbackLeibler()], ids=repr
)
def test_derivatives_at_zero_are_those_from_the_right(divergence):
    p, q, h = np.array([0.0, 1.0]), np.array([0.0, 0.7]), 1e-12
    expected = (divergence.value(p, q + np.array([h, 0.0])) - divergence.value(p, q)) / h
    np.testing.assert_allclose(divergence.derivative(p, q)[0], expected, atol=1e-3)


@families
def test_a_pseudocount_is_added_to_both(divergence):
    p, q = np.array([3.0, 0.0, 1.0]), np.array([0.0, 2.0, 1.0])
    p, q = p / 10, q / 10
    np.testing.assert_allclose(divergence.value(p, q, pseudocount=0.1), divergence.value(p + 0.1, q + 0.1))
    np.testing.assert_allclose(divergence.derivative(p, q, pseudocount=0.1), divergence.derivative(p + 0.1, q + 0.1))


# Input


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([1.0, -1.0], [1.0, 1.0], r"p contains negative numbers \(smallest -1\)"),
        ([1.0, 1.0], [1.0, np.nan], "q contains NaN or infinity"),
        ([1.0, np.inf], [1.0, 1.0], "p contains NaN or infinity"),
        ([1.0, 1.0], [1.0], "p has 2 entries along its last axis, but q has 1"),
        (1.0, [1.0], r"p has shape \(\)"),
        (np.ones((2, 0)), np.ones((2, 0)), r"p has shape \(2, 0\)"),
        (np.ones((2, 3)), np.ones((4, 3)), r"p of shape \(2, 3\) and q of shape \(4, 3\) cannot be broadcast"),
    ],
)
def test_input_is_checked(p, q, message):
    for method in (KullbackLeibler().value, Gamma().derivative):
        with pytest.raises(ValueError, match=message):
            method(p, q)


def test_pseudocounts_are_checked():
    with pytest.raises(ValueError, match=r"pseudocount=-1 must be a number in \[0, inf\)"):
        KullbackLeibler().value([1.0], [1.0], pseudocount=-1)


@pytest.mark.parametrize(
    ("family", "parameter", "message"),
    [
        (Eta, 1.0, r"eta=1.0 must be a number in \(1, inf\)"),
        (Beta, np.nan, "beta=nan"),
        (Alpha, "half", "alpha='half'"),
        (Renyi, 0.0, "alpha=0.0"),
        (Tsallis, -1.0, "alpha=-1.0"),
        (GeneralizedRenyi, -1.0, "alpha=-1.0 .* normalized=True"),
        (Gamma, -0.1, "gamma=-0.1"),
        (NeRV, 1.1, r"trade_off=1.1 must be a number in \[0, 1\]"),
    ],
)
def test_parameters_are_checked(family, parameter, message):
    with pytest.raises(ValueError, match=message):
        family(parameter)


def test_f_must_be_zero_at_one():
    with pytest.raises(ValueError, match=r"f\(1\)=1 must be 0"):
        Csiszar(np.square, np.square)


@pytest.mark.parametrize("name", DIVERGENCES)
def test_names_stand_for_classes(name):
    divergence = get_divergence(name)
    assert type(divergence) is DIVERGENCES[name]
    assert get_divergence(divergence) is divergence
    assert divergence == DIVERGENCES[name]()
    assert hash(divergence) == hash(DIVERGENCES[name]())


def test_unknown_names():
    with pytest.raises(ValueError, match="divergence='chi' must be one of 'kl', 'gkl'"):
        get_divergence("chi")
    with pytest.raises(ValueError, match="or an instance of a divergence"):
        get_divergence(Gamma)


# Many at once


@pytest.mark.parametrize("block", [1, 20, 1 << 18])
@pytest.mark.parametrize("name", DIVERGENCES)
def test_pairwise_divergences(monkeypatch, block, name):
    monkeypatch.setattr(divergences, "CACHED", 8 * block)
    P, Q = densities(*np.random.default_rng(6).uniform(0.1, 1.0, (2, 7, 4)))
    Q = Q[:5]
    D, divergence = pairwise_divergences(P, Q, name), get_divergence(name)
    np.testing.assert_allclose(D, [[formula(divergence, p, q) for q in Q] for p in P], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(pairwise_divergences(P, divergence=name), pairwise_divergences(P, P, name))


@pytest.mark.parametrize("divergence", [Gamma(0.5), Gamma(2.0), CauchySchwarz(), Renyi(0.5), Renyi(2.0)], ids=repr)
def test_pairwise_divergences_of_any_scale_and_with_zeros(divergence):
    P = np.random.default_rng(7).uniform(0.1, 1.0, (6, 4)) * 10.0 ** np.array([[-300, -20, 0, 5, 200, 300]]).T
    P[::2, 1] = P[1::3, 0] = 0.0
    P = np.vstack([P, [0.0, 1.0, 0.0, 0.0]])
    expected = [[divergence.value(p, q) for q in P] for p in P]
    assert np.isinf(expected).any()
    np.testing.assert_allclose(pairwise_divergences(P, divergence=divergence), expected, rtol=1e-10, atol=1e-12)


def test_pairwise_divergences_of_counts():
    counts = np.array([[3, 0, 1], [0, 2, 2]])
    assert pairwise_divergences(counts)[0, 1] == INF
    expected = formula(KullbackLeibler(), counts[0] + 1.0, counts[1] + 1.0)
    assert pairwise_divergences(counts, pseudocount=1)[0, 1] == pytest.approx(expected)


def test_pairwise_divergences_check_their_input():
    with pytest.raises(ValueError, match=r"P has shape \(3,\); give a table"):
        pairwise_divergences([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="p has 2 entries along its last axis, but q has 3"):
        pairwise_divergences(np.ones((2, 2)), np.ones((2, 3)))


OF_BREGMAN = {"three_point", "pythagoras"}
PROPERTIES = {
    "kl": {"positive_for_densities", "convex_in_p", "convex_in_q", *OF_BREGMAN},
    "gkl": {"positive", "positive_for_densities", "convex_in_p", "convex_in_q", *OF_BREGMAN},
    "is": {"positive", "positive_for_densities", "convex_in_p", *OF_BREGMAN},
    "hellinger": {"positive", "positive_for_densities", "symmetric", "convex_in_p", "convex_in_q"},
    "eta": {"positive", "positive_for_densities", "symmetric", "convex_in_p", "convex_in_q", *OF_BREGMAN},
    "gamma": {"positive", "positive_for_densities", "scale_invariant", "pythagoras"},
    "cauchy_schwarz": {"positive", "positive_for_densities", "symmetric", "scale_invariant", "pythagoras"},
}


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_are_recognized(name):
    found = check_divergence(name, random_state=0)
    assert {key for key, holds in found.items() if holds} == PROPERTIES[name]


@pytest.mark.parametrize(
    "divergence", [Beta(0.3), Eta(3.0), Bregman(lambda x: x**4, lambda x: 4 * x**3, lambda x: 12 * x**2)]
)
def test_bregman_divergences_have_three_points_and_pythagoras(divergence):
    found = check_divergence(divergence, random_state=0)
    assert all(found[name] for name in OF_BREGMAN)


@pytest.mark.parametrize(
    "divergence", [Alpha(0.5), Alpha(2.0), Renyi(0.7), "reverse_kl", "nerv", "tsallis", "generalized_renyi"]
)
def test_others_have_not(divergence):
    found = check_divergence(divergence, random_state=0)
    assert not any(found[name] for name in OF_BREGMAN)


def test_three_points_by_definition():
    """The vector of the property is the difference of the slopes of the convex function."""
    p, q, g = np.random.default_rng(0).uniform(0.1, 2.0, size=(3, 5))
    power = Bregman(lambda x: x**4, lambda x: 4 * x**3, lambda x: 12 * x**2)
    rest = (p - q) @ (4 * q**3 - 4 * g**3)
    assert power.value(p, g) == pytest.approx(power.value(p, q) + power.value(q, g) + rest, rel=1e-12)


def test_a_divergence_that_is_none_is_found_out():
    concave = Csiszar(lambda u: -((u - 1) ** 2), lambda u: -2 * (u - 1))
    found = check_divergence(concave, random_state=0)
    assert not any(found[name] for name in ("positive", "positive_for_densities", "convex_in_p"))
