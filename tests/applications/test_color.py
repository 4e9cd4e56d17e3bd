"""Colors: conversions against formulas written out here, means of regions against loops, differences, bad input."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from protolearn.applications import COLOR_SPACES, ColorDifference, RegionColors, color, convert_color
from protolearn.applications.color import central_ellipse

skimage_color = pytest.importorskip("skimage.color")

WHITE = np.array([0.95047, 1.0, 1.08883])  # D65, two degrees
CYCLIC = {"tsl": (0, 1.0), "lch": (2, 2 * np.pi)}
PLAIN = [space for space in COLOR_SPACES if space not in CYCLIC]
BACK = {
    "xyz": skimage_color.xyz2rgb,
    "lab": skimage_color.lab2rgb,
    "luv": skimage_color.luv2rgb,
}

bytes_rgb = arrays(np.uint8, (7, 3))
images = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def xyz_by_hand(rgb):
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.stack(
        [
            linear @ [0.412453, 0.357580, 0.180423],
            linear @ [0.212671, 0.715160, 0.072169],
            linear @ [0.019334, 0.119193, 0.950227],
        ],
        axis=-1,
    )


def lab_by_hand(rgb):
    t = xyz_by_hand(rgb) / WHITE
    x, y, z = np.where(t > (6 / 29) ** 3, np.cbrt(t), t * (29 / 6) ** 2 / 3 + 4 / 29).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def luv_by_hand(rgb):
    def chromaticity(xyz):
        x, y, z = np.moveaxis(xyz, -1, 0)
        total = np.where(x + y + z > 0, x + 15 * y + 3 * z, 1.0)
        return np.stack([4 * x / total, 9 * y / total], axis=-1)

    xyz = xyz_by_hand(rgb)
    y = xyz[:, 1]
    lightness = np.where(y > (6 / 29) ** 3, 116 * np.cbrt(y) - 16, (29 / 3) ** 3 * y)
    u, v = (13 * lightness[:, None] * (chromaticity(xyz) - chromaticity(WHITE))).T
    return np.stack([lightness, u, v], axis=-1)


def tsl_by_hand(rgb):
    rows = []
    for red, green, blue in rgb:
        total = red + green + blue
        r, g = (red / total - 1 / 3, green / total - 1 / 3) if total else (0, 0)
        tint = np.arctan(r / g) / (2 * np.pi) + (1 / 4 if g > 0 else 3 / 4) if abs(g) > 1e-12 else np.nan
        rows.append([tint, np.sqrt(9 / 5 * (r * r + g * g)), 0.299 * red + 0.587 * green + 0.114 * blue])
    return np.array(rows)


def ycrcb_by_hand(rgb):
    red, green, blue = rgb.T
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    return np.stack([16 + 219 * luma, 128 + 224 * (red - luma) / 1.402, 128 + 224 * (blue - luma) / 1.772], axis=-1)


def picture(rng, height=9, width=11, dtype=np.uint8):
    image = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    mask = rng.random((height, width)) < 0.4
    mask[0, :2] = False, True
    return (image if dtype == np.uint8 else image.astype(dtype) / 255), mask


def on_circle(values, space):
    """Replace a cyclic channel by its cosine and sine, both 0 for gray."""
    if space not in CYCLIC:
        return values
    channel, period = CYCLIC[space]
    angles, colored = 2 * np.pi / period * values[..., channel], values[..., 1] > 0
    others = np.delete(values, channel, axis=-1)
    return np.insert(
        np.insert(others, channel, np.sin(angles) * colored, axis=-1), channel, np.cos(angles) * colored, axis=-1
    )


# Conversions


@settings(max_examples=50)
@given(bytes_rgb)
def test_xyz_lab_luv_follow_their_formulas(rgb):
    values = rgb / 255
    np.testing.assert_allclose(convert_color(rgb, "xyz"), xyz_by_hand(values), atol=1e-12)
    np.testing.assert_allclose(convert_color(rgb, "lab"), lab_by_hand(values), atol=1e-3)
    np.testing.assert_allclose(convert_color(rgb, "luv"), luv_by_hand(values), atol=1e-3)


@settings(max_examples=50)
@given(bytes_rgb)
def test_ycrcb_is_luma_red_difference_blue_difference(rgb):
    np.testing.assert_allclose(convert_color(rgb, "ycrcb"), ycrcb_by_hand(rgb / 255), atol=2e-3)


@settings(max_examples=50)
@given(bytes_rgb)
def test_lch_is_lab_in_polar_form(rgb):
    lightness, chroma, hue = convert_color(rgb, "lch").T
    again = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=-1)
    np.testing.assert_allclose(again, convert_color(rgb, "lab"), atol=0.01)  # gray becomes exactly gray
    assert (hue >= 0).all()
    assert (hue < 2 * np.pi).all()


@settings(max_examples=50)
@given(bytes_rgb)
def test_tsl_follows_its_formula_where_that_is_defined(rgb):
    expected = tsl_by_hand(rgb / 255)
    converted = convert_color(rgb, "tsl")
    np.testing.assert_allclose(converted[:, 1:], expected[:, 1:], atol=1e-12)
    defined = ~np.isnan(expected[:, 0])
    turns = converted[defined, 0] - expected[defined, 0]
    np.testing.assert_allclose(turns - np.round(turns), 0, atol=1e-9)
    assert (converted[:, 0] >= 0).all()
    assert (converted[:, 0] < 1).all()


def test_tint_stays_below_a_full_turn():
    # Just below zero, where the remainder of a turn is rounded up.
    tint, _, _ = convert_color([0.25, 0.5 - 2.0**-53, 0.75], "tsl")
    assert tint == 0


@pytest.mark.parametrize("rgb", [(200, 150, 100), (100, 150, 200)])
def test_tint_is_continuous_where_green_is_the_mean_of_red_and_blue(rgb):
    around = np.array([rgb, rgb, rgb], np.uint8) / 255 + [[0, -1e-9, 0], [0, 0, 0], [0, 1e-9, 0]]
    tint = 2 * np.pi * convert_color(around, "tsl")[:, 0]
    np.testing.assert_allclose(np.cos(tint), np.cos(tint[1]), atol=1e-7)
    np.testing.assert_allclose(np.sin(tint), np.sin(tint[1]), atol=1e-7)


@settings(max_examples=50)
@given(bytes_rgb)
def test_shares_sum_to_one_and_do_not_depend_on_brightness(rgb):
    shares = convert_color(rgb, "nrgb")
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    total = rgb.sum(axis=1, dtype=float)
    np.testing.assert_allclose(shares * total[:, None], rgb, atol=1e-12)
    np.testing.assert_allclose(shares[total == 0], 1 / 3)
    np.testing.assert_allclose(convert_color(rgb / 510, "nrgb"), shares, atol=1e-12)


@pytest.mark.parametrize("space", sorted(BACK))
@settings(max_examples=50)
@given(rgb=bytes_rgb)
def test_round_trips(space, rgb):
    np.testing.assert_allclose(BACK[space](convert_color(rgb, space)), rgb / 255, atol=1e-3)


@settings(max_examples=50)
@given(bytes_rgb)
def test_round_trips_of_lch_and_ycrcb(rgb):
    lch = convert_color(rgb, "lch")
    np.testing.assert_allclose(skimage_color.lab2rgb(skimage_color.lch2lab(lch)), rgb / 255, atol=2e-3)
    luma, red, blue = convert_color(rgb, "ycrcb").T
    again = skimage_color.ycbcr2rgb(np.stack([luma, blue, red], axis=-1))
    np.testing.assert_allclose(again, rgb / 255, atol=1e-9)


def test_gray_has_no_color_in_any_space():
    gray = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    for values in (gray, gray / 255, gray.astype(np.float32) / np.float32(255)):
        np.testing.assert_allclose(convert_color(values, "nrgb"), 1 / 3)
        np.testing.assert_allclose(convert_color(values, "lab")[:, 1:], 0, atol=0.01)
        np.testing.assert_allclose(convert_color(values, "luv")[:, 1:], 0, atol=0.01)
        np.testing.assert_allclose(convert_color(values, "ycrcb")[:, 1:], 128, atol=1e-5)
        np.testing.assert_array_equal(convert_color(values, "tsl")[:, :2], 0)
        np.testing.assert_array_equal(convert_color(values, "lch")[:, 1:], 0)


@pytest.mark.parametrize("space", COLOR_SPACES)
def test_shape_is_kept_bytes_and_floats_agree_and_input_is_left_alone(space):
    rgb = np.random.default_rng(0).integers(0, 256, (4, 1, 5, 3), dtype=np.uint8)
    floats = rgb / 255
    converted = convert_color(floats, space)
    np.testing.assert_array_equal(floats, rgb / 255)
    np.testing.assert_array_equal(convert_color(rgb, space), converted)
    assert converted.shape == rgb.shape
    assert converted.dtype == np.float64
    np.testing.assert_allclose(convert_color(floats[0, 0, 0], space), converted[0, 0, 0], rtol=1e-12)
    assert convert_color(np.empty((0, 3)), space).shape == (0, 3)
    converted[...] = -1
    np.testing.assert_array_equal(floats, rgb / 255)


@pytest.mark.parametrize(
    ("rgb", "message"),
    [
        (np.full((2, 3), 1.5), r"in \[0, 1\], but these are in \[1.5, 1.5\]"),
        (np.array([[0.5, -0.1, 0.0]]), r"in \[0, 1\], but these are in \[-0.1, 0.5\]"),
        (np.array([[0.5, np.nan, 0.0]]), "NaN or infinity"),
        (np.array([[0.5, np.inf, 0.0]]), "NaN or infinity"),
        (np.array([[255, 0, 0]]), "type uint8 or floats"),
        (np.array([[255, 0, 0]], np.uint16), "not uint16"),
        (np.array([["a", "b", "c"]]), "type uint8 or floats"),
        (np.zeros((5, 4)), r"three values.*\(5, 4\)"),
        (0.5, "three values"),
    ],
)
def test_what_is_no_color_is_refused(rgb, message):
    with pytest.raises(ValueError, match=message):
        convert_color(rgb, "rgb")


@pytest.mark.parametrize("space", ["hsv", "LAB", None])
def test_unknown_spaces_are_refused(space):
    with pytest.raises(ValueError, match=r"space=.*'rgb', 'nrgb', 'tsl'"):
        convert_color([0.1, 0.2, 0.3], space)


def test_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage", None)
    with pytest.raises(ImportError, match=r"scikit-image.*protolearn\[images\]"):
        convert_color([0.1, 0.2, 0.3], "lab")
    with pytest.raises(ImportError, match="scikit-image"):
        RegionColors("lab", regions="whole").transform([np.zeros((2, 2, 3))])
    np.testing.assert_allclose(convert_color([0.2, 0.2, 0.4], "nrgb"), [0.25, 0.25, 0.5])


# Regions


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
@pytest.mark.parametrize("space", COLOR_SPACES)
@settings(max_examples=4)
@given(rng=images)
def test_means_of_regions_are_those_of_a_loop(space, dtype, rng):
    samples = [picture(rng, 9, 11, dtype), picture(rng, 5, 4, dtype)]
    samples[1][0][:2] = samples[1][0][0, 0, 0]  # some gray
    expected = []
    for image, mask in samples:
        sums, counts = np.zeros((2, 4 if space in CYCLIC else 3)), [0, 0]
        for row, marks in zip(image, mask):
            for pixel, inside in zip(row, marks):
                sums[int(inside)] += on_circle(convert_color(pixel, space), space)
                counts[int(inside)] += 1
        expected.append(np.concatenate([sums[0] / counts[0], sums[1] / counts[1]]))
    np.testing.assert_allclose(RegionColors(space).transform(samples), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("space", COLOR_SPACES)
@pytest.mark.parametrize("cyclic", ["sincos", "raw"])
def test_mean_in_rgb_is_converted_as_one_color(space, cyclic):
    image, mask = picture(np.random.default_rng(0))
    outside, inside = (np.array([p for p, m in zip(image.reshape(-1, 3), mask.ravel()) if m == i]) for i in (0, 1))
    colors = convert_color(np.stack([outside.mean(axis=0), inside.mean(axis=0)]) / 255, space)
    expected = on_circle(colors, space) if cyclic == "sincos" else colors
    found = RegionColors(space, average="rgb", cyclic=cyclic).transform([(image, mask)])
    np.testing.assert_allclose(found, expected.reshape(1, -1), atol=1e-9)
    table = np.concatenate([outside.mean(axis=0), inside.mean(axis=0)])[None] / 255
    np.testing.assert_allclose(RegionColors(space, cyclic=cyclic).transform(table), found, atol=1e-9)


@pytest.mark.parametrize("space", COLOR_SPACES)
def test_regions_of_one_color_have_that_color_by_either_average(space):
    image = np.full((6, 6, 3), (30, 200, 90), np.uint8)
    mask = np.eye(6, dtype=bool)
    image[mask] = 220, 60, 70
    expected = convert_color(np.array([[30, 200, 90], [220, 60, 70]], np.uint8), space).reshape(1, 6)
    for average in ("converted", "rgb"):
        found = RegionColors(space, average=average, cyclic="raw").transform([(image, mask)])
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(("space", "channel"), [("lch", 2), ("tsl", 0)])
def test_hues_on_both_sides_of_zero_have_their_mean_at_zero(space, channel):
    _, period = CYCLIC[space]
    rng = np.random.default_rng(0)
    colors = rng.random((4000, 3))
    hue = convert_color(colors, space)[:, channel] / period
    below, above = colors[hue > 0.9][:20], colors[hue < 0.1][:20]
    image = np.concatenate([below, above])[None]
    angles = 2 * np.pi * convert_color(image, space)[..., channel] / period
    expected = np.angle(np.exp(1j * angles).mean()) / (2 * np.pi)
    found = RegionColors(space, regions="whole", cyclic="raw").transform([image])[0, channel] / period
    assert min(found, 1 - found) < 0.1  # a plain mean is near 0.5
    np.testing.assert_allclose(found, expected % 1)


@pytest.mark.parametrize("space", ["lch", "tsl"])
def test_gray_pixels_do_not_turn_the_mean_hue(space):
    channel, _ = CYCLIC[space]
    image = np.full((4, 4, 3), (200, 60, 90), np.uint8)
    hue = RegionColors(space, regions="whole", cyclic="raw").transform([image])[0, channel]
    image[:2] = 77
    with_gray = RegionColors(space, regions="whole", cyclic="raw").transform([image])[0, channel]
    np.testing.assert_allclose(with_gray, hue)
    on_points = RegionColors(space, regions="whole").transform([image])[0, channel : channel + 2]
    np.testing.assert_allclose(np.hypot(*on_points), 0.5)


@pytest.mark.parametrize("space", COLOR_SPACES)
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_whole_images_have_means_and_standard_deviations(space, dtype):
    image, _ = picture(np.random.default_rng(3), dtype=dtype)
    image[2:6] = image[0, 0]  # a color that occurs many times
    points = on_circle(convert_color(image.reshape(-1, 3), space), space)
    expected = np.concatenate([points.mean(axis=0), points.std(axis=0)])
    np.testing.assert_allclose(RegionColors(space, regions="whole").transform([image])[0], expected, rtol=1e-9)
    if space in CYCLIC:
        return
    raw = RegionColors(space, regions="whole", average="rgb", cyclic="raw").transform([image])[0]
    np.testing.assert_allclose(
        raw[:3], convert_color(image.reshape(-1, 3).mean(axis=0) / (255 if dtype == np.uint8 else 1), space)
    )
    np.testing.assert_allclose(raw[3:], expected[3:], rtol=1e-9)


@pytest.mark.parametrize("space", ["lch", "tsl"])
def test_deviation_of_an_angle_is_the_usual_one_if_hues_differ_little(space):
    channel, _ = CYCLIC[space]
    image = np.full((50, 50, 3), (0.5, 0.5, 0.2)) + 2e-3 * np.random.default_rng(0).normal(size=(50, 50, 3))
    hues = convert_color(image, space)[..., channel]
    found = RegionColors(space, regions="whole", cyclic="raw").transform([image])[0, 3 + channel]
    np.testing.assert_allclose(found, hues.std(), rtol=1e-3)


@pytest.mark.parametrize("regions", ["mask", "whole"])
@pytest.mark.parametrize("space", COLOR_SPACES)
@settings(max_examples=4)
@given(rng=images)
def test_order_of_pixels_does_not_matter(space, regions, rng):
    image, mask = picture(rng)
    order = rng.permutation(mask.size)
    shuffled = image.reshape(-1, 3)[order].reshape(image.shape), mask.ravel()[order].reshape(mask.shape)
    turned = np.rot90(image), np.rot90(mask)
    features = RegionColors(space, regions=regions).transform([(image, mask), shuffled, turned])
    np.testing.assert_allclose(features[1:], features[[0, 0]], rtol=1e-9, atol=1e-9)


def test_swapping_inside_and_outside_swaps_features():
    image, mask = picture(np.random.default_rng(0))
    one, other = RegionColors("luv").transform([(image, mask), (image, ~mask)])
    np.testing.assert_array_equal(np.roll(one, 3), other)
    differences = RegionColors("luv", difference=True).transform([(image, mask), (image, ~mask)])
    np.testing.assert_array_equal(differences[0], -differences[1])


def test_center_is_an_ellipse_of_half_the_size_and_masks_come_first():
    mask = central_ellipse(80, 200)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    assert (rows[0], rows[-1], columns[0], columns[-1]) == (20, 59, 50, 149)
    np.testing.assert_allclose(mask.mean(), np.pi / 16, rtol=0.01)
    for same in (mask[::-1], mask[:, ::-1]):
        np.testing.assert_array_equal(same, mask)
    np.testing.assert_array_equal(central_ellipse(200, 80), mask.T)
    rng = np.random.default_rng(0)
    image, own = picture(rng, 20, 30)
    center = RegionColors(regions="center")
    by_mask = RegionColors().transform([(image, central_ellipse(20, 30)), (image, own)])
    np.testing.assert_array_equal(center.transform([image, (image, own)]), by_mask)
    np.testing.assert_array_equal(center.transform([(image, None)]), by_mask[:1])


@pytest.mark.parametrize("mask_type", [np.uint8, np.int64, np.float64])
def test_masks_may_be_numbers_and_lists(mask_type):
    image, mask = picture(np.random.default_rng(0))
    expected = RegionColors().transform([(image, mask)])
    np.testing.assert_array_equal(RegionColors().transform([(image, 255 * mask.astype(mask_type))]), expected)
    np.testing.assert_array_equal(RegionColors().transform([[image, mask.tolist()]]), expected)


def test_images_may_come_as_one_array():
    stack = np.random.default_rng(0).integers(0, 256, (3, 8, 9, 3), dtype=np.uint8)
    features = RegionColors(regions="center")
    np.testing.assert_array_equal(features.transform(stack), features.transform(list(stack)))


def test_a_table_of_colors_is_converted_column_by_column():
    table = np.random.default_rng(0).random((20, 6))
    found = RegionColors("lab").transform(table)
    np.testing.assert_allclose(found[:, :3], convert_color(table[:, :3], "lab"))
    np.testing.assert_allclose(found[:, 3:], convert_color(table[:, 3:], "lab"))
    np.testing.assert_array_equal(RegionColors("rgb").transform(table), table)


# Names, scikit-learn


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({}, "outside L, outside a, outside b, inside L, inside a, inside b"),
        (
            {"space": "ycrcb", "difference": True},
            "inside Y - outside Y, inside Cr - outside Cr, inside Cb - outside Cb",
        ),
        ({"space": "tsl", "regions": "whole", "cyclic": "raw"}, "mean T, mean S, mean L, std T, std S, std L"),
        (
            {"space": "lch", "regions": "center"},
            "outside L, outside C, outside cos h, outside sin h, inside L, inside C, inside cos h, inside sin h",
        ),
    ],
)
def test_features_have_names(parameters, names):
    pytest.importorskip("pandas")
    transformer = RegionColors(**parameters)
    assert list(transformer.get_feature_names_out()) == names.split(", ")
    frame = transformer.set_output(transform="pandas").fit_transform([picture(np.random.default_rng(0))])
    assert list(frame.columns) == names.split(", ")


@pytest.mark.parametrize("space", COLOR_SPACES)
def test_differences_are_those_of_the_features(space):
    rng = np.random.default_rng(0)
    samples = [picture(rng), picture(rng)]
    colors = RegionColors(space)
    X = colors.transform(samples)
    m = X.shape[1] // 2
    A = np.hstack([-np.eye(m), np.eye(m)])
    differences = RegionColors(space, difference=True)
    np.testing.assert_allclose(differences.transform(samples), X @ A.T, atol=1e-12)
    assert list(differences.get_feature_names_out()) == list(
        ColorDifference().fit(X).get_feature_names_out(colors.get_feature_names_out())
    )


@given(arrays(np.float64, (5, 8), elements=st.floats(-1e6, 1e6)))
def test_difference_is_a_matrix_product_without_memory(X):
    A = np.hstack([-np.eye(4), np.eye(4)])
    transformer = ColorDifference().fit(np.zeros((1, 8)))
    np.testing.assert_array_equal(transformer.transform(X), X @ A.T)
    shift = np.tile([1.0, 2.0, 4.0, 8.0], 2)  # light that changes both regions alike
    np.testing.assert_allclose(transformer.transform(X + shift), X @ A.T, atol=1e-8)


def test_difference_before_scaling_is_not_difference_after():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * [1, 1, 1, 9, 9, 9]
    before = make_pipeline(ColorDifference(), StandardScaler()).fit_transform(X)
    after = make_pipeline(StandardScaler(), ColorDifference(), StandardScaler()).fit_transform(X)
    np.testing.assert_allclose(before, StandardScaler().fit_transform(X[:, 3:] - X[:, :3]))
    assert np.abs(before - after).max() > 0.1


def test_differences_work_in_a_pipeline_with_names():
    pytest.importorskip("pandas")
    model = make_pipeline(RegionColors("rgb"), ColorDifference()).set_output(transform="pandas")
    frame = model.fit_transform([picture(np.random.default_rng(0))])
    assert list(frame.columns) == [f"inside {c} - outside {c}" for c in "RGB"]


@parametrize_with_checks([ColorDifference()])
def test_scikit_learn_checks(estimator, check, monkeypatch):
    # Their data have three columns as a rule; without the check for that, the one in the middle is not used.
    monkeypatch.setattr(color, "_check_even", int)
    check(estimator)


def test_region_colors_keep_the_contract():
    transformer = RegionColors("tsl", regions="whole", average="rgb", cyclic="raw")
    assert clone(transformer).get_params() == transformer.get_params()
    assert transformer.fit([]) is transformer
    tags = transformer.__sklearn_tags__()
    assert not tags.requires_fit
    assert not tags.input_tags.two_d_array
    sample = [picture(np.random.default_rng(0))]
    np.testing.assert_array_equal(clone(transformer).transform(sample), transformer.fit_transform(sample))


# Bad input

GOOD = np.zeros((4, 4, 3), np.uint8)
INSIDE = np.eye(4, dtype=bool)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (GOOD, "no mask; give tuples"),
        ((GOOD, None), "no mask; give tuples"),
        ((GOOD, np.zeros((4, 4))), "mask has no inside"),
        ((GOOD, np.ones((4, 4))), "mask has no outside"),
        ((GOOD, np.eye(5)), r"mask has shape \(5, 5\).*\(4, 4\)"),
        ((GOOD, np.zeros((4, 4, 3))), r"mask has shape \(4, 4, 3\)"),
        ((GOOD, np.where(INSIDE, np.nan, 0)), "without NaN"),
        ((GOOD, INSIDE.astype(str)), "booleans"),
        ((GOOD[..., 0], INSIDE), r"gray, of shape \(4, 4\)"),
        ((GOOD[..., :1], INSIDE), r"gray, of shape \(4, 4, 1\)"),
        ((np.zeros((4, 4, 4)), INSIDE), "remove the alpha channel"),
        ((np.zeros((0, 4, 3)), INSIDE), r"not \(0, 4, 3\)"),
        ((np.full((4, 4, 3), 7.0), INSIDE), r"in \[7, 7\]"),
        ((np.full((4, 4, 3), -0.5), INSIDE), r"in \[-0.5, -0.5\]"),
        ((np.full((4, 4, 3), np.nan), INSIDE), "NaN"),
        ((GOOD.astype(int), INSIDE), "uint8"),
    ],
)
@pytest.mark.parametrize("average", ["converted", "rgb"])
def test_bad_images_and_masks_are_refused_with_their_place(sample, message, average):
    with pytest.raises(ValueError, match=r"^X\[1\]: .*" + message):
        RegionColors("rgb", average=average).transform([(GOOD, INSIDE), sample])


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 2)])
def test_images_too_small_for_a_center_are_refused(shape):
    with pytest.raises(ValueError, match=f"only {shape[0]} x {shape[1]} pixels.*whole"):
        RegionColors(regions="center").transform([np.zeros((*shape, 3))])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "no images"),
        (np.empty((0, 4, 4, 3)), "no images"),
        (GOOD, r"shape \(4, 4, 3\).*list of color images"),
        (np.zeros((5, 7)), r"shape \(5, 7\).*6 columns"),
        (np.full((5, 6), 3.0), r"in \[3, 3\]"),
        (np.full((5, 6), np.nan), "NaN"),
    ],
)
def test_bad_collections_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        RegionColors("rgb").transform(X)


def test_tables_have_no_whole_images():
    with pytest.raises(ValueError, match="regions='whole'"):
        RegionColors("rgb", regions="whole").transform(np.zeros((5, 6)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"space": "hsv"}, "space='hsv'"),
        ({"regions": "middle"}, "regions='middle' must be one of 'mask', 'center', 'whole'"),
        ({"average": "lab"}, "average='lab'"),
        ({"cyclic": True}, "cyclic=True"),
        ({"regions": "whole", "difference": True}, "two regions"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    transformer = RegionColors(**parameters)
    for call in (transformer.fit, transformer.transform, transformer.get_feature_names_out):
        with pytest.raises(ValueError, match=message):
            call([(GOOD, INSIDE)])


def test_difference_needs_pairs_of_columns():
    with pytest.raises(ValueError, match=r"5 feature\(s\), an odd number"):
        ColorDifference().fit(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="8 features, but ColorDifference is expecting 6"):
        ColorDifference().fit(np.zeros((3, 6))).transform(np.zeros((3, 8)))
