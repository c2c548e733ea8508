"""What can be asked of any drawn picture, and of maps."""

import matplotlib.text
import numpy as np

# Rounding to pixels, and letters that lean out of their box.
PIXELS = 2.0


def texts(display):
    """Return all texts that can be seen."""
    display.figure_.draw_without_rendering()
    found = display.figure_.findobj(lambda artist: isinstance(artist, matplotlib.text.Text) and artist.get_visible())
    beyond = {label for axes in display.figure_.axes for label in labels_beyond(axes)}
    return [text for text in found if text.get_text().strip() and text not in beyond]


def labels_beyond(axes):
    """Return the labels of ticks that are made but not drawn: those outside the axes, and spare ones."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        current = {*axis.get_major_ticks(), *axis.get_minor_ticks()}
        for tick in (*axis.majorTicks, *axis.minorTicks):
            if tick not in current or not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


def clipped(display):
    """Return the texts that are not wholly inside the figure."""
    shown, figure = texts(display), display.figure_.bbox
    return [
        text.get_text()
        for text in shown
        if (box := text.get_window_extent()).x0 < -PIXELS
        or box.y0 < -PIXELS
        or box.x1 > figure.x1 + PIXELS
        or box.y1 > figure.y1 + PIXELS
    ]


def written(display):
    """Return all text of a picture, with ends of lines as blanks."""
    return " ".join(" ".join(text.get_text() for text in texts(display)).replace("\xa0", " ").split())


def pixels(display, n, seed=0):
    """Return the positions of some pixels of a map, as an index of its arrays, and their middles."""
    rng, shape = np.random.default_rng(seed), display.response.shape
    places = np.column_stack([rng.integers(0, size, n) for size in shape])
    middles = display.low + (places[:, ::-1] + 0.5) / shape[::-1] * (display.high - display.low)
    return tuple(places.T), middles


def borders(display, line_width):
    """Return points in the middle of the pieces of lines of a width, and steps of a pixel across them."""
    drawn = [one for one in display.ax_.collections if one.get_linewidth()[0] == line_width and one.get_paths()]
    paths = [path for one in drawn for path in one.get_paths() if len(path.vertices)]
    pieces = [np.stack([path.vertices[:-1], path.vertices[1:]])[:, path.codes[1:] == path.LINETO] for path in paths]
    start, end = np.concatenate(pieces, axis=1)
    pixel = (display.high - display.low) / display.response.shape[::-1]
    along = (end - start) / pixel
    across = np.column_stack([-along[:, 1], along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None] * pixel
    middles = 0.5 * (start + end)
    inside = ((middles - pixel > display.low) & (middles + pixel < display.high)).all(axis=1)
    return middles[inside], across[inside]
