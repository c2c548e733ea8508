"""What can be asked of any drawn picture."""

import matplotlib.text

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
