"""Plots as inline SVG: lines over a linear or logarithmic axis, and stacked bars. No script, no library."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#e09f3e", "#6a4c93", "#5c6b73", "#00a6a6", "#9c6644", "#b5179e", "#7a9e1f")
Points = Sequence[tuple[float, float]]


def short(value: float) -> str:
    """A number in few characters: 1.2M, 35K, 0.4."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


class _Axis:
    """Values to pixels. On a logarithmic axis the ticks are powers of ten, with others between if there are few."""

    def __init__(self, values: Sequence[float], start: float, end: float, log: bool, ticks: Sequence[float] = ()):
        self._start, self._end, self._log = start, end, log
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        if log:
            low, high = math.log10(low), math.log10(high)
            pad = max(0.05, (high - low) * 0.06)
            low, high = low - pad, high + pad
            powers = range(math.floor(low), math.ceil(high) + 1)
            # The finest marks that are not too many.
            for each in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
                fine = [10.0**p * m for p in powers for m in each if low <= math.log10(10.0**p * m) <= high]
                if len(each) == 1 or len(fine) <= 7:
                    made = fine
        else:
            low, high = (0.0 if not ticks else low), (high or 1.0) * (1.08 if not ticks else 1.0)
            pad = (high - low or 1.0) * 0.06 if ticks else 0.0
            low, high = low - pad, high + pad
            step = _step((high - low) / 5)
            made = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
        self._low, self._high = low, high if high > low else low + 1
        self.ticks = list(ticks) or made

    def __call__(self, value: float) -> float:
        at = math.log10(value) if self._log else value
        return self._start + (at - self._low) / (self._high - self._low) * (self._end - self._start)


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return next(power * m for m in (1, 2, 5, 10) if power * m >= rough)


def lines(
    series: Mapping[str, Points],
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
    ticks: Sequence[float] = (),
    size: tuple[int, int] = (640, 340),
) -> str:
    """A plot of several series. x, y: what the axes show; ticks: where the x axis is marked, if not by itself."""
    series = {name: [p for p in points if p[1] and p[1] > 0] for name, points in series.items()}
    series = {name: points for name, points in series.items() if points}
    if not series:
        return "<p class=none>not measured</p>"
    width, height = size
    left, right, top, bottom = 58, 14, 16 + 18 * math.ceil(len(series) / (per_row := max(1, width // 210))), 46
    across = _Axis([p[0] for points in series.values() for p in points], left, width - right, log_x, ticks)
    up = _Axis([p[1] for points in series.values() for p in points], height - bottom, top, log_y)
    out = [_open(width, height, y)]
    for tick in up.ticks:
        at = up(tick)
        out.append(f'<line class=grid x1="{left}" x2="{width - right}" y1="{at:.1f}" y2="{at:.1f}"/>')
        out.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{short(tick)}</text>')
    last = -100.0
    for tick in across.ticks:
        at = across(tick)
        out.append(f'<line class=grid x1="{at:.1f}" x2="{at:.1f}" y1="{top}" y2="{height - bottom}"/>')
        # Marks that would run into each other stay without a figure.
        if at - last > 9 * len(short(tick)) + 4:
            out.append(f'<text x="{at:.1f}" y="{height - bottom + 16}" text-anchor="middle">{short(tick)}</text>')
            last = at
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [(across(a), up(b)) for a, b in sorted(points)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (a, b), (value, height_of) in zip(places, sorted(points)):
            title = html.escape(f"{name}: {short(height_of)} at {short(value)}")
            out.append(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{colour}"><title>{title}</title></circle>')
    out.append(_legend(list(series), left, width - right, per_row))
    out.append(f'<text class=axis x="{(left + width) / 2:.0f}" y="{height - 8}" text-anchor="middle">{_e(x)}</text>')
    out.append(f'<text class=axis transform="translate(13 {(top + height - bottom) / 2:.0f}) rotate(-90)"')
    out.append(f' text-anchor="middle">{_e(y)}</text></svg>')
    return "".join(out)


def bars(rows: Mapping[str, Mapping[str, float]], unit: str, width: int = 900) -> str:
    """A stacked bar for each row, one colour for each name."""
    rows = {name: values for name, values in rows.items() if sum(values.values()) > 0}
    if not rows:
        return "<p class=none>not measured</p>"
    names = list(dict.fromkeys(name for values in rows.values() for name in values))
    left, right, top, each = 150, 60, 22 + 18 * math.ceil(len(names) / 6), 30
    height = top + each * len(rows) + 12
    most = max(sum(values.values()) for values in rows.values())
    out = [_open(width, height, unit)]
    for number, (row, values) in enumerate(rows.items()):
        y, at = top + number * each, float(left)
        out.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end">{_e(row)}</text>')
        for name in names:
            length = values.get(name, 0.0) / most * (width - left - right)
            title = _e(f"{name}: {short(values.get(name, 0.0))} {unit}")
            colour = COLOURS[names.index(name) % len(COLOURS)]
            out.append(f'<rect x="{at:.1f}" y="{y}" width="{length:.1f}" height="20" fill="{colour}">')
            out.append(f"<title>{title}</title></rect>")
            at += length
        out.append(f'<text x="{at + 6:.1f}" y="{y + 15}">{short(sum(values.values()))}</text>')
    out.append(_legend(names, left, width - right, per_row=6))
    return "".join(out) + "</svg>"


def _open(width: int, height: int, label: str) -> str:
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{_e(label)}">'


def _legend(names: Sequence[str], left: float, right: float, per_row: int) -> str:
    out, each = [], (right - left) / min(per_row, max(1, len(names)))
    for number, name in enumerate(names):
        x, y = left + number % per_row * each, 14 + 18 * (number // per_row)
        out.append(f'<rect x="{x:.0f}" y="{y - 9}" width="10" height="10" fill="{COLOURS[number % len(COLOURS)]}"/>')
        out.append(f'<text x="{x + 15:.0f}" y="{y}">{_e(name)}</text>')
    return "".join(out)


def _e(text: str) -> str:
    return html.escape(text)
