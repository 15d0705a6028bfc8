"""The colors on the display, to tell a photo from another one, a placeholder and the background."""
import subprocess

from session import SAMPLES

COLUMNS, ROWS = 8, 6
# The largest mean difference of a color between a photo and its picture on the display, of 255.
TOLERANCE = 16


def colors(command):
    """Returns the colors of an image in a small grid."""
    result = subprocess.run([*command, "-resize", f"{COLUMNS}x{ROWS}!", "-depth", "8", "rgb:-"], capture_output=True)
    return list(result.stdout)


def displayed(area):
    """Returns the colors of an area (x, y, width, height) of the display."""
    x, y, width, height = (round(value) for value in area)
    return colors(["import", "-window", "root", "-crop", f"{width}x{height}+{x}+{y}", "+repage"])


def difference(left, right):
    if len(left) != len(right):
        return 255
    return sum(abs(first - second) for first, second in zip(left, right)) / len(left)


_samples = []


def sample(area):
    """Returns the number of the sample that an area of the display shows; None if it shows none."""
    if not _samples:
        _samples.extend(colors(["convert", str(path)]) for path in SAMPLES)
    shown = displayed(area)
    differences = [difference(shown, colors) for colors in _samples]
    least = min(differences)
    return differences.index(least) if least <= TOLERANCE else None


def size(path):
    """Returns the width and height of an image file."""
    result = subprocess.run(["identify", "-format", "%w %h", str(path)], capture_output=True, text=True, check=True)
    return tuple(int(number) for number in result.stdout.split())


def fitted(view, photo):
    """Returns the area of a whole photo in a view (x, y, width, height)."""
    x, y, width, height = view
    scale = min(width / photo[0], height / photo[1], 1)
    shown = photo[0] * scale, photo[1] * scale
    return x + (width - shown[0]) / 2, y + (height - shown[1]) / 2, *shown
