"""Tests of the photo view: its pixels, the pointer, downloads into a chosen file, and the ways to share a photo."""
import re
import subprocess
import sys

import pixels
from online import photo as remote_photo
from screen import Screen, open_samples, open_unsplash
from session import SAMPLES

# A desktop entry whose program records its argument.
HANDLER = """[Desktop Entry]
Type=Application
Name=Recorder
Exec={program} %u
MimeType=x-scheme-handler/http;x-scheme-handler/https;x-scheme-handler/mailto;
"""
# Prints the text of the clipboard.
CLIPBOARD = """
import gi
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, GLib, Gtk
Gtk.init()
loop = GLib.MainLoop()
def finish(clipboard, result):
    print(clipboard.read_text_finish(result) or "", end="")
    loop.quit()
Gdk.Display.get_default().get_clipboard().read_text_async(None, finish)
GLib.timeout_add_seconds(20, loop.quit)
loop.run()
"""


def shown_sample(screen, view):
    """Returns the number of the sample that the photo view shows as a whole."""
    number = int(view.get_name().split()[1]) % len(SAMPLES)
    return pixels.sample(pixels.fitted(view.extents(), pixels.size(SAMPLES[number])))


def images(start, step):
    session, screen = open_samples(start, 12)
    screen.wait("Photo 000", "list item")
    # The pointer is beside the photos, which show buttons and names below it.
    screen.mouse("mousemove", 1390, 990)

    def grid():
        found = {}
        for widget in screen.all(role="list item", starts="Photo "):
            place = widget.extents()
            if place.y + place.height < 740:
                found[widget.name.split(",")[0]] = pixels.sample(place)
        return found

    def expected(name):
        return int(name.split()[1]) % len(SAMPLES)

    screen.until(lambda: len(grid()) >= 6 and all(shown == expected(name) for name, shown in grid().items()),
                 "the images of the grid")
    step("each cell of the grid shows its photo")
    screen.press("Photo 000")
    for number in range(3):
        view = screen.wait(f"Photo {number:03}", "image")
        screen.until(lambda: shown_sample(screen, view) == expected(view.get_name()), f"the image of photo {number}")
        screen.press("Next photo")
    step("the photo view shows each photo")


def zoom(start, step):
    session, screen = open_samples(start, 3)
    screen.press("Photo 000")
    view = screen.wait("Photo 000", "image")
    screen.until(lambda: shown_sample(screen, view) == 0, "the image")
    place = view.extents()
    left, top, width, height = pixels.fitted(place, pixels.size(SAMPLES[0]))

    def state():
        """Returns the zoom, and the position of the center in percent."""
        numbers = [int(number) for number in re.findall(r"-?\d+(?= %)", view.get_description())]
        return (numbers + [50, 50])[:3]

    for x, y in ((left + width * 0.3, top + height * 0.4), (left + width * 0.65, top + height * 0.7)):
        # The factor of five steps of the wheel.
        factor = 1.2 ** 5
        screen.mouse("mousemove", round(x), round(y), "click", "--repeat", 5, "--delay", 20, 4)
        screen.until(lambda: state()[0] == round(factor * 100), "the zoom")
        # The point of the photo below the pointer stays, so that the center is between it and the old center.
        expected = [((x - left) / width + (place[0] + place[2] / 2 - x) / (width * factor)) * 100,
                    ((y - top) / height + (place[1] + place[3] / 2 - y) / (height * factor)) * 100]
        found = state()[1:]
        assert all(abs(one - other) <= 1.5 for one, other in zip(found, expected)), (found, expected)
        screen.mouse("click", "--repeat", 6, "--delay", 20, 5)
        screen.until(lambda: state() == [100, 50, 50], "the whole photo")
    step("the wheel zooms around the pointer")

    edge = (place[0] + place[2] - 60, place[1] + 20, 50, place[3] // 4)

    def is_background():
        return pixels.difference(pixels.displayed(edge), [28, 28, 30] * (pixels.COLUMNS * pixels.ROWS)) < 6

    screen.until(lambda: not is_background() and shown_sample(screen, view) == 0, "the photo in its place")
    middle = round(place[0] + place[2] / 2), round(place[1] + place[3] / 2)

    def drag(x):
        """Moves the pointer slowly with the pressed button, and releases it after the photo has moved."""
        screen.mouse("mousemove", *middle, "mousedown", 1)
        for part in (4, 2, 1):
            screen.mouse("mousemove", middle[0] + x // part, middle[1])
        has_moved = is_background if x < 0 else lambda: shown_sample(screen, view) is None
        # The pointer rests for the time of two pictures, so that the distance decides.
        screen.until(lambda: has_moved() and has_moved(), "the moved photo")
        screen.mouse("mouseup", 1)

    drag(-place[2] // 6)
    screen.until(lambda: shown_sample(screen, view) == 0, "the return of the photo")
    assert view.get_name() == "Photo 000"
    step("a photo that is dragged a short distance returns")
    drag(-place[2] // 3)
    screen.wait("Photo 001", "image")
    screen.until(lambda: shown_sample(screen, view) == 1, "the next photo")
    drag(place[2] // 3)
    screen.wait("Photo 000", "image")
    screen.until(lambda: shown_sample(screen, view) == 0, "the previous photo")
    drag(place[2] // 3)
    screen.until(lambda: shown_sample(screen, view) == 0, "the return of the first photo")
    step("a photo that is dragged far shows its neighbor, if it has one")


def save_as(screen, path, replaces=False):
    """Chooses a file in the dialog of GTK."""
    screen.menu("Download as…")
    screen.wait("Name:", "text")
    screen.type("Name:", str(path))
    screen.press_of_adwaita("Save")
    if replaces:
        screen.press_of_adwaita("Replace")
    screen.wait_gone("Name:", "text")


def recorder(session, *types):
    """Installs a program that records its arguments, for some types."""
    program, record = session.folder / "bin/recorder", session.folder / "addresses"
    program.write_text(f"#!/bin/sh\necho \"$1\" >>{record}\n")
    program.chmod(0o755)
    applications = session.folder / "data/applications"
    applications.mkdir()
    (applications / "recorder.desktop").write_text(HANDLER.format(program=program))
    (session.folder / "config/mimeapps.list").write_text("[Default Applications]\n" + "".join(
        f"{kind}=recorder.desktop\n" for kind in types))
    return lambda: record.read_text().splitlines() if record.exists() else []


def share(start, step):
    session = start(photos=0, services=True)
    recorded = recorder(session, *(f"x-scheme-handler/{scheme}" for scheme in ("http", "https", "mailto")))
    session.start_daemon()
    session.log_in_to_unsplash()
    screen = Screen()
    session.start_window()
    name = screen.until(lambda: remote_photo(screen), "the photos of the service")
    link = session.control("share", session.control("feed", "--count", "1").split("\t")[0]).strip()
    assert "utm_source=" in link and "utm_medium=referral" in link, link
    screen.press(name)
    screen.wait("Back to the photos", "push button")

    screen.menu("Copy link")
    screen.wait("The link was copied.")
    copied = subprocess.run([sys.executable, "-c", CLIPBOARD], env=session.environment, capture_output=True, text=True)
    assert copied.stdout == link, (copied, link)
    step("the clipboard has the link with its attribution")

    screen.menu("Open in browser")
    screen.until(lambda: len(recorded()) == 1, "the address of the browser")
    assert recorded() == [link], recorded()
    step("the browser opens the link")
    screen.menu("Send by e-mail")
    screen.until(lambda: len(recorded()) == 2, "the address of the mail program")
    import urllib.parse
    mail = urllib.parse.urlsplit(recorded()[1])
    fields = urllib.parse.parse_qs(mail.query, strict_parsing=True)
    assert mail.scheme == "mailto" and mail.path == "", mail
    assert fields == {"subject": [name], "body": [link]}, fields
    step("the mail program receives the name and the link")
    (session.folder / "config/mimeapps.list").unlink()
    (session.folder / "data/applications/recorder.desktop").unlink()
    session.end(session.window)
    session.start_window()
    screen.press(name)
    screen.menu("Open in browser")
    screen.wait("No browser could be started. Copy the link instead.")
    step("without a browser, a message names the alternative")


def save(start, step):
    session, screen = open_unsplash(start)
    services = session.services
    screen.press(screen.until(lambda: remote_photo(screen), "the photos of the service"))
    screen.wait("Back to the photos", "push button")
    target = session.folder / "home/chosen.jpg"
    save_as(screen, target)
    screen.wait(f"Downloaded to {target}")
    complete = target.read_bytes()
    assert pixels.size(target)[0] > 100
    step("a photo is downloaded into a chosen file")

    services("fail unsplash slow 0 GET /photo-*")
    screen.press("Next photo")
    save_as(screen, target, replaces=True)
    screen.wait(starts="Downloading ")
    bar = screen.wait("Progress of the download", "progress bar")
    first = screen.until(bar.value, "the progress")
    screen.until(lambda: bar.value() > first, "more progress")
    session.screenshot("saving")
    step("a slow download shows its progress")
    screen.press("Cancel", last=True)
    screen.wait("The download was cancelled.")
    screen.wait_gone("Progress of the download")
    assert target.read_bytes() == complete
    assert [path.name for path in target.parent.iterdir() if path.is_file()] == [target.name]
    step("a cancelled download leaves the file that it would have replaced")
    services("recover unsplash GET /photo-*")
    save_as(screen, target, replaces=True)
    screen.wait(f"Downloaded to {target}")
    assert target.read_bytes() != complete and pixels.size(target)[0] > 100
    assert [path.name for path in target.parent.iterdir() if path.is_file()] == [target.name]
    step("a complete download replaces the file")


TESTS = [images, zoom, share, save]
