"""Tests of months, preferences, information about a photo, and of the ways in which the desktop and the window work together."""
import json
import os
import pathlib
import struct
import subprocess
import time

from appearance import narrow, window
from keeping import focused
from online import photo as remote_photo
from screen import Screen, choose_path, open_samples, open_unsplash
from session import SAMPLES, until
from viewing import recorder


def month(number):
    """Returns the middle of a month, counted back from June 2026, as a time and as text."""
    year, index = divmod(2026 * 12 + 5 - number, 12)
    moment = time.mktime((year, index + 1, 15, 12, 0, 0, 0, 0, -1))
    return moment, time.strftime("%B %Y", time.localtime(moment))


def add_months(session, count, photos=4):
    """Adds some photos of each of many months."""
    for number in range(count * photos):
        source = SAMPLES[number % len(SAMPLES)]
        target = session.pictures / f"Photo {number:03}{source.suffix}"
        target.write_bytes(source.read_bytes() + str(number).encode())
        moment = month(number // photos)[0] - number % photos * 60
        os.utime(target, (moment, moment))


def months(start, step):
    count, photos = 60, 4
    session = start(photos=0)
    add_months(session, count, photos)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    names = screen.until(lambda: len(screen.names("heading")) > 1 and screen.names("heading"), "the headings")
    assert names == [month(number)[1] for number in range(len(names))], names
    session.screenshot("months")

    def grid():
        """Returns the headings and photos of the grid: their role, name and description."""
        parts = [part for part in screen.descendants(screen.wait("Photos", "list"))
                 if part.role in ("heading", "list item")]
        return [(part.role, part.name, part.description) for part in parts]

    for line in grid()[:8]:
        print(*line, sep=" | ", flush=True)

    def positions():
        return [int(line[2].split(" of ")[0]) for line in grid() if line[0] == "list item" and " of " in line[2]]

    screen.until(lambda: positions() == list(range(1, len(positions()) + 1)) and len(positions()) > 3, "the positions")

    def headed():
        """Returns the positions of the photos below the headings."""
        lines = grid()
        return [int(after[2].split(" of ")[0]) for line, after in zip(lines, lines[1:]) if line[0] == "heading"]

    assert headed()[:2] == [1, photos + 1], headed()
    assert grid()[1][2] == f"1 of {count * photos}", grid()[1]
    step("each month has a heading before its photos, whose positions count photos only")
    titles = {month(number)[1] for number in range(count)}

    def shown():
        return [name for name in screen.names("label") if name in titles]

    # The month hides a second after the last movement.
    wheel = session.start("xdotool", "mousemove", 700, 500, "click", "--repeat", 300, "--delay", 100, 5)
    assert len(screen.until(shown, "the month of the visible part")) == 1
    wheel.wait()
    screen.until(lambda: not shown(), "the end of the month")
    step("while the grid scrolls, the month of the visible part is shown")
    screen.key("ctrl+g")
    title = month(count - 2)[1]
    year = title[-4:]
    screen.until(lambda: {name[-4:] for name in titles} <= set(screen.names("menu item")), "all years in the menu")
    session.screenshot("month-menu")
    screen.press(year)
    # GTK 4.18 hides the entries of the years that are closed.
    screen.until(lambda: {name for name in screen.names("menu item") if name.endswith(f" {year}")}
                 == {name for name in titles if name.endswith(year)}, "all months of the year")
    session.screenshot("month-menu-year")
    screen.press(title)
    first = f"Photo {(count - 2) * photos:03}"
    screen.until(lambda: (focused(screen) or "").startswith(first), "the focus of the first photo of the month")
    heading = screen.wait(title, "heading")
    assert heading.extents().y < 400, heading.extents().y
    step("the menu of months moves to the first photo of a month that was not loaded")
    session.screenshot("month-shown")
    screen.mouse("key", "Up")
    screen.until(lambda: not (focused(screen) or "").startswith(first), "the focus of another photo")
    screen.wait(month(count - 3)[1], "heading")
    step("the heading above a photo is visible when the keys reach the photo")
    narrow(screen)
    session.screenshot("months-narrow")


def with_exif(jpeg):
    """Returns a JPEG with the settings of a camera."""
    def table(fields, offset):
        data, entries = b"", b""
        place = offset + 2 + 12 * len(fields) + 4
        for tag, kind, count, value in fields:
            if len(value) <= 4:
                entries += struct.pack(">HHI", tag, kind, count) + value.ljust(4, b"\0")
            else:
                entries += struct.pack(">HHII", tag, kind, count, place + len(data))
                data += value
        return struct.pack(">H", len(fields)) + entries + bytes(4) + data

    def text(tag, words):
        return tag, 2, len(words) + 1, words.encode() + b"\0"

    details = [(0x829a, 5, 1, struct.pack(">II", 1, 250)), (0x829d, 5, 1, struct.pack(">II", 28, 10)),
               (0x8827, 3, 1, struct.pack(">H", 800)), text(0x9003, "2019:03:02 12:00:00"), text(0xa434, "RF35mm F1.8")]
    image = [text(0x10f, "Canon"), text(0x110, "Canon EOS R6"), (0x8769, 4, 1, bytes(4))]
    offset = 8 + len(table(image, 8))
    image[2] = (0x8769, 4, 1, struct.pack(">I", offset))
    block = b"Exif\0\0MM\0*" + struct.pack(">I", 8) + table(image, 8) + table(details, offset)
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(block) + 2) + block + jpeg[2:]


# One pixel, twice.
ANIMATION = (b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\xff" + b"!\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"
             + 2 * (b"!\xf9\x04\0\x32\0\0\0" + b",\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0") + b";")


def information(start, step):
    session = start(photos=0, configuration="[Provider local]\nShowLocation=true\n")
    (session.pictures / "Photo 000.jpg").write_bytes(with_exif(SAMPLES[0].read_bytes()))
    (session.pictures / "Photo 001.gif").write_bytes(ANIMATION)
    (session.pictures / "Photo 002.jpg").write_bytes(SAMPLES[1].read_bytes())
    now = time.time()
    for number, path in enumerate(sorted(session.pictures.iterdir())):
        os.utime(path, (now - number, now - number))
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.wait("Photo 001", "list item")
    screen.wait(starts="Photo 001, ", role="list item", contains=", animated")
    assert len(screen.all("Animated", "label")) == 1
    session.screenshot("animated")
    step("a photo with several frames is marked in the grid, also for screen readers")
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    screen.press("Information")
    screen.wait("ISO", "label")
    found = screen.names("label")
    for text in ("Canon EOS R6", "RF35mm F1.8", "1/250 s", "f/2.8", "800", "Photo 000.jpg"):
        screen.wait(text, "label")
    facts = [(title, found[found.index(title) + 1]) for title in ("Camera", "Lens", "Exposure", "Aperture", "ISO")]
    print(facts, flush=True)
    session.screenshot("information")
    step("the information has the lens, the exposure, the aperture and the sensitivity")
    # The first photo is the oldest.
    screen.press("Previous photo")
    screen.wait("Photo 002", "image")
    screen.press("Previous photo")
    screen.wait("image/gif (animated)", "label")
    screen.wait_gone("Lens", "label")
    step("facts that are not known have no title")
    session.end(session.window)
    file = session.folder / "home/Opened.jpg"
    file.write_bytes(with_exif(SAMPLES[0].read_bytes()))
    session.start_window(file)
    screen.wait("Opened", "image")
    screen.press("Information")
    for text in ("Canon EOS R6", "RF35mm F1.8", "1/250 s", "f/2.8", "800", "Opened.jpg"):
        screen.wait(text, "label")
    step("a file that was opened has the same information")


def choose_folder(session, screen, folder):
    """Chooses a folder in the open dialog for files, and waits until it is in the configuration file."""
    configuration = session.folder / "config/imagefeed/imagefeed.conf"
    choose_path(session, screen, folder,
                lambda: configuration.exists() and f"Directory={folder}" in configuration.read_text())


def first_folder(start, step):
    session = start()
    session.start_daemon()
    other = session.folder / "home/Other photos"
    other.mkdir()
    (other / "Shore 1.jpg").write_bytes(SAMPLES[1].read_bytes() + b"shore")
    screen = Screen()
    session.start_window()
    screen.press("Log in")
    screen.wait("Needs a key, which you make in the account settings of the service", "label")
    screen.key("Escape")
    step("the list of services says where a key is made")
    screen.press("Choose another folder…")
    choose_folder(session, screen, other)
    screen.wait("Shore 1", "list item")
    screen.wait_gone("Thumbnails")
    step("the choice of a folder at the first start shows its photos")


def preferences(start, step):
    session, screen = open_samples(start, 8)
    other = session.folder / "home/Other photos"
    other.mkdir()
    (other / "Shore 1.jpg").write_bytes(SAMPLES[1].read_bytes() + b"shore")
    configuration = session.folder / "config/imagefeed/imagefeed.conf"
    configuration.write_text("# A comment\n[Daemon]\nCacheLimit=300M\n")
    first = screen.wait("Photo 000", "list item")
    height = first.extents().height
    screen.key("ctrl+comma")
    screen.wait("Thumbnails")
    session.screenshot("preferences")
    screen.wait("300M", "label")
    step("the preferences show the values of the configuration file")
    screen.press("Choose the folder")
    screen.until(lambda: screen.buttons_of_toolkit("Choose"), "the dialog for files")

    def escape():
        if not screen.buttons_of_toolkit("Choose"):
            return True
        subprocess.run(["xdotool", "search", "--name", "^Preferences$", "windowfocus", "--sync", "key", "Escape"])
        return False

    screen.until(escape, "the end of the dialog for files")
    assert screen.all("Thumbnails"), screen.tree()
    step("the key Escape closes the dialog for files before the preferences below it")

    def choose(title, choice):
        """Chooses an entry of a row with a list."""
        def attempt():
            entries = [entry for entry in screen.all(choice) if entry.role in ("label", "list item")]
            for entry in reversed(entries):
                if screen.click(entry):
                    return True
            for row in screen.all(title, "combo box"):
                screen.click(row)
            return False
        screen.until(attempt, f"the choice {choice!r}")

    choose("Thumbnails", "Large")
    screen.until(lambda: screen.all("Photo 000", "list item")[0].extents().height > height * 1.3, "large thumbnails")
    step("the size of the thumbnails changes at once")
    choose("Look for new photos", "Never")
    until(lambda: "RefreshInterval=0" in configuration.read_text(), "the interval")
    screen.click(screen.wait("Show the places of photos", "check box"))
    until(lambda: "ShowLocation=true" in configuration.read_text(), "the places")
    text = configuration.read_text()
    assert text.startswith("# A comment\n[Daemon]\n") and "CacheLimit=300M" in text, text
    step("a setting is written into the configuration file, whose other lines stay")
    exclusions = "Exclude (*.gif)"

    def exclude(patterns):
        """Replaces the patterns, and presses the button to apply them."""
        screen.click(screen.wait(exclusions, "text"))
        screen.mouse("key", "ctrl+a", "key", "BackSpace", "type", patterns)
        screen.until(screen.press_apply, "the button to apply the patterns")

    exclude("Photo 00[0-3].*;Scans")
    screen.wait("All photos, 4 photos", "list item")
    assert "Exclude=Photo 00[0-3].*;Scans\n" in configuration.read_text(), configuration.read_text()
    assert "Photo 000" not in session.control("feed")
    screen.wait_gone("Photo 000", "list item")
    step("files and folders that are not to be shown leave at once")
    exclude("")
    screen.wait("All photos, 8 photos", "list item")
    screen.press("4 new photos")
    screen.wait("Photo 000", "list item")
    step("without patterns, they return")
    # The new contents are written to this file first.
    obstacle = configuration.parent / ".imagefeed.conf.imagefeed-part"
    obstacle.mkdir()
    attempts = iter(range(1000))

    def is_refused():
        # On a busy machine, the message may leave between two searches.
        exclude(f"Scans {next(attempts)}")
        return screen.all(role="label", contains="cannot be changed")

    screen.until(is_refused, "the message about the file")
    obstacle.rmdir()
    step("a file that cannot be changed is reported")
    screen.press("Choose the folder")
    choose_folder(session, screen, other)
    until(lambda: "Shore 1" in session.control("feed"), "the photos of the other folder")
    screen.wait("Shore 1", "list item")
    step("another folder of photos is shown at once")
    screen.key("Escape")
    screen.wait_gone("Thumbnails")
    screen.key("ctrl+q")
    until(lambda: session.window.poll() is not None, "the end of the window")
    session.start_window()
    card = screen.wait("Shore 1", "list item")
    screen.until(lambda: card.extents().height > height * 1.3, "large thumbnails")
    step("the size of the thumbnails is remembered")


def maximized(start, step):
    session = start(photos=3)
    session.start("openbox", "--sm-disable")
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.wait("Photo 000", "list item")

    def is_maximized():
        state = subprocess.run(["xprop", "-id", window(screen), "_NET_WM_STATE"], capture_output=True, text=True).stdout
        return "MAXIMIZED_VERT" in state and "MAXIMIZED_HORZ" in state

    screen.press("Maximize")
    screen.until(is_maximized, "the maximized window")
    screen.key("ctrl+q")
    until(lambda: session.window.poll() is not None, "the end of the window")
    session.start_window()
    screen.wait("Photo 000", "list item")
    screen.until(is_maximized, "the maximized window")
    step("a maximized window is maximized again")


def covers(start, step):
    session = start(photos=2)
    album = session.pictures / "Tall"
    album.mkdir()
    picture = album / "Tower.jpg"
    subprocess.run(["convert", "-size", "300x900", "gradient:red-blue", str(picture)], check=True)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    row = screen.wait(starts="Tall, 1 photo", role="list item")

    def sizes():
        return [(part.extents().width, part.extents().height) for part in screen.descendants(row)
                if part.role in ("image", "icon") and part.extents().width > 0]

    screen.until(lambda: (32, 32) in sizes(), "a square cover")
    assert all(width <= 32 and height <= 32 for width, height in sizes()), sizes()
    step("the cover of an album of portraits is square")


def links(start, step):
    session = start(photos=1)
    recorded = recorder(session, "x-scheme-handler/https")
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.wait("Photo 000", "list item")
    screen.press("Log in to another account")
    screen.activate(starts="Unsplash")
    screen.wait("Client ID", "text")
    help_text = screen.wait(role="label", contains="https://")
    text = help_text.get_name()
    address = next(word for word in text.split() if word.startswith("https://")).rstrip(".,;)")
    session.screenshot("links")

    def click():
        # GTK 4.8 does not report where a part of a text is.
        area = help_text.extents()
        for y in range(area.y + 7, area.y + area.height, 14):
            screen.mouse("mousemove", area.x + area.width // 2, y, "click", 1)
        return recorded()

    screen.until(click, "the address")
    assert set(recorded()) == {address}, (recorded(), address)
    step("the address in the help of a service opens in the browser")


def activation(start, step):
    session = start(photos=3)
    folder = session.folder / "home/Elsewhere"
    folder.mkdir()
    (folder / "Shot 1.jpg").write_bytes(SAMPLES[0].read_bytes())
    (folder / "Shot 2.jpg").write_bytes(SAMPLES[1].read_bytes())
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.activate("org.imagefeed.Viewer", "imagefeed", "--gapplication-service")

    def open_files(*paths):
        addresses = ", ".join(f"'{path.as_uri()}'" for path in paths)
        subprocess.run(["gdbus", "call", "--session", "--dest", "org.imagefeed.Viewer", "--object-path",
                        "/org/imagefeed/Viewer", "--method", "org.freedesktop.Application.Open", f"[{addresses}]", "{}"],
                       env=session.environment, check=True, timeout=60, stdout=subprocess.DEVNULL)

    open_files(folder / "Shot 2.jpg")
    screen.wait("Shot 2", "image")
    step("a file that the desktop opens over D-Bus starts the window")
    open_files(next(session.pictures.glob("Photo 001.*")))
    screen.wait("Photo 001", "image")
    screen.wait("Like", "push button")
    step("a file of the pictures folder is opened in its feed by the running window")
    subprocess.run(["gdbus", "call", "--session", "--dest", "org.imagefeed.Viewer", "--object-path",
                    "/org/imagefeed/Viewer", "--method", "org.freedesktop.Application.Activate", "{}"],
                   env=session.environment, check=True, timeout=60, stdout=subprocess.DEVNULL)
    assert screen.wait("Photo 001", "image")
    step("the activation by the desktop keeps the photo")


def portals(start, step):
    session, screen = open_samples(start, 3)
    stub = session.start("/usr/bin/python3", pathlib.Path(__file__).with_name("portal.py"), stdout=subprocess.PIPE)
    assert stub.stdout.readline() == b"ready\n"
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    content = next(session.pictures.glob("Photo 000.*")).read_bytes()

    def received():
        words = stub.stdout.readline().decode().split()
        return words[0], [bytes.fromhex(word) for word in words[1:]]

    screen.menu("Set as wallpaper")
    assert received() == ("SetWallpaperFile", [content])
    step("the portal for wallpapers receives the file")
    screen.menu("Send the file by e-mail")
    assert received() == ("ComposeEmail", [content])
    step("the portal for e-mail receives the file")
    session.end(stub)
    screen.menu("Set as wallpaper")
    screen.wait("The desktop has no portal for wallpapers.", "label")
    step("without a portal, a message says so")


def described(photo):
    return photo.get("title") or photo.get("description") or "Photo"


def service_search(start, step):
    session, screen = open_unsplash(start)
    screen.until(lambda: remote_photo(screen), "the photos of the service")
    before = {name.split(",")[0] for name in screen.names("list item")}
    screen.key("ctrl+f")
    screen.wait("Search photos")
    screen.until(lambda: focused(screen) is not None, "the field")
    # The service finds photos by their tags, which are not in its responses.
    screen.mouse("type", "wallpaper")
    screen.mouse("key", "Return")
    photos = json.loads(session.control("feed", "--source", "search:wallpaper", "--json"))["photos"]
    found = [name for name in map(described, photos) if name not in before]
    assert found, photos
    screen.until(lambda: [name for name in screen.names("list item") if name.startswith(found[0])], "the results of the service")
    session.screenshot("service-search")
    step("a search at a service shows the results of the service")
    screen.key("ctrl+f")
    screen.mouse("key", "Escape")
    screen.until(lambda: before <= {name.split(",")[0] for name in screen.names("list item")}, "the photos before the search")
    step("the end of the search shows the source again")


TESTS = [months, information, first_folder, preferences, maximized, covers, links, activation, portals, service_search]
