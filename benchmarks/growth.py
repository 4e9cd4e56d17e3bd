"""How a time, mostly that of an epoch, grows with the sizes of the work: straight lines, in words and as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.tasks import Row

__all__ = ["Series", "growth", "lines", "picture"]

Series = tuple[str, np.ndarray, np.ndarray]  # symbol of a size, its values, times


def growth(rows: list[Row], symbols: dict[str, str], others: Row, time: str = "ms_per_epoch") -> list[Series]:
    """Return the times over each size, where all other sizes are as in ``others``; sizes and time are keys of rows."""
    series = []
    for key, symbol in symbols.items():
        fixed = {other: others[other] for other in symbols if other != key}
        chosen = [row for row in rows if all(row[other] == value for other, value in fixed.items())]
        chosen.sort(key=lambda row: row[key])
        times = np.array([row[time] for row in chosen])
        series.append((symbol, np.array([row[key] for row in chosen]), times))
    return series


def lines(series: list[Series], time: str = "ms / epoch") -> list[str]:
    """State the straight lines that describe the times."""
    notes = []
    for symbol, sizes, times in series:
        slope, start = _line(sizes, times)
        deviation = np.max(np.abs(slope * sizes + start - times) / times)
        notes.append(f"{time} = {start:.2f} + {slope:.3g} {symbol}, within {deviation:.0%}")
    return notes


def picture(series: list[Series], time: str = "ms / epoch") -> Any:
    """Draw the times over each size, with their straight lines, on logarithmic axes; None without times."""
    from matplotlib.figure import Figure

    if not series:
        return None
    figure = Figure(figsize=(4 * len(series), 3.2), layout="constrained")
    for axes, (symbol, sizes, times) in zip(figure.subplots(1, len(series), squeeze=False)[0], series):
        slope, start = _line(sizes, times)
        between = np.geomspace(sizes[0], sizes[-1])
        axes.loglog(between, slope * between + start, color="gray", label=f"{start:.2f} + {slope:.3g} {symbol}")
        axes.loglog(sizes, times, "o", label="measured")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.set_xticks([], minor=True)
        axes.set(xlabel=symbol, ylabel=time)
        axes.legend(frameon=False)
    return figure


def _line(sizes: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return slope and start of the straight line with the least relative deviations."""
    return np.polyfit(sizes, times, 1, w=1 / times)
