"""Draw what the parameters of a convolution mean, with the ops themselves: ``python docs/draw_convolutions.py``.

The output is what `conv2d` makes of the image. Which pixels an element of it has seen is asked of the gradient: those
by which its derivative is not 0. The picture is `docs/_static/convolutions.png`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import theano
import theano.tensor as T
from theano.tensor import nnet

PICTURE = Path(__file__).parent / "_static" / "convolutions.png"
FILTER = np.array([[1.0, 2, 1], [2, 3, 2], [1, 2, 1]])
IMAGE = np.array([[3.0, 3, 2, 1, 0], [0, 0, 1, 3, 1], [3, 1, 2, 2, 3], [2, 0, 0, 2, 2], [2, 0, 0, 0, 1]])
EMPTY, SEEN, CHOSEN, EDGE = "#f4f4f2", "#ffd58a", "#e4572e", "#8a8f98"

#: What is drawn: a title, parameters, the zeros around the image, and the element of the output that is looked at.
GEOMETRIES: list[tuple[str, dict[str, Any], int, tuple[int, int]]] = [
    ("border_mode='valid'", {}, 0, (1, 2)),
    ("border_mode='half'", {"border_mode": "half"}, 1, (0, 3)),
    ("border_mode='full'", {"border_mode": "full"}, 2, (1, 1)),
    ("border_mode=1, subsample=(2, 2)", {"border_mode": 1, "subsample": (2, 2)}, 1, (1, 0)),
    ("filter_dilation=(2, 2)", {"filter_dilation": (2, 2)}, 0, (0, 0)),
]


def convolved(how: dict[str, Any], chosen: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the output, and how the chosen element of it depends on each pixel."""
    x, w = T.dtensor4("x"), T.dtensor4("w")
    y = nnet.conv2d(x, w, filter_flip=False, **how)
    seen = theano.grad(y[0, 0, chosen[0], chosen[1]], x)
    out, influence = theano.function([x, w], [y, seen])(IMAGE[None, None], FILTER[None, None])
    return out[0, 0], influence[0, 0]


def spread(shape: tuple[int, int], chosen: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a small image, the larger one made of it with a step of 2, and how an element depends on its pixels."""
    small = IMAGE[:2, :2]
    x, w = T.dtensor4("x"), T.dtensor4("w")
    y = nnet.conv2d_transpose(x, w, (1, 1, *shape), filter_flip=False, input_dilation=(2, 2))
    out, influence = theano.function([x, w], [y, theano.grad(y[0, 0, chosen[0], chosen[1]], x)])(
        small[None, None], FILTER[None, None]
    )
    return small, out[0, 0], influence[0, 0]


def draw_grid(axes: Any, values: np.ndarray, left: float, top: float, colours: np.ndarray) -> None:
    """Draw a table of numbers, each in a square."""
    for (i, j), value in np.ndenumerate(values):
        zero = np.isnan(value)
        axes.add_patch(Rectangle((left + j, top + i), 1, 1, facecolor=colours[i, j], edgecolor=EDGE, linewidth=0.8,
                                 linestyle=":" if zero else "-"))  # fmt: skip
        axes.text(left + j + 0.5, top + i + 0.53, "0" if zero else f"{value:g}", ha="center", va="center", fontsize=8,
                  color=EDGE if zero else "black")  # fmt: skip


def draw(
    axes: Any, title: str, image: np.ndarray, out: np.ndarray, seen: np.ndarray, chosen: tuple[int, int], zeros: int
) -> None:  # fmt: skip
    """Draw an image with its zeros, and beside it the output."""
    padded = np.pad(image, zeros, constant_values=np.nan)
    colours = np.full(padded.shape, EMPTY, dtype=object)
    colours[np.pad(seen, zeros) != 0] = SEEN
    of_out = np.full(out.shape, EMPTY, dtype=object)
    of_out[chosen] = CHOSEN
    height, gap = max(len(padded), len(out)), padded.shape[1] + 1.5
    draw_grid(axes, padded, 0, (height - len(padded)) / 2, colours)
    draw_grid(axes, out, gap, (height - len(out)) / 2, of_out)
    axes.text(gap - 0.75, height / 2, "→", ha="center", va="center", fontsize=13)
    axes.set(xlim=(-0.2, gap + out.shape[1] + 0.2), ylim=(height + 0.2, -0.2), aspect="equal")
    axes.set_title(title, fontsize=9, family="monospace")
    axes.axis("off")


def main() -> None:
    """Draw all of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--picture", type=Path, default=PICTURE)
    picture = parser.parse_args().picture
    figure, places = plt.subplots(2, 3, figsize=(13, 7.2), layout="constrained")
    for axes, (title, how, zeros, chosen) in zip(places.flat, GEOMETRIES):
        out, seen = convolved(how, chosen)
        draw(axes, title, IMAGE, out, seen, chosen, zeros)
    chosen = (2, 2)
    small, large, seen = spread((5, 5), chosen)
    draw(places.flat[-1], "conv2d_transpose, input_dilation=(2, 2)", small, large, seen, chosen, 0)
    text = "The filter is 1 2 1 / 2 3 2 / 1 2 1. Yellow: pixels by which the derivative of the red element is not 0."
    figure.suptitle(text, fontsize=10)
    figure.savefig(picture, dpi=110)
    print(f"drawn: {picture}")


if __name__ == "__main__":
    main()
