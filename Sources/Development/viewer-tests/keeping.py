"""Tests of the duties of a photo viewer: full screen, keys, files, the trash, the state that it keeps, and its resources."""
import os
import pathlib
import re
import subprocess
import sys
import time

import pixels
from screen import Screen, open_samples, open_unsplash
from session import SAMPLES, TOP, until
from appearance import narrow
from online import photo as remote_photo
from viewing import CLIPBOARD


def focused(screen):
    """Returns the name of the widget with the focus; None if there is none."""
    for widget in screen.widgets():
        if widget.was("FOCUSED"):
            return widget.name
    return None


def full_screen(start, step):
    session = start(photos=3)
    # Without a window manager, no window can fill the screen.
    session.start("openbox", "--sm-disable")
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    screen.key("F11")
    screen.wait("Leave full screen", "push button")
    screen.wait_gone("Back to the photos", "push button")
    step("in full screen, the header hides after some seconds")
    session.screenshot("full-screen")
    screen.mouse("mousemove", 700, 400, "mousemove", 705, 405)
    screen.wait("Leave full screen", "push button")
    session.screenshot("full-screen-controls")
    screen.wait_gone("Leave full screen", "push button")
    step("a movement of the pointer shows the header for some seconds")
    screen.mouse("mousemove", 700, 12)
    screen.wait("Leave full screen", "push button")
    screen.wait_gone("Leave full screen", "push button")
    step("the header hides also below a pointer that rests")
    screen.mouse("mousemove", 700, 400, "mousemove", 705, 405)
    screen.wait("Leave full screen", "push button")
    screen.press("Leave full screen")
    screen.wait("Full screen", "push button")
    screen.wait("Back to the photos", "push button")
    step("a button leaves full screen")

    screen.key("Escape")
    screen.wait("Photo 001", "list item")
    screen.key("F5")
    screen.wait("Pause", "push button")
    session.screenshot("slideshow-full-screen")
    screen.until(lambda: screen.all("Photo 001", "image"), "the next photo")
    step("the slideshow in full screen shows the next photo")
    screen.key("space")
    screen.mouse("mousemove", 700, 400, "mousemove", 705, 405)
    screen.wait("Continue", "push button")
    step("the slideshow pauses")
    screen.key("Escape")
    screen.wait_gone("Continue", "push button")
    step("the slideshow ends with full screen")


def selection(start, step):
    session, screen = open_unsplash(start, 3)
    session.log_in("bob")
    screen.wait(starts="All photos", role="list item")

    def selected():
        return [row.name for row in screen.all(role="list item") if row.has("SELECTED")]

    screen.until(lambda: len(selected()) == 1, "the selected source")
    screen.activate(starts="Nature")
    before = screen.until(lambda: len(selected()) == 1 and selected(), "the selection")
    screen.mouse("key", "Down", "key", "Down", "key", "Tab", "key", "Tab", "key", "Down")
    screen.until(lambda: focused(screen) not in before, "another focus")
    assert selected() == before, (selected(), before)
    step("the focus does not change which source is selected")
    session.screenshot("selection")


def reader(start, step):
    count = 320
    session, screen = open_samples(start, count)
    first = screen.wait("Photo 000", "list item")
    screen.wait(f"All photos, {count} photos", "list item")

    def facts(widget):
        return tuple(int(number) for number in widget.get_description().split(" of "))

    def items():
        return screen.all(role="list item", starts="Photo ")

    screen.until(lambda: facts(first) == (1, count), "the position of the first photo")
    for item in items()[:5]:
        print(item.role, repr(item.name), repr(item.description), flush=True)
    assert re.fullmatch(r"Photo 000, \d{1,2} \w+ \d{4}", first.get_name()), first.get_name()
    step("a screen reader gets the name, the date, the position and the number of photos")
    screen.press("Like Photo 000")
    screen.wait(starts="Photo 000, ", role="list item", contains=", liked")
    screen.press("Unlike Photo 000")
    screen.wait("Like Photo 000", "push button")
    step("the name contains the state of the like, and the hearts name their photo")

    def is_sorted():
        positions = [facts(item)[0] for item in items()]
        return len(positions) > 10 and positions == sorted(positions) and positions

    screen.mouse("mousemove", 700, 500, "click", "--repeat", 20, "--delay", 20, 5)
    screen.until(lambda: screen.all("Photo 030", "list item"), "the scrolled photos")
    screen.mouse("mousemove", 700, 500, "click", "--repeat", 10, "--delay", 20, 4)
    screen.until(is_sorted, "the photos in their order")
    step("the photos keep their order when the grid scrolls")
    focusable = [item.name for item in items() if item.has("FOCUSABLE")]
    assert len(focusable) == 1, focusable
    hearts = [heart.name for heart in screen.all(starts="Like ", role="push button")
              if heart.has("FOCUSABLE")]
    assert not hearts, hearts
    step("the grid is one stop of the key Tab")
    screen.press(items()[5].name)
    screen.wait("Back to the photos", "push button")
    screen.key("Escape")
    screen.wait_gone("Back to the photos", "push button")
    screen.until(lambda: (focused(screen) or "").startswith("Photo "), "the focus in the grid")
    screen.key("End")
    screen.wait(f"Photo {count - 1:03}", "list item")
    screen.until(lambda: (focused(screen) or "").startswith(f"Photo {count - 1:03}"), "the focus of the last photo")
    step("the key End moves to the last photo, not to the last one that was loaded")
    screen.key("Home")
    screen.until(lambda: (focused(screen) or "").startswith("Photo 000"), "the focus of the first photo")
    screen.key("Return")
    screen.wait("Photo 000", "image")
    screen.key("End")
    screen.wait(f"Photo {count - 1:03}", "image")
    screen.key("Escape")
    screen.until(lambda: (focused(screen) or "").startswith(f"Photo {count - 1:03}"), "the focus of the photo")
    (session.pictures / f"Photo {count - 1:03}.jpg").unlink(missing_ok=True)
    (session.pictures / f"Photo {count - 1:03}.png").unlink(missing_ok=True)
    screen.until(lambda: (focused(screen) or "").startswith(f"Photo {count - 2:03}"), "the focus of its neighbor")
    step("the focus stays in the grid when photos leave")


def logout_elsewhere(start, step):
    session, screen = open_samples(start, 3)
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    session.control("logout", "local_ada", "--yes")
    screen.wait_gone("Photo 000", "image")
    screen.wait("Logged out", "label")
    screen.wait("Show the photos on this computer", "push button")
    step("after a logout by another program, no photo remains, and the sidebar says so")


def arguments(start, step):
    session, screen = open_samples(start, 70)
    session.end(session.window)
    program = str(session.programs / "imagefeed")

    def run(*words):
        return subprocess.run([program, *words], env=session.environment, capture_output=True, text=True, timeout=60)

    result = run("--help")
    assert result.returncode == 0 and result.stdout.startswith("Usage: imagefeed"), result
    result = run("--bogus")
    assert result.returncode == 64 and "--bogus" in result.stderr, result
    step("the option --help prints the usage, and an unknown option is an error")
    photo = session.control("feed", "--count", "66").splitlines()[65].split("\t")[0]
    session.start_window(photo)
    screen.wait("Photo 065", "image")
    screen.press("Next photo")
    screen.wait("Photo 066", "image")
    screen.press("Previous photo")
    screen.wait("Photo 065", "image")
    screen.press("Previous photo")
    screen.wait("Photo 064", "image")
    step("a photo that was named in the command line has a previous and a next photo")


def files(start, step):
    session, screen = open_samples(start, 3)
    session.end(session.window)
    folder = session.folder / "home/Camera 100 %"
    folder.mkdir()
    for number in (10, 9, 1):
        (folder / f"Shot {number}.jpg").write_bytes(SAMPLES[number % len(SAMPLES)].read_bytes())
    (folder / "notes.txt").write_text("no image")
    session.start_window(folder / "Shot 9.jpg")
    screen.wait("Shot 9", "image")
    session.screenshot("file")
    assert not screen.all("Like", "push button")
    screen.press("Next photo")
    view = screen.wait("Shot 10", "image")
    screen.press("Previous photo")
    screen.wait("Shot 9", "image")
    screen.press("Previous photo")
    screen.wait("Shot 1", "image")
    step("a file is shown with the files of its folder in the order of their numbers")
    screen.press("Back to the photos")
    screen.wait("Shot 9", "list item")
    session.end(session.window)
    album = session.pictures / "Sea 50 %"
    album.mkdir()
    for number in (1, 2):
        (album / f"Wave {number}.jpg").write_bytes(SAMPLES[number].read_bytes() + b"wave")
    until(lambda: "Sea 50 %" in session.control("sources"), "the album")
    session.start_window(album / "Wave 1.jpg")
    screen.wait("Wave 1", "image")
    screen.wait("Like", "push button")
    screen.press("Back to the photos")
    row = screen.wait("Sea 50 %", "list item")
    screen.until(lambda: row.has("SELECTED"), "the selected album")
    step("a file of the pictures folder is shown in its album, with its likes")
    subprocess.run([str(session.programs / "imagefeed"), "."], cwd=folder, env=session.environment, check=True, timeout=60)
    screen.wait("Shot 9", "list item")
    step("a folder is shown as a list")


def trash(start, step):
    session, screen = open_samples(start, 4)
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    photo = next(session.pictures.glob("Photo 000.*"))
    content = photo.read_bytes()
    screen.key("Delete")
    until(lambda: not photo.exists(), "the end of the file")
    session.screenshot("trash")
    # The button is shown for ten seconds, in which a busy machine finds few widgets.
    screen.press_of_adwaita("Undo")
    until(photo.exists, "the restored file")
    assert photo.read_bytes() == content
    screen.wait("Photo 001", "image")
    step("a photo is moved to the trash and restored")
    screen.press("Previous photo")
    screen.wait("Photo 000", "image")
    screen.press("Next photo")
    screen.wait("Photo 001", "image")
    screen.press("Back to the photos")
    card = screen.wait("Photo 001", "list item")
    assert not screen.all(contains="new photo", role="push button"), screen.names("push button")
    step("the restored photo returns to its place, and is not announced")
    screen.until(lambda: secondary_click(screen, card), "the click")
    screen.wait("Move to the trash", "menu item")
    session.screenshot("context-menu")
    screen.press("Move to the trash")
    until(lambda: not list(session.pictures.glob("Photo 001.*")), "the end of the file")
    screen.wait("Photo 001 is in the trash.", "label")
    screen.wait_gone("Photo 001", "list item")
    step("the context menu of the grid moves a photo to the trash")


def changes(start, step):
    session, screen = open_samples(start, 4)
    last = next(session.pictures.glob("Photo 003.*"))
    screen.wait("Photo 003", "list item")
    last.write_bytes(last.read_bytes())
    until(lambda: "Photo 003" in session.control("feed").splitlines()[0], "the other date")
    (session.pictures / "Arrived.jpg").write_bytes(SAMPLES[0].read_bytes() + b"arrived")
    screen.wait("All photos, 5 photos", "list item")
    screen.wait("1 new photo", "push button")
    step("a photo that was saved again is not a new photo")
    screen.press("1 new photo")
    screen.press("Arrived")
    screen.wait("Arrived", "image")
    screen.press("Information")
    screen.wait("Arrived", "label")
    (session.pictures / "Arrived.jpg").rename(session.pictures / "Harbor.jpg")
    screen.wait("Harbor", "image")
    screen.wait("Harbor", "label")
    screen.wait("Harbor.jpg", "label")
    until(lambda: subprocess.run(["xdotool", "search", "--name", "^Harbor$"], capture_output=True).stdout, "the title")
    assert not screen.all("Arrived"), screen.tree()
    step("a photo that is renamed while it is open has its new name everywhere")


def secondary_click(screen, widget):
    area = widget.extents()
    if area.width <= 0:
        return False
    screen.mouse("mousemove", area.x + area.width // 2, area.y + area.height // 2, "click", 3)
    return True


def keys(start, step):
    session, screen = open_samples(start, 4)
    screen.wait("Photo 000", "list item")
    screen.key("F10")
    screen.wait("About Image Feed", "menu item")
    session.screenshot("main-menu")
    screen.press("About Image Feed")
    screen.wait(role="label", contains=session.control("--version").strip())
    screen.key("Escape")
    screen.key("ctrl+question")
    screen.wait(starts="Control+Q", role="list item")
    session.screenshot("shortcuts")
    screen.key("Escape")
    screen.wait_gone(starts="Control+Q", role="list item")
    step("the keys open the main menu and the table of keys")
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    screen.press("Information")
    size = screen.wait(role="label", contains=" × ")
    assert size.get_name().startswith("\u2066"), "the size is not isolated from text that is written from right to left"

    def select():
        """Selects the first number of the size. Returns false while the information slides in."""
        area = size.extents()
        screen.mouse("mousemove", area.x + 12, area.y + area.height // 2, "click", "--repeat", 2, "--delay", 60, 1)
        return size.selection_count() > 0

    screen.until(select, "the selected number")
    screen.mouse("key", "ctrl+c")
    copied = subprocess.run([sys.executable, "-c", CLIPBOARD], env=session.environment, capture_output=True, text=True)
    assert copied.stdout and copied.stdout in size.get_name(), copied
    step("in the information, the key for the clipboard is that of the text")
    screen.key("ctrl+w")
    until(lambda: session.window.poll() is not None, "the end of the window")
    step("a key closes the window")


def remembers(start, step):
    session, screen = open_samples(start, 3)
    screen.activate(starts="Likes")
    screen.wait("No liked photos", "label")
    window = subprocess.run(["xdotool", "search", "--name", "^Image Feed$"], capture_output=True, text=True).stdout.split()[-1]
    label = screen.wait("No liked photos", "label")
    before = label.extents()
    screen.mouse("windowsize", "--sync", window, 952, 652)
    # The X server resizes the window before the program draws it again.
    screen.until(lambda: label.extents() != before, "the other size")
    screen.key("ctrl+q")
    until(lambda: session.window.poll() is not None, "the end of the window")
    first, account, source = (session.folder / "state/imagefeed/window").read_text().split("\n")[:3]
    assert source == "likes" and account.endswith("/local_ada"), (account, source)
    session.start_window()
    screen.wait("No liked photos", "label")
    session.screenshot("remembered")
    window = subprocess.run(["xdotool", "search", "--name", "^Image Feed$"], capture_output=True, text=True).stdout.split()[-1]
    geometry = subprocess.run(["xdotool", "getwindowgeometry", "--shell", window], capture_output=True, text=True).stdout
    assert "WIDTH=952" in geometry and "HEIGHT=652" in geometry, geometry
    step("the window has its size and its source again")
    other = session.folder / "tmp/other.jpg"
    other.write_bytes(SAMPLES[0].read_bytes())
    subprocess.run([session.programs / "imagefeed", other], env=session.environment, timeout=60, check=True)
    screen.wait("other", "image")
    screen.key("ctrl+q")
    until(lambda: session.window.poll() is not None, "the end of the window")
    stored = (session.folder / "state/imagefeed/window").read_text().split("\n")[1:3]
    assert stored == [account, source], stored
    step("a window that is closed with an opened file keeps its source")


def quitting(start, step):
    session, screen = open_unsplash(start)
    screen.press(screen.until(lambda: remote_photo(screen), "the photos of the service"))
    screen.wait("Back to the photos", "push button")
    session.services("fail unsplash slow 0 GET /photo-*")
    screen.press("Download")
    screen.wait(starts="Downloading ")
    screen.key("ctrl+q")
    screen.wait("Cancel the download?")
    screen.press_of_adwaita("Keep open")
    screen.wait_gone("Cancel the download?")
    assert session.window.poll() is None
    screen.key("ctrl+q")
    screen.press_of_adwaita("Cancel download and close")
    until(lambda: session.window.poll() is not None, "the end of the window")
    step("the key that ends the program asks about a running download")


def messages(start, step):
    session, screen = open_samples(start, 3)
    screen.press("Photo 000")
    view = screen.wait("Photo 000", "image")
    screen.until(lambda: view.has("FOCUSED"), "the focus of the photo")
    for _ in range(3):
        screen.menu("Use as avatar")
        screen.wait("The photo is the avatar of ada.")
    screen.menu("Show in the desktop slideshow")
    # Messages that wait for each other would take 15 seconds.
    until(lambda: screen.all("The desktop slideshow shows this photo."), "the newest message", limit=9)
    step("a message replaces the previous one")
    screen.key("Right")
    screen.wait("Photo 001", "image")
    step("the keys still belong to the photo")


def right_to_left(start, step):
    session = start(photos=6)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    # GTK takes the direction from its own translation.
    locales = session.folder / "locales"
    locales.mkdir()
    subprocess.run(["localedef", "-i", "ar_EG", "-f", "UTF-8", str(locales / "ar_EG.UTF-8")], check=True)
    session.environment = {**session.environment, "LOCPATH": str(locales), "LC_ALL": "ar_EG.UTF-8"}
    session.start_window()
    first, second = screen.wait("Photo 000", "list item"), screen.wait("Photo 001", "list item")

    def left(widget):
        return widget.extents().x

    screen.until(lambda: left(first) > left(second), "the mirrored grid")
    session.screenshot("right-to-left-grid")
    step("the grid begins at the right")
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    screen.key("Escape")
    screen.until(lambda: (focused(screen) or "").startswith("Photo 000"), "the focus of the first photo")
    screen.key("Left")
    screen.until(lambda: (focused(screen) or "").startswith("Photo 001"), "the focus of the next photo")
    screen.key("Return")
    screen.wait("Photo 001", "image")
    screen.key("Left")
    screen.wait("Photo 002", "image")
    session.screenshot("right-to-left-photo")
    step("the key Left moves forward")


def chart(path, width, height):
    """Writes an image of lines that are one pixel wide, in which each shift and each blur is visible."""
    row = bytes(255 * (x % 2) for x in range(width))
    plain = bytes(255 * (x // 8 % 2) for x in range(width))
    data = b"".join(row if y % 16 < 8 else plain for y in range(height))
    subprocess.run(["convert", "-size", f"{width}x{height}", "-depth", "8", "gray:-", str(path)], input=data, check=True)


def grays(command):
    return subprocess.run([*command, "-depth", "8", "gray:-"], capture_output=True, check=True).stdout


def sharp(start, step):
    session = start(photos=0, width=2560, height=1440)
    session.start("openbox", "--sm-disable")
    chart(session.pictures / "A small chart.png", 800, 600)
    chart(session.pictures / "B large chart.png", 4000, 2400)
    os.utime(session.pictures / "B large chart.png", (1, 1))
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.press("A small chart")
    view = screen.wait("A small chart", "image")
    screen.key("F11")
    screen.wait_gone("Back to the photos", "push button")

    def shows(image, width, height, largest):
        """Returns true if the middle of the view shows an image, at most some pixels from the middle."""
        place = view.extents()
        x, y = place.x + (place.width - width) // 2 - largest, place.y + (place.height - height) // 2 - largest
        wide = width + 2 * largest
        found = grays(["import", "-window", "root", "-crop", f"{wide}x{height + 2 * largest}+{x}+{y}", "+repage"])
        rows = [image[start:start + width] for start in range(0, len(image), width)]
        return any(all(found[(top + number) * wide + left:(top + number) * wide + left + width] == row
                       for number, row in enumerate(rows))
                   for top in range(2 * largest) for left in range(2 * largest))

    small = grays(["convert", str(session.pictures / "A small chart.png")])
    screen.until(lambda: shows(small, 800, 600, 12), "the pixels of the small chart")
    session.screenshot("sharp-small")
    step("a small photo is shown pixel by pixel, not enlarged")
    screen.key("Right")
    view = screen.wait("B large chart", "image")
    screen.until(lambda: "Zoom 100 %" in view.get_description(), "the whole photo")
    session.screenshot("sharp-fit")
    # The height is that of the display, so that the photo is as wide as high allows.
    place = view.extents()
    height = min(place.height, place.width * 2400 // 4000)
    width = round(height * 4000 / 2400)
    reference = grays(["convert", str(session.pictures / "B large chart.png"), "-filter", "Lanczos",
                       "-resize", f"{width}x{height}!"])

    # A part of the middle of the reference, and of the display with the frame of the window around it.
    size, largest = 64, 12
    left, top = (width - size) // 2, (height - size) // 2
    part = [reference[(top + y) * width + left:(top + y) * width + left + size] for y in range(size)]

    # The programs differ by 13 levels; a bilinear filter differs by more, and an enlarged thumbnail by 100.
    def matches():
        x, y = place.x + place.width // 2 - size // 2 - largest, place.y + place.height // 2 - size // 2 - largest
        wide = size + 2 * largest
        found = grays(["import", "-window", "root", "-crop", f"{wide}x{wide}+{x}+{y}", "+repage"])
        return any(all(abs(shown - wanted) <= 16
                       for row in range(size)
                       for shown, wanted in zip(found[(down + row) * wide + right:], part[row]))
                   for down in range(2 * largest) for right in range(2 * largest))

    screen.until(matches, "the chart as another program scales it")
    step("a chart at fit differs by at most 16 of 255 levels from that of another program")
    screen.key("1")
    middle = grays(["convert", str(session.pictures / "B large chart.png"), "-gravity", "center", "-crop", "800x600+0+0"])
    screen.until(lambda: shows(middle, 800, 600, 12), "the pixels of the large chart")
    session.screenshot("sharp-pixels")
    step("the key 1 shows one pixel of the photo per pixel of the screen")
    screen.key("1")
    screen.until(lambda: "Zoom 100 %" in view.get_description(), "the whole photo")
    step("a second press returns to the whole photo")
    session.end(session.window)
    session.start_window(session.pictures / "B large chart.png")
    view = screen.wait("B large chart", "image")
    # The file may not be decoded yet, and the window becomes larger after the key.
    screen.until(lambda: focused(screen) == "B large chart", "the focus")
    screen.key("1")
    screen.key("F11")
    screen.wait("Like", "push button")
    screen.wait_gone("Back to the photos", "push button")
    screen.until(lambda: shows(middle, 800, 600, 12), "the pixels of the opened file")
    step("a file that was opened, and continues in its feed, is as sharp")


def refused(start, step):
    session = start(photos=1)
    # A PNG with few bytes and many pixels, which the decoder refuses.
    import struct
    import zlib

    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = zlib.compressobj(9)
    body = b"".join([row.compress(bytes(1 + 60000 * 3)) for _ in range(20000 // 10)] + [row.flush()])
    huge = session.pictures / "Photo 999.png"
    huge.write_bytes(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", 60000, 20000, 8, 2, 0, 0, 0))
                     + part(b"IDAT", body) + part(b"IEND", b""))
    os.utime(huge, (1, 1))
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    screen.key("Right")
    screen.wait("Photo 999", "image")
    sentence = screen.wait(role="label", contains="image").name
    screen.wait("Try again", "push button")
    for _ in range(4):
        screen.key("plus")
    screen.key("1")
    view = screen.wait("Photo 999", "image")
    x, y, width, height = view.extents()
    corner = pixels.displayed((x + 10, y + 20, width // 4, height // 4))
    assert pixels.difference(corner, [28, 28, 30] * (pixels.COLUMNS * pixels.ROWS)) < 6, corner
    assert len(screen.all("Try again", "push button")) == 1
    session.screenshot("refused")
    step(f"an image that is too large is refused at every zoom with one message, and nothing of it is shown: {sentence}")
    screen.key("Left")
    screen.wait("Photo 000", "image")
    screen.wait_gone("Try again", "push button")
    step("the next photo has no message")


def decoding(start, step):
    session = start(photos=0)
    samples = TOP / "Tests/ImageHelperTests/Samples"
    names = ["plain.jpg", "inks.jpg", "swapped.jpg", "swapped.png", "swapped.webp", "swapped.tiff", "swapped.avif",
             "plain.heic", "plain.jxl", "plain.gif", "plain.bmp"]
    for number, name in enumerate(names):
        target = session.pictures / f"Photo {number:02}{pathlib.Path(name).suffix}"
        target.write_bytes((samples / name).read_bytes())
        os.utime(target, (2000000 - number, 2000000 - number))
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.press("Photo 00")
    for number, name in enumerate(names):
        view = screen.wait(f"Photo {number:02}", "image")
        place = view.extents()
        # The profile of some samples exchanges red and green, the colors of the upper parts.
        expected = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]
        if name.startswith("swapped"):
            expected[:2] = expected[1::-1]

        for _ in range(5):
            screen.key("plus")

        def shows():
            for index, color in enumerate(expected):
                x = place.x + place.width // 2 + (20 if index % 2 else -40)
                y = place.y + place.height // 2 + (14 if index > 1 else -34)
                found = pixels.displayed((x, y, 20, 20))
                if pixels.difference(found, list(color) * (len(found) // 3)) > 40:
                    return False
            return True
        screen.until(shows, f"the colors of {name}")
        if number + 1 < len(names):
            screen.press("Next photo")
    step("each format is shown with its colors, also with a profile that exchanges red and green")
    # GTK itself is linked with libpng, libjpeg and libtiff, which is linked with libwebp, and loads a library for the icons
    # of its theme.
    decoders = ["libturbojpeg", "libheif", "libjxl", "libgif", "liblcms", "libpixbufloader-webp",
                "libpixbufloader-jpeg", "libpixbufloader-heif"]
    for process, more in ((session.window, []), (session.daemon, ["libpng", "libjpeg", "libtiff", "libwebp", "libgdk_pixbuf"])):
        mapped = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
        found = [name for name in decoders + more if name in mapped]
        assert not found, found
    step("neither the window nor the daemon has loaded a decoder")


def outage(start, step):
    session, screen = open_unsplash(start)
    services = session.services
    name = screen.until(lambda: remote_photo(screen), "the photos of the service")
    services("fail unsplash refuse 0 GET /photo-*")
    # The images in the cache of the daemon need no server.
    session.end(session.window)
    for path in (session.folder / "cache").rglob("*"):
        if path.is_file() and "images" in str(path):
            path.unlink()
    session.end(session.daemon)
    session.start_daemon()
    session.start_window()
    screen.press(screen.until(lambda: remote_photo(screen), "the photos of the service"))
    screen.wait("Try again", "push button")
    screen.press("Next photo")
    # The first photo, which has no previous one, also has the button.
    screen.wait("Previous photo", "push button")
    screen.wait("Try again", "push button")
    session.screenshot("outage")
    step("a photo whose image cannot be loaded has its reason and a button")
    services("recover unsplash GET /photo-*")
    screen.press("Try again")
    screen.wait_gone("Try again", "push button")
    step("the button loads the image again")
    screen.press("Back to the photos")

    def failed():
        return [item.name for item in screen.all(role="list item") if "by" in item.name
                and item.description and " of " not in item.description]

    screen.until(lambda: remote_photo(screen) and not failed(), "the images of the grid")
    step("the images of the grid return by themselves")


def several(start, step):
    session, screen = open_samples(start, 6)
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    screen.key("Escape")
    screen.until(lambda: (focused(screen) or "").startswith("Photo 000"), "the focus of the first photo")
    screen.key("space")
    screen.wait("1 photo selected", "label")
    for _ in range(3):
        screen.key("Right")
    screen.key("shift+space")
    screen.wait("4 photos selected", "label")
    card = screen.wait("Photo 005", "list item")

    def click():
        area = card.extents()
        screen.mouse("mousemove", area.x + area.width // 2, area.y + area.height // 2, "keydown", "ctrl", "click", 1,
                     "keyup", "ctrl")
        return True

    screen.until(click, "the click")
    screen.wait("5 photos selected", "label")
    selected = [item.name[:9] for item in screen.all(role="list item", starts="Photo ") if item.has("SELECTED")]
    assert selected == [f"Photo {number:03}" for number in (0, 1, 2, 3, 5)], selected
    session.screenshot("several")
    narrow(screen)
    session.screenshot("several-narrow")
    step("the actions for several photos fit into a narrow window")
    screen.press("Like")
    screen.wait_gone("5 photos selected", "label")
    until(lambda: session.control("likes").count("\n") == 5, "the likes")
    step("keys and clicks select photos, which are liked together")
    screen.key("space")
    screen.wait("1 photo selected", "label")
    screen.key("Escape")
    screen.wait_gone("1 photo selected", "label")
    step("the key Escape ends the selection")


def search(start, step):
    session, screen = open_samples(start, 130)
    screen.wait("Photo 000", "list item")
    screen.key("ctrl+f")
    field = screen.wait("Search photos")
    screen.until(lambda: (focused(screen) or "") == "Search photos" or focused(screen) is not None, "the field")
    screen.mouse("type", "photo 12")
    screen.mouse("key", "Return")
    screen.wait_gone("Photo 000", "list item")
    names = screen.until(lambda: len(screen.photos()) == 12 and screen.photos(), "the photos that were found")
    assert names == [f"Photo {number:03}" for number in (12, 112, *range(120, 130))], names
    session.screenshot("search")
    step("a search finds the photos of the whole source by their title")
    screen.key("ctrl+f")
    screen.mouse("key", "Escape")
    screen.wait("Photo 000", "list item")
    step("the key Escape shows all photos again")


def welcome(start, step):
    session = start(photos=3)
    session.start_daemon()
    screen = Screen()
    session.start_window()
    screen.press("Show the photos on this computer")
    screen.wait("Photo 000", "list item")
    assert "local_root" in session.control("status") or "local_ada" in session.control("status")
    step("one click shows the photos on this computer")


def threads(process):
    return len(os.listdir(f"/proc/{process}/task"))


def memory(process, kind="Private_Dirty"):
    """Returns the memory of a process in KiB."""
    lines = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:"))


def processor_seconds(process):
    """Returns the time that the main thread of a process has used."""
    values = pathlib.Path(f"/proc/{process}/task/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def large(start, step):
    session = start(photos=1)
    # 40 megapixels, which take 160 MB.
    subprocess.run(["convert", "-size", "8000x5000", "gradient:red-blue", str(session.pictures / "Large.jpg")], check=True)
    os.utime(session.pictures / "Large.jpg", (0, 0))
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()

    def size():
        return memory(session.window.pid, "Rss")

    def zoom():
        return int(re.search(r"Zoom (\d+)", view.get_description())[1])

    screen.press("Large")
    view = screen.wait("Large", "image")
    screen.until(lambda: pixels.difference(pixels.displayed(view.extents())[:3], [255, 0, 0]) < 60, "the photo")
    screen.press("Next photo" if screen.all("Next photo") else "Previous photo")
    screen.wait("Photo 000", "image")
    time.sleep(2)
    before = size()
    screen.press("Next photo" if screen.all("Next photo") else "Previous photo")
    screen.wait("Large", "image")
    times = []
    for _ in range(3):
        screen.key("1")
        screen.until(lambda: zoom() > 300 and size() > before + 140_000, "the pixels of the photo")
        time.sleep(1)
        started = processor_seconds(session.window.pid)
        screen.key("0")
        screen.until(lambda: zoom() == 100, "the whole photo")
        times.append(round(processor_seconds(session.window.pid) - started, 2))
    # The clock would measure the other programs as well.
    print(f"seconds of the processor until the whole photo: {times}", flush=True)
    assert min(times) < 0.3, times
    step("the key 0 shows the whole of a photo with 40 megapixels without drawing all its pixels again")
    screen.key("Escape")
    screen.wait("Photo 000", "list item")
    try:
        screen.until(lambda: size() < before + 40_000, "the end of the pixels in memory")
    finally:
        print(f"KiB before {before}, after {size()}", flush=True)
    step("the pixels of the photo leave the memory")


def cycles(start, step):
    session = start(photos=6)
    session.start_daemon()
    session.log_in()
    # The accessibility library keeps memory for each widget that it has shown.
    session.environment = {**session.environment, "GTK_A11Y": "none"}
    session.start_window()

    def command(*words):
        return subprocess.run(["xdotool", *words], env=session.environment, capture_output=True, text=True).stdout.split()

    def windows():
        return command("search", "--name", "^(Image Feed|Photo .*)$")

    def shows_photo():
        """Returns true if the first photo fills the view of the window, which is at the top left of the display."""
        return pixels.sample(pixels.fitted((5, 52, 1090, 703), pixels.size(SAMPLES[0]))) == 0

    def press(key, condition, text):
        """Repeats a key that may be lost until the window has the focus."""
        def attempt():
            for window in windows():
                command("windowfocus", window, "key", key)
            return condition()
        until(attempt, text)

    def open_photo():
        command("mousemove", "500", "200", "click", "1")
        return shows_photo()

    def cycle():
        until(open_photo, "the photo")
        press("Escape", lambda: not shows_photo(), "the grid")
        command("mousemove", "500", "200", "click", "3", "sleep", "0.3", "key", "Escape")

    def sizes(count):
        found = []
        for _ in range(count):
            cycle()
            found.append(memory(session.window.pid))
        return found

    until(windows, "the window")
    cycle()
    # After some cycles, the memory of the last frame or image is not free yet.
    before, first_threads = sizes(5), threads(session.window.pid)
    after, last_threads = sizes(20), threads(session.window.pid)
    text = f"threads {first_threads} and {last_threads}, private KiB before {before}, in 20 cycles {after}"
    print(text, flush=True)
    # GLib keeps a pool thread for some seconds.
    assert last_threads <= first_threads + 1, text
    assert min(after[-5:]) <= min(before) * 1.05, text
    step("20 cycles of a photo and its menu leave no threads and no memory")


TESTS = [full_screen, selection, reader, logout_elsewhere, arguments, files, trash, changes, keys, remembers, quitting,
         messages, right_to_left, sharp, refused, decoding, outage, several, search, welcome, large, cycles]
