"""The pot turns smoothly and is lit as it should be; textures move as their kind says."""

import numpy as np
import pytest

from protolearn.datasets import make_dynamic_texture, make_rotating_views

KINDS = ("waves", "rotation", "advection")


@pytest.fixture(scope="module")
def pot():
    return make_rotating_views(60)


class TestRotatingViews:
    def test_images_and_angles(self, pot):
        images, angles = pot
        assert images.shape == (60, 38, 50, 3)
        assert images.dtype == np.uint8
        np.testing.assert_allclose(angles, np.pi * np.arange(60) / 59)
        np.testing.assert_array_equal(images[:, 0, 0], 30)  # the pot is in the middle
        assert make_rotating_views(3, (20, 31))[0].shape == (3, 20, 31, 3)

    def test_an_angle_decides_the_image(self, pot):
        images, angles = pot
        half, _ = make_rotating_views(2, max_angle=angles[17])
        np.testing.assert_array_equal(half[1], images[17])
        whole, _ = make_rotating_views(2, max_angle=2 * np.pi)
        assert np.abs(whole[0].astype(int) - whole[1]).max() <= 1
        assert (make_rotating_views(1)[0][0] == images[0]).all()

    def test_images_form_an_open_curve(self, pot):
        images, _ = pot
        X = images.reshape(60, -1).astype(float)
        D = np.linalg.norm(X[:, None] - X, axis=2)
        gaps = np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
        nearest = np.where(gaps == 0, np.inf, D).argmin(axis=1)
        np.testing.assert_array_equal(np.abs(nearest - np.arange(60)), 1)
        steps = D[gaps == 1]
        assert steps.max() < 3 * np.median(steps)
        assert D[gaps > 10].min() > 1.2 * steps.max()

    def test_a_turn_keeps_what_is_on_the_axis_and_moves_the_spout(self, pot):
        images, _ = pot
        seen = (images != 30).any(axis=3)
        rows = seen.any(axis=2)
        assert (rows == rows[0]).all()  # as high from all sides
        np.testing.assert_array_equal(seen[0], seen[-1][:, ::-1])  # the outline from behind is the mirrored one
        assert not (images[0] == images[-1][:, ::-1]).all()  # but the light stays where it is
        extent = [np.flatnonzero(outline.any(axis=0)) for outline in seen]
        widths = np.array([columns.max() - columns.min() for columns in extent])
        assert widths[0] == widths[-1] == widths.max() > 1.5 * widths[30]

    def test_after_a_quarter_turn_the_handle_is_in_front(self, pot):
        red, green, blue = np.moveaxis(pot[0][[0, 30, -1]].astype(float), -1, 0)
        brass = (red > 80) & (green > 0.8 * red) & (blue < 0.65 * red)
        across = [np.flatnonzero(outline[12:].any(axis=0)) for outline in brass]  # below the knob
        assert across[0].max() < 18
        assert 20 < across[1].min() <= across[1].max() < 30
        assert across[2].min() > 31

    def test_the_spot_is_seen_from_one_side_only(self, pot):
        blue = (pot[0][..., 2] > pot[0][..., 0] + 20).sum(axis=(1, 2))
        assert blue[0] > 50
        assert blue[-1] == 0

    def test_it_is_brighter_towards_the_light(self, pot):
        """The light comes from the upper left, where the body is brightest."""
        first = pot[0][-1].astype(float)
        body = first[..., 0] * (np.abs(np.linspace(-1, 1, 50)) < 0.4)
        row, column = np.unravel_index(body[12:34].argmax(), (22, 50))
        assert column < 25
        assert row < 10
        assert first[30, 30, 0] < 0.5 * body[12:34].max()

    def test_lamberts_law_on_the_body(self):
        """On the body alone, brightness is a quarter plus three quarters of the cosine of the angle to the light."""
        image = make_rotating_views(1, (184, 260), max_angle=0.0)[0][0]
        light = np.array([-0.48, -0.6, 0.64])
        for across, up in ((-0.3, -0.3), (0.0, -0.5), (0.35, -0.4)):
            x, z = across / 0.66, (up + 0.1) / 0.66
            normal = np.array([x, -np.sqrt(1 - x**2 - z**2), z])
            expected = 0.25 + 0.75 * max(0.0, normal @ light)
            pixel = image[round(92 - 100 * up), round(130 + 100 * across)]
            np.testing.assert_allclose(pixel / [214, 140, 96], expected, atol=0.03)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"n_frames": 0}, "n_frames=0 must be an integer in .1, inf."),
            ({"shape": 38}, "shape=38 must be two numbers: the height and the width"),
            ({"shape": (38, 50, 3)}, "must be two numbers"),
            ({"shape": (38, 1)}, "shape=1 must be an integer in .2, inf."),
        ],
    )
    def test_errors(self, wrong, message):
        with pytest.raises(ValueError, match=message):
            make_rotating_views(**wrong)
        with pytest.raises(ValueError, match=message):
            make_dynamic_texture(**wrong)


class TestDynamicTexture:
    @pytest.mark.parametrize("kind", KINDS)
    def test_frames(self, kind):
        frames = make_dynamic_texture(40, (24, 30), kind=kind, random_state=0)
        assert frames.shape == (40, 24, 30, 3)
        assert frames.dtype == np.uint8
        assert frames.mean() == pytest.approx(128, abs=25)
        assert 20 < frames.std() < 50
        assert np.mean((frames == 0) | (frames == 255)) < 0.002
        channels = np.corrcoef(frames.reshape(-1, 3).T)
        assert (channels[np.triu_indices(3, 1)] > 0.5).all()
        assert (channels[np.triu_indices(3, 1)] < 0.99).all()

    @pytest.mark.parametrize("kind", KINDS)
    def test_the_seed_decides(self, kind):
        rng = np.random.RandomState(3)
        first, second = (make_dynamic_texture(5, kind=kind, random_state=rng) for _ in range(2))
        np.testing.assert_array_equal(first, make_dynamic_texture(5, kind=kind, random_state=3))
        assert not np.array_equal(first, second)

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_longer_sequence_begins_with_the_shorter_one(self, kind):
        short, long = (make_dynamic_texture(n, kind=kind, random_state=0) for n in (5, 12))
        np.testing.assert_array_equal(short, long[:5])

    @pytest.mark.parametrize("kind", KINDS)
    def test_steps_are_smooth(self, kind):
        frames = make_dynamic_texture(60, kind=kind, random_state=0).reshape(60, -1).astype(float)
        one, many = (np.linalg.norm(frames[gap:] - frames[:-gap], axis=1) for gap in (1, 15))
        assert one.max() < 0.8 * many.mean()
        assert one.min() > 0.1 * one.max()

    def test_twelve_waves_span_twenty_four_dimensions(self):
        frames = make_dynamic_texture(300, (20, 26), random_state=0).reshape(300, -1) - 128.0
        values = np.linalg.svd(frames, compute_uv=False)
        noise = np.sqrt(1 / 12) * (np.sqrt(300) + np.sqrt(20 * 26 * 3))  # largest of rounding errors
        assert values[19] > 2 * noise  # two of the waves are much alike
        assert values[24] < 1.1 * noise

    def test_long_waves_travel_faster_with_the_wind(self):
        """Of each wave, found in space and time, the square of the frequency is as the wave number."""
        frames = make_dynamic_texture(512, (64, 64), random_state=0)[..., 1] - 128.0
        window = np.hanning(512)[:, None, None] * np.hanning(64)[:, None] * np.hanning(64)
        power = np.abs(np.fft.fftn(frames * window)) ** 2
        peaks = np.argwhere(power > 0.1 * power.max())
        rates, ups, acrosses = (np.fft.fftfreq(n)[index] for n, index in zip((512, 64, 64), peaks.T))
        sizes = 64 * np.hypot(ups, acrosses)  # waves in the height of the picture
        assert (rates * acrosses < 0).all()  # to the right
        fast = np.abs(rates) / (0.025 * np.sqrt(sizes))
        assert np.median(fast) == pytest.approx(1, abs=0.05)
        assert np.ptp(sizes) > 1

    def test_a_pattern_turns_once_in_a_hundred_frames(self):
        frames = make_dynamic_texture(130, (30, 30), kind="rotation", random_state=0)
        np.testing.assert_array_equal(frames[100:], frames[:30])
        for quarter in (1, 2, 3):
            np.testing.assert_array_equal(frames[25 * quarter], np.rot90(frames[0], quarter))
        assert np.abs(frames[50].astype(int) - frames[0]).mean() > 10

    def test_clouds_drift_and_change_slowly(self):
        frames = make_dynamic_texture(100, (50, 60), kind="advection", random_state=0) - 128.0
        rates = np.exp(
            -2j * np.pi * (np.fft.fftfreq(50)[:, None] * 50 * -0.009 + np.fft.fftfreq(60) * 50 * 0.02)
        )  # a shift of 0.45 pixels up and 1 to the right
        moved = np.fft.ifft2(np.fft.fft2(frames, axes=(1, 2)) * rates[..., None], axes=(1, 2)).real
        similar = [np.corrcoef(before.ravel(), after.ravel())[0, 1] for before, after in zip(moved, frames[1:])]
        assert np.mean(similar) == pytest.approx(0.97, abs=0.005)
        residuals = frames[1:] - 0.97 * moved[:-1]
        assert abs(np.corrcoef(residuals[:-1].ravel(), residuals[1:].ravel())[0, 1]) < 0.06
        np.testing.assert_allclose(frames.std(axis=(1, 2, 3)), 36, rtol=0.25)

    def test_another_kind(self):
        with pytest.raises(ValueError, match="kind='fire' must be one of 'waves', 'rotation', 'advection'"):
            make_dynamic_texture(kind="fire")
