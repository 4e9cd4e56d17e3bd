"""Textures: curves that replay or stay near a sequence, frames and back, linear systems, files of videos."""

import os
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolearn import MixturePPCA
from protolearn.applications import (
    DynamicTexture,
    LinearDynamicTexture,
    Trajectory,
    frame_errors,
    read_video,
    video,
    write_video,
)
from protolearn.applications.video import Eigenimages
from protolearn.core import files
from protolearn.datasets import make_dynamic_texture
from protolearn.embedding import Charting


def knot(n=120, d=6, turns=2.3, seed=0):
    """A smooth closed curve in d dimensions, run through more than twice."""
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * turns * np.arange(n) / n
    waves = np.concatenate([f(k * angles)[:, None] / k for k in (1, 2, 3) for f in (np.cos, np.sin)], axis=1)
    return waves @ rng.normal(size=(6, d))


# Trajectories


@pytest.mark.parametrize("pull", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("periodic", [False, True])
def test_one_neighbor_and_no_noise_replay_the_sequence(pull, periodic):
    z = np.random.default_rng(0).normal(size=(30, 5))
    trajectory = Trajectory(1, noise=0, pull=pull, periodic=periodic).fit(z)
    positions, frames = trajectory.sample(28, random_state=0)
    np.testing.assert_allclose(positions, z[2:], atol=1e-12)
    np.testing.assert_array_equal(frames, np.arange(2, 30))
    positions, frames = trajectory.sample(10, start=11, random_state=0)
    np.testing.assert_allclose(positions, z[12:22], atol=1e-12)


def test_a_periodic_sequence_begins_again():
    z = np.random.default_rng(0).normal(size=(10, 3))
    _, frames = Trajectory(1, noise=0, periodic=True).fit(z).sample(25, start=0)
    np.testing.assert_array_equal(frames, np.arange(1, 26) % 10)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**31 - 1),
    st.integers(1, 9),
    st.integers(1, 4),
    st.floats(0.0, 1.0),
    st.floats(0.0, 10.0),
    st.booleans(),
)
def test_successors_are_those_of_the_formula(seed, k, n_candidates, pull, smoothness, periodic):
    rng = np.random.default_rng(seed)
    z, previous, current = rng.normal(size=(8, 3)), rng.normal(size=3), rng.normal(size=3)
    trajectory = Trajectory(
        k,
        n_candidates=n_candidates,
        neighbor_range=1.3,
        smoothness=smoothness,
        noise=0.1,
        window=0.8,
        pull=pull,
        periodic=periodic,
    ).fit(z)
    found = trajectory.successors(previous, current, np.random.RandomState(seed))

    # The same, one candidate after another.
    likes = [
        sum((z[-1] - z[j]) ** 2) + sum((z[-1] - z[-2] - z[j] + z[j - 1]) ** 2) if 1 <= j < 4 else np.inf
        for j in range(8)
    ]
    twin = 7 if periodic else int(np.argmin(likes))
    known = range(8) if periodic else range(1, 8)
    near = sorted(known, key=lambda i: sum((current - z[i]) ** 2))[:k]
    noise = np.random.RandomState(seed).normal(size=(len(near), n_candidates, 3))
    positions, frames, weights = [], [], []
    for row, i in enumerate(near):
        at = twin if i == 7 else i
        after = (at + 1) % 8
        move, direction = z[i] - z[i - 1], current - previous
        cosine = move @ direction / np.sqrt(sum(move**2) * sum(direction**2))
        for j in range(n_candidates):
            g = z[after] + (1 - pull) * (current - z[at]) + 0.1 * noise[row, j]
            density = sum(np.exp(-sum((g - one) ** 2) / (2 * 0.8**2)) for one in z)
            positions.append(g)
            frames.append(after)
            weights.append(np.exp(-sum((current - z[i]) ** 2) / 1.3**2) * np.exp(smoothness * (cosine - 1)) * density)
    np.testing.assert_allclose(found.positions, positions, atol=1e-12)
    np.testing.assert_array_equal(found.frames, frames)
    np.testing.assert_allclose(found.probabilities, np.array(weights) / sum(weights), rtol=1e-9, atol=1e-300)


def test_probabilities_survive_many_dimensions_and_far_positions():
    z = knot(d=40)
    trajectory = Trajectory().fit(z)
    for far in (0.0, 1e3, 1e6):
        found = trajectory.successors(z[3] + far, z[4] + far, 0)
        assert np.isfinite(found.probabilities).all()
        assert found.probabilities.sum() == pytest.approx(1.0)


def test_a_resting_sequence_has_no_direction():
    z = np.repeat(knot(20), 3, axis=0)  # most steps have the length zero
    trajectory = Trajectory().fit(z)
    assert min(trajectory.window_, trajectory.neighbor_range_, trajectory.noise_) > 0
    found = trajectory.successors(z[1], z[2], 0)  # two equal positions
    assert np.isfinite(found.probabilities).all()


def test_curves_stay_near_the_sequence_and_do_not_end_with_it():
    z = knot()
    trajectory = Trajectory().fit(z)
    positions, frames = trajectory.sample(800, random_state=0)
    assert cdist(positions, z).min(axis=1).max() < 2.5 * trajectory.window_
    assert (frames >= 110).mean() < 0.3
    assert np.linalg.norm(np.diff(positions[-100:], axis=0), axis=1).mean() > 0.5 * trajectory.window_


def test_the_pull_prevents_drift():
    z = np.cumsum(np.random.default_rng(0).normal(size=(150, 30)), axis=0)
    z -= np.linspace(0, 1, 150)[:, None] * z[-1]
    offsets = []
    for pull in (0.0, 0.5):
        positions, _ = Trajectory(pull=pull).fit(z).sample(400, random_state=1)
        offsets.append(np.median(cdist(positions, z).min(axis=1)))
    assert offsets[1] < 0.3 * offsets[0]


def test_curves_repeat_with_the_seed_and_vary_without_it():
    trajectory = Trajectory().fit(knot())
    first, again, other = (trajectory.sample(50, random_state=seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-3


@settings(max_examples=10, deadline=None)
@given(st.floats(1e-6, 1e6), st.floats(-10, 10))
def test_curves_scale_with_the_sequence(scale, shift):
    z = knot(60)
    positions, frames = Trajectory().fit(z).sample(40, random_state=0)
    others, other_frames = Trajectory().fit(scale * (z + shift)).sample(40, random_state=0)
    np.testing.assert_array_equal(frames, other_frames)
    np.testing.assert_allclose(others, scale * (positions + shift), rtol=1e-6, atol=1e-6 * scale)


def test_curves_turn_with_the_sequence():
    z = knot(60)
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    positions, frames = Trajectory(noise=0).fit(z).sample(40, random_state=0)
    others, other_frames = Trajectory(noise=0).fit(z @ turn).sample(40, random_state=0)
    np.testing.assert_array_equal(frames, other_frames)
    np.testing.assert_allclose(others, positions @ turn, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_candidates": 1.5}, "n_candidates=1.5"),
        ({"noise": -1}, "noise=-1 .* or 'auto'"),
        ({"window": 0}, "window=0"),
        ({"neighbor_range": "wide"}, "neighbor_range='wide'"),
        ({"smoothness": -1}, "smoothness=-1"),
        ({"pull": 2}, "pull=2"),
    ],
)
def test_wrong_parameters_of_a_trajectory(parameters, message):
    with pytest.raises(ValueError, match=message):
        Trajectory(**parameters).fit(knot(20))


def test_wrong_input_of_a_trajectory():
    with pytest.raises(ValueError, match="All positions are equal"):
        Trajectory().fit(np.ones((5, 2)))
    trajectory = Trajectory().fit(knot(20))
    for start, message in [(0, "start=0"), (20, "start=20"), (np.zeros((3, 6)), "two positions")]:
        with pytest.raises(ValueError, match=message):
            trajectory.sample(5, start=start)
    with pytest.raises(ValueError, match="n_steps=0"):
        trajectory.sample(0)


@parametrize_with_checks([Trajectory()])
def test_trajectory_is_an_estimator(estimator, check):
    check(estimator)


# Frames


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 12), st.integers(1, 12), st.sampled_from([(4, 5), (3, 3, 3)]), st.integers(0, 1000))
def test_eigenimages_are_the_singular_vectors(n, q, shape, seed):
    frames = np.random.default_rng(seed).integers(0, 256, (n, *shape)).astype(np.uint8)
    basis = Eigenimages.of(frames, q)
    flat = frames.reshape(n, -1) - frames.reshape(n, -1).mean(axis=0)
    u, s, v = np.linalg.svd(flat, full_matrices=False)
    rank = min(q, n - 1)
    assert basis.images.shape == (rank, *shape)
    axes = basis.images.reshape(rank, -1)
    np.testing.assert_allclose(axes @ axes.T, np.eye(rank), atol=1e-4)
    expected = (u[:, :rank] * s[:rank]) @ v[:rank] + frames.reshape(n, -1).mean(axis=0)
    np.testing.assert_allclose(basis.render(basis.project(frames)).reshape(n, -1), expected, atol=0.02)


def test_errors_of_frames_are_mean_differences():
    rng = np.random.default_rng(0)
    made, originals = rng.integers(0, 256, (2, 6, 4, 5, 3)).astype(np.uint8)
    expected = [[np.abs(a.astype(int) - b).mean() for b in originals.astype(int)] for a in made]
    np.testing.assert_allclose(frame_errors(made, originals), np.diag(expected))
    np.testing.assert_allclose(frame_errors(made, originals, nearest=True), np.min(expected, axis=1))
    np.testing.assert_allclose(frame_errors(made[:2], originals, nearest=True), np.min(expected[:2], axis=1))
    with pytest.raises(ValueError, match="2 frames, but 6 originals"):
        frame_errors(made[:2], originals)
    with pytest.raises(ValueError, match="the same size"):
        frame_errors(made[:, 1:], originals)


# Textures


@pytest.fixture(scope="module")
def waves():
    return make_dynamic_texture(120, (18, 22), kind="waves", random_state=0)


@pytest.fixture(scope="module")
def texture(waves):
    return DynamicTexture(8, n_pca=30, n_charts=3, random_state=0).fit(waves)


def assert_same_frames(first, second):
    """Whole numbers that were rounded from nearly equal ones differ by one at most, and seldom."""
    differences = np.abs(first.astype(int) - second)
    assert differences.max() <= 1
    assert differences.mean() < 1e-3


def test_one_chart_is_principal_components(waves):
    one = DynamicTexture(8, n_pca=30, n_charts=1, random_state=0).fit(waves)
    linear = LinearDynamicTexture(8).fit(waves)
    np.testing.assert_allclose(one.reconstruct().astype(int), linear.reconstruct().astype(int), atol=1)
    np.testing.assert_allclose(cdist(one.embedding_, one.embedding_), cdist(*[linear.embedding_] * 2), rtol=1e-3)


def test_charts_know_frames_better_than_global_components(waves, texture):
    linear = LinearDynamicTexture(8).fit(waves)
    assert texture.reconstruction_errors_.mean() < 0.8 * linear.reconstruction_errors_.mean()
    np.testing.assert_allclose(texture.reconstruction_errors_, frame_errors(texture.reconstruct(), waves))


def test_positions_are_those_of_the_charting(waves, texture):
    np.testing.assert_allclose(
        texture.transform(waves), texture.embedding_, atol=1e-6 * np.abs(texture.embedding_).max()
    )
    assert_same_frames(texture.inverse_transform(texture.embedding_), texture.reconstruct())


def test_replay_through_frames(waves):
    replaying = DynamicTexture(8, n_pca=30, trajectory=Trajectory(1, noise=0), random_state=0).fit(waves)
    assert_same_frames(replaying.sample(118), replaying.reconstruct()[2:])
    assert_same_frames(replaying.sample(20, start=49), replaying.reconstruct()[50:70])
    assert_same_frames(replaying.sample(20, start=waves[48:50]), replaying.reconstruct()[50:70])


def test_slow_motion_passes_through_the_frames(texture):
    np.testing.assert_array_equal(texture.interpolate(0), texture.reconstruct())
    slow = texture.interpolate(2)
    assert len(slow) == 120 + 2 * 119
    assert_same_frames(slow[::3], texture.reconstruct())
    middle = texture.inverse_transform((texture.embedding_[4:5] * 2 + texture.embedding_[5:6]) / 3)
    assert_same_frames(slow[13], middle[0])


@pytest.mark.parametrize("kind", ["waves", "rotation", "advection"])
def test_new_frames_look_like_the_video_for_ever(kind):
    frames = make_dynamic_texture(160, (18, 22), kind=kind, random_state=1)
    charts = DynamicTexture(8, n_pca=30, n_charts=4, random_state=1).fit(frames)
    linear = LinearDynamicTexture(8).fit(frames)
    new, other = (model.sample(400, random_state=0) for model in (charts, linear))
    errors, baseline = (frame_errors(made, frames, nearest=True) for made in (new, other))
    assert errors.mean() < 0.8 * baseline.mean()
    assert errors[200:].mean() < 1.5 * errors[:200].mean()
    assert errors.max() < baseline.max()


def test_other_local_models(waves):
    mixture = Charting(8, local_model=MixturePPCA(3, 8, epsilon=0.05), gating="rank", n_init=1, random_state=0)
    other = DynamicTexture(n_pca=30, charting=mixture).fit(waves)  # its own 40 components do not count
    assert other.embedding_.shape == (120, 8)
    assert isinstance(other.charting_.local_model_, MixturePPCA)
    assert not hasattr(mixture, "embedding_")
    assert other.reconstruction_errors_.mean() < 8


def test_numbers_are_counted(texture, waves):
    k, d, q, pixels = 3, 8, 30, 18 * 22 * 3
    charts = k * q + k * d * q + k * (d + 1) * d
    assert texture.compression_ratio_ == pytest.approx(((q + 1) * pixels + 120 * d + charts) / waves.size)
    linear = LinearDynamicTexture(8, order=2).fit(waves)
    assert linear.compression_ratio_ == pytest.approx((9 * pixels + 120 * 8 + 2 * 64) / waves.size)


def test_gray_frames_of_any_type(waves):
    gray = waves[..., 0]
    bytes_ = DynamicTexture(6, n_pca=20, n_charts=2, random_state=0).fit(gray)
    floats = clone(bytes_).fit(gray / 255.0)
    assert bytes_.sample(3).shape == (3, 18, 22)
    assert (bytes_.sample(3).dtype, floats.sample(3).dtype) == (np.uint8, np.float64)
    np.testing.assert_allclose(255 * floats.reconstruct(), bytes_.reconstruct(), atol=1.5)
    made = floats.inverse_transform(50 * floats.embedding_)
    assert gray.min() / 255 <= made.min() < made.max() <= gray.max() / 255


def test_copies_are_the_same(texture):
    loaded = pickle.loads(pickle.dumps(texture))
    np.testing.assert_array_equal(loaded.sample(5, random_state=3), texture.sample(5, random_state=3))
    again = clone(texture).set_params(n_charts=2)
    assert again.get_params()["n_charts"] == 2
    assert not hasattr(again, "embedding_")


def test_a_failed_fit_loses_nothing(waves, texture):
    model = pickle.loads(pickle.dumps(texture))
    with pytest.raises(ValueError, match="n_components=8 is more than the 4 principal components of the 5 frames"):
        model.fit(waves[:5])
    np.testing.assert_array_equal(model.reconstruct(), texture.reconstruct())


@pytest.mark.parametrize("model", [DynamicTexture(2, n_pca=4), LinearDynamicTexture(2)])
@pytest.mark.parametrize(
    ("frames", "message"),
    [
        (np.zeros((9, 4)), "has the shape"),
        (np.zeros((9, 4, 4, 4)), "has the shape"),
        (np.zeros((3, 4, 4)), "has 3 frames, but at least 4"),
        (np.full((9, 4, 4), np.nan), "NaN"),
        (np.full((9, 4, 4), "a"), "must be numbers"),
        (np.tile(np.arange(16).reshape(4, 4), (9, 1, 1)), "All frames are equal"),
    ],
)
def test_wrong_videos(model, frames, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(frames)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"n_components": 0}, "n_components=0"), ({"n_pca": 0}, "n_pca=0"), ({"n_charts": "many"}, "n_charts='many'")],
)
def test_wrong_parameters_of_a_texture(waves, parameters, message):
    with pytest.raises(ValueError, match=message):
        DynamicTexture(**parameters).fit(waves)


def test_wrong_starts(waves, texture):
    for start, message in [(0, "start=0"), (waves[:3], "two positions"), (waves[:2, 1:], "Frames have the shape")]:
        with pytest.raises(ValueError, match=message):
            texture.sample(5, start=start)
    linear = LinearDynamicTexture(4, order=3).fit(waves)
    for start, message in [(1, "start=1"), (waves[:2], "start has 2 frames")]:
        with pytest.raises(ValueError, match=message):
            linear.sample(5, start=start)


# Linear textures


def turning(n, frequencies, damping=1.0, seed=0):
    """Frames whose state turns and fades, and the eigenvalues of one step."""
    rng = np.random.default_rng(seed)
    steps = damping * np.exp(1j * np.asarray(frequencies))
    states = np.exp(np.outer(np.arange(n), np.log(steps)))
    images = np.linalg.qr(rng.normal(size=(20, 2 * len(frequencies))))[0]
    return 100 * (np.hstack([states.real, states.imag]) @ images.T).reshape(n, 4, 5), steps


def test_a_linear_system_is_found_and_replayed():
    frames, steps = turning(200, [2 * np.pi / 20, 2 * np.pi / 50])  # whole turns, so that the mean is the origin
    model = LinearDynamicTexture(4, noise=False).fit(frames)
    eigenvalues = np.linalg.eigvals(model.transitions_[0])
    expected = np.concatenate([steps, steps.conj()])
    np.testing.assert_allclose(np.sort_complex(eigenvalues), np.sort_complex(expected), atol=1e-6)
    np.testing.assert_allclose(model.sample(150, start=9), frames[10:160], atol=1e-3)
    assert model.spectral_radius_ == pytest.approx(1.0)


def test_a_second_order_finds_what_one_coordinate_hides():
    state = np.cos(2 * np.pi * np.arange(100) / 25)
    frames = state[:, None, None] * np.arange(6.0).reshape(2, 3)
    first, second = (LinearDynamicTexture(1, order=p, noise=False).fit(frames) for p in (1, 2))
    np.testing.assert_allclose(second.sample(90, start=9), frames[10:], atol=1e-6)
    np.testing.assert_allclose(second.sample(5, start=frames[8:10]), frames[10:15], atol=1e-6)
    np.testing.assert_allclose(np.ravel(second.transitions_), [2 * np.cos(2 * np.pi / 25), -1], atol=1e-6)
    assert np.abs(first.sample(90, start=9) - frames[10:]).max() > 1


def test_noise_has_the_covariance_of_the_residuals():
    clouds = make_dynamic_texture(120, (18, 22), kind="advection", random_state=0)
    model = LinearDynamicTexture(5).fit(clouds)
    positions = model._continue(30_000, None, 0)
    noise = positions[1:] - positions[:-1] @ model.transitions_[0].T
    expected = model.residuals_.T @ model.residuals_ / len(model.residuals_)
    np.testing.assert_allclose(np.cov(noise.T), expected, atol=0.05 * np.diag(expected).max())
    quiet = LinearDynamicTexture(5, noise=False).fit(clouds)
    positions = quiet._continue(50, None, 0)
    np.testing.assert_allclose(positions[1:], positions[:-1] @ model.transitions_[0].T, atol=1e-6)


@pytest.mark.parametrize("order", [1, 2])
def test_a_system_that_grows_is_held(order):
    times = np.arange(60)
    growing = (1.1**times * np.cos(times))[:, None, None] * np.array([[1.0, -1.0], [2.0, 0.0]])
    model = LinearDynamicTexture(1, order=order, noise=False).fit(growing)
    if order == 2:
        assert model.spectral_radius_ == pytest.approx(1.1, abs=0.01)
    companion = np.vstack([np.hstack(model.transitions_), np.eye(order - 1, order)])
    assert np.abs(np.linalg.eigvals(companion)).max() == pytest.approx(min(1.0, model.spectral_radius_))
    assert np.abs(model._continue(3000, 40, None)).max() < 10 * np.abs(model.embedding_).max()


def test_too_few_frames_for_a_linear_system(waves):
    with pytest.raises(ValueError, match="30 frames are too few for order=3 and n_components=10"):
        LinearDynamicTexture(10, order=3).fit(waves[:30])


# Files


def smooth(n=8, height=32, width=48):
    t, row, column = np.indices((n, height, width))
    gray = 128 + 60 * np.sin(row / 9 + t / 3) + 60 * np.cos(column / 11)
    return np.stack([gray, 255 - gray, 0.5 * gray + 60], axis=3).astype(np.uint8)


@pytest.mark.parametrize("kind", ["mp4", "mkv", "avi", "gif"])
def test_videos_there_and_back(tmp_path, kind):
    pytest.importorskip("av")
    frames = smooth()
    write_video(tmp_path / f"video.{kind}", frames, fps=20)
    back = read_video(tmp_path / f"video.{kind}")
    assert back.shape == frames.shape
    assert back.dtype == np.uint8
    assert frame_errors(back, frames).max() < 4
    few = read_video(str(tmp_path / f"video.{kind}"), shape=(16, 12), max_frames=3)
    assert few.shape == (3, 16, 12, 3)
    blocks = frames[:3].reshape(3, 16, 2, 12, 4, 3).mean(axis=(2, 4))
    assert frame_errors(few, blocks).max() < 5


def test_odd_sizes_and_gray_frames(tmp_path):
    pytest.importorskip("av")
    gray = smooth()[:, :31, :47, 0]
    write_video(tmp_path / "odd.mp4", gray)
    back = read_video(tmp_path / "odd.mp4")
    assert back.shape == (8, 32, 48, 3)
    assert frame_errors(back[:, :31, :47], np.repeat(gray[..., None], 3, axis=3)).max() < 4
    assert np.abs(back[:, 31, :47, 0].astype(int) - gray[:, 30]).mean() < 6


def test_a_file_is_a_texture(tmp_path):
    pytest.importorskip("av")
    write_video(tmp_path / "video.mp4", make_dynamic_texture(40, (16, 20), random_state=0))
    frames = read_video(tmp_path / "video.mp4")
    for path in (tmp_path / "video.mp4", str(tmp_path / "video.mp4")):
        model = LinearDynamicTexture(3).fit(path)
        np.testing.assert_array_equal(model.reconstruct(), LinearDynamicTexture(3).fit(frames).reconstruct())


def test_damaged_files_are_said(tmp_path):
    pytest.importorskip("av")
    frames = smooth(20)
    write_video(tmp_path / "whole.avi", frames)
    stream = (tmp_path / "whole.avi").read_bytes()
    (tmp_path / "cut.avi").write_bytes(stream[: len(stream) // 2])
    with pytest.raises(ValueError, match=r"truncated: only its first \d+ frames can be read") as caught:
        read_video(tmp_path / "cut.avi")
    n = int(str(caught.value).rstrip(".").rpartition("=")[2])
    assert 5 < n < 15
    kept = read_video(tmp_path / "cut.avi", max_frames=n)
    np.testing.assert_array_equal(kept, read_video(tmp_path / "whole.avi", max_frames=n))

    (tmp_path / "text.mp4").write_text("no video " * 100)
    with pytest.raises(ValueError, match="cannot be read as a video"):
        read_video(tmp_path / "text.mp4")
    with pytest.raises(FileNotFoundError):
        read_video(tmp_path / "none.mp4")


def test_files_that_name_others_are_not_followed(tmp_path):
    """FFmpeg would read scripts and numbered pictures, and fetch addresses."""
    pytest.importorskip("av")
    write_video(tmp_path / "other.avi", smooth())
    (tmp_path / "script.mp4").write_text("ffconcat version 1.0\nfile other.avi\n")
    with pytest.raises(ValueError, match="cannot be read as a video"):
        read_video(tmp_path / "script.mp4")
    for name in (f"concat:{tmp_path}/other.avi|{tmp_path}/other.avi", "http://localhost:9/video.mp4"):
        with pytest.raises(FileNotFoundError):
            read_video(name)
    os.mkfifo(tmp_path / "pipe.avi")
    with pytest.raises(ValueError, match="not a regular file"):
        read_video(tmp_path / "pipe.avi")


def test_a_few_bytes_cannot_ask_for_many_frames(tmp_path, monkeypatch):
    """What frames take together is bounded, whatever the file promises; smaller or fewer ones can be had."""
    pytest.importorskip("av")
    write_video(tmp_path / "still.mp4", np.repeat(smooth(1), 100, axis=0))
    size = (tmp_path / "still.mp4").stat().st_size
    monkeypatch.setattr(files, "FREE_PIXELS", 0)
    monkeypatch.setattr(files, "PIXELS_PER_BYTE", 10)
    assert size < 100 * 32 * 48 / 10
    with pytest.raises(ValueError, match=r"claims more than \d+ frames of 48 x 32 pixels.*max_frames.*shape"):
        read_video(tmp_path / "still.mp4")
    assert read_video(tmp_path / "still.mp4", max_frames=10).shape == (10, 32, 48, 3)
    assert read_video(tmp_path / "still.mp4", shape=(4, 6)).shape == (100, 4, 6, 3)


def test_a_failure_leaves_the_old_video(tmp_path, monkeypatch):
    pytest.importorskip("av")
    path = tmp_path / "video.mp4"
    write_video(path, smooth())
    before = path.read_bytes()

    def encode(file, *_):
        file.write_bytes(before[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(video, "_encode", encode)
    with pytest.raises(OSError, match="No space left"):
        write_video(path, smooth())
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_wrong_files_and_frames(tmp_path):
    pytest.importorskip("av")
    with pytest.raises(ValueError, match=r"must end in .mp4, .mkv, .avi or .gif"):
        write_video(tmp_path / "video.txt", smooth())
    with pytest.raises(ValueError, match="uint8, not float64"):
        write_video(tmp_path / "video.mp4", smooth() / 255)
    with pytest.raises(ValueError, match="fps=0"):
        write_video(tmp_path / "video.mp4", smooth(), fps=0)
    with pytest.raises(ValueError, match="height and width"):
        read_video(tmp_path / "video.mp4", shape=(1, 2, 3))
    with pytest.raises(ValueError, match="max_frames=0"):
        read_video(tmp_path / "video.mp4", max_frames=0)
    assert not list(tmp_path.iterdir())


def test_the_missing_library_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    for call in (lambda: read_video(tmp_path / "a.mp4"), lambda: write_video(tmp_path / "a.mp4", smooth())):
        with pytest.raises(ImportError, match=r"protolearn\[video\]"):
            call()
