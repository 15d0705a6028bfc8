"""Tests of the controls of the window, with animations: messages, menus, full screen, and the sizes and places of photos."""
import os
import random
import subprocess
import time

from appearance import window
from keeping import focused, secondary_click
from online import photo as remote_photo
from screen import Screen, open_samples, open_unsplash
from session import SAMPLES, until

SEED = int(os.environ.get("IMAGEFEED_SEED", 7))
ACTIONS = int(os.environ.get("IMAGEFEED_ACTIONS", 400))


def message_queue(start, step):
    session, screen = open_samples(start, 4)
    photo = next(session.pictures.glob("Photo 000.*"))
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    screen.key("Delete")
    screen.wait("Photo 000 is in the trash.", "label")
    screen.mouse("key", "ctrl+shift+c", "sleep", 0.1, "key", "ctrl+shift+c")
    screen.wait("This photo has no link, because it is only on this computer.", "label")
    assert session.window.poll() is None
    step("two messages at once beside one with a button are shown")
    screen.wait("Photo 000 is in the trash.", "label")
    screen.press_of_adwaita("Undo")
    until(photo.exists, "the restored file")
    step("the message with the button returns, and its button works")
    screen.wait_gone(role="label", contains="is in the trash.")
    screen.key("Delete")
    shown = time.monotonic()
    screen.wait(starts="Photo 00", role="label", contains="is in the trash.")
    screen.until(lambda: not screen.all(role="label", contains="is in the trash."), "the end of the message")
    assert 8 <= time.monotonic() - shown < 60
    step("a message with a button ends after ten seconds")


def add_shapes(folder):
    """Adds a portrait, a panorama and a photo whose proportions differ from 3 to 2."""
    for name, size in (("Portrait", "400x800"), ("Panorama", "1200x120"), ("Square", "500x500")):
        subprocess.run(["convert", "-size", size, "gradient:red-blue", f"{folder}/{name}.jpg"], check=True)


def ratio(screen, name):
    area = screen.wait(name, "list item").extents()
    return area.width / max(area.height, 1)


def sizes(start, step):
    session = start(photos=1500)
    add_shapes(session.pictures)
    session.start_daemon()
    screen = Screen()
    session.start_window()
    screen.press("Show the photos on this computer")
    screen.until(lambda: abs(ratio(screen, "Portrait") - 0.5) < 0.05 and abs(ratio(screen, "Square") - 1) < 0.05,
                 "the proportions")
    step("photos that are shown before their size is known get their proportions")
    until(lambda: "1503 photos" in screen.tree() or "1,503 photos" in screen.tree(), "the end of the scan")
    time.sleep(2)
    assert not screen.all(contains="new photo", role="push button"), screen.names("push button")
    step("the photos of the first scan are not new photos")
    session.screenshot("sizes")
    folder = session.folder / "home/Opened"
    folder.mkdir()
    add_shapes(folder)
    subprocess.run([str(session.programs / "imagefeed"), str(folder)], env=session.environment, check=True, timeout=60)
    screen.wait_gone("Photo 000", "list item")
    screen.until(lambda: abs(ratio(screen, "Portrait") - 0.5) < 0.05 and abs(ratio(screen, "Square") - 1) < 0.05,
                 "the proportions")
    step("the files of an opened folder have their proportions")
    # The middle of the picture is as high as its proportions, between empty parts.
    area = screen.wait("Panorama", "list item").extents()
    session.screenshot("panorama")
    colors = subprocess.run(["import", "-window", "root", "-crop", f"1x{area.height - 40}+{area.x + area.width // 3}+{area.y + 8}",
                             "+repage", "-depth", "8", "rgb:-"], capture_output=True, check=True).stdout
    pixels = [colors[index:index + 3] for index in range(0, len(colors), 3)]
    colorful = [pixel for pixel in pixels if max(pixel) - min(pixel) > 60]
    assert abs(len(colorful) - area.width / 10) < 12, (len(colorful), area)
    step("a panorama is shown as a whole, and not enlarged")


def resting(start, step):
    session = start(photos=4)
    session.start("openbox", "--sm-disable")
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    # The pointer was never in the page, and rests below the header of full screen.
    screen.mouse("mousemove", 700, 15)
    screen.wait("Photo 000", "list item")
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    screen.mouse("key", "F5")
    screen.wait("Pause", "push button")
    screen.wait_gone("Pause", "push button")
    step("the header of the slideshow hides above a pointer that rests")

    def arrow():
        """Returns the difference of the colors at the button for the next photo from those beside it."""
        command = ["import", "-window", "root", "-crop", "34x34+1352+483", "+repage", "-colorspace", "gray", "-format",
                   "%[fx:standard_deviation]", "info:"]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    screen.mouse("mousemove", 700, 600, "mousemove", 710, 610)
    screen.until(lambda: arrow() > 0.01, "the button for the next photo")
    shown = arrow()
    screen.until(lambda: arrow() < shown / 3, "the end of the button for the next photo")
    step("the buttons beside the photo hide")
    name = screen.wait(role="image", starts="Photo").get_name()
    screen.mouse("mousemove", 1370, 500, "sleep", 0.5, "click", 1)
    screen.until(lambda: screen.wait(role="image", starts="Photo").get_name() != name, "another photo")
    step("the buttons appear again, and take a click")


def menus(start, step):
    session, screen = open_samples(start, 4)
    card = screen.wait("Photo 001", "list item")
    screen.until(lambda: secondary_click(screen, card) and screen.all("Move to the trash", "menu item"), "the menu")
    entries = screen.names("menu item")
    assert entries[0] == "Like", entries
    heights = [widget.extents().height for widget in screen.all(role="menu")]
    assert 0 < max(heights) <= 600, heights
    session.screenshot("menu-of-card")
    screen.mouse("key", "Escape")
    screen.until(lambda: (focused(screen) or "").startswith("Photo 001"), "the focus of the photo")
    step("the menu of a photo begins with the like, and returns the focus to the photo")
    screen.mouse("key", "Menu")
    screen.press("Like")
    until(lambda: "Photo 001" in session.control("likes"), "the like")
    screen.until(lambda: (focused(screen) or "").startswith("Photo 001"), "the focus of the photo")
    step("an entry of the menu is performed, and the focus returns to the photo")
    screen.mouse("key", "Return")
    view = screen.wait("Photo 001", "image")
    screen.mouse("key", "Menu")
    screen.wait("Unlike", "menu item")
    heights = [widget.extents().height for widget in screen.all(role="menu")]
    assert 0 < max(heights) <= 600, heights
    session.screenshot("menu-of-photo")
    screen.mouse("key", "Escape")
    screen.until(lambda: view.has("FOCUSED"), "the focus of the photo")
    step("the menu of the photo view returns the focus, too")


def open_menu():
    """Returns the top and the height of the open menu, which is a window of its own on the display, with its shadow."""
    command = ["xdotool", "search", "--onlyvisible", "--name", "^imagefeed$", "getwindowgeometry", "--shell"]
    geometry = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [int(geometry.split(f"{name}=")[1].split()[0]) for name in ("Y", "HEIGHT")]


def menu_places(start, step):
    session = start(photos=40, width=1366, height=768)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    card = screen.wait("Photo 000", "list item")
    area = card.extents()
    screen.until(lambda: focused(screen) == card.name, "the focus of the first photo")
    step("the first photo has the focus")
    screen.mouse("mousemove", 500, 400, "click", 3)
    screen.wait("Like", "menu item")
    session.screenshot("menu-in-the-middle")
    top, height = open_menu()
    # Without the shadow that GTK 4.8 draws in its window, the menu is 450 pixels high; 368 are below the pointer.
    assert height > 440 and top + height < 768 + 30, (top, height)
    step("the menu of a photo in the middle is not cut")
    screen.mouse("key", "Escape")
    screen.wait_gone("Like", "menu item")
    screen.mouse("mousemove", area.x + area.width // 2, area.y + area.height // 2, "key", "Home")
    screen.until(lambda: focused(screen) == card.name, "the focus of the first photo")
    screen.mouse("click", "--repeat", 15, "--delay", 30, 5)
    screen.until(lambda: card.extents().y < -area.height, "the end of the movement")
    screen.mouse("key", "Menu")
    screen.wait("Like", "menu item")
    session.screenshot("menu-of-scrolled-card")
    top, _ = open_menu()
    assert -30 <= top < 760, top
    step("the menu of a photo that was scrolled out of sight opens in sight")
    screen.mouse("key", "Escape")
    screen.wait_gone("Like", "menu item")
    stops = []
    for _ in range(8):
        before = focused(screen)
        screen.mouse("key", "Tab")
        screen.until(lambda: focused(screen) not in (None, before), "the next stop")
        stops.append(focused(screen))
        if stops[-1].startswith("Photo "):
            break
    listed = [stop for stop in stops if stop.startswith(("ada", "Profile", "All photos", "Likes", "Memories"))]
    assert stops[-1].startswith("Photo ") and len(listed) == 1, stops
    step("the list of accounts is one stop of the key Tab")


def walk(start, step):
    """Random actions; IMAGEFEED_SEED and IMAGEFEED_ACTIONS repeat or extend it. Criticals of GTK fail each test."""
    session = start(photos=60, width=1366, height=768)
    session.start("openbox", "--sm-disable")
    session.start_daemon()
    session.log_in()
    session.start_window()
    Screen().wait("Photo 000", "list item")
    chance = random.Random(SEED)
    keys = """Left Right Up Down Home End Page_Down Page_Up Return Escape Escape l i F11 plus minus 0 1 r space ctrl+f Escape
              Menu Tab ctrl+c ctrl+shift+c F5 Escape ctrl+a BackSpace F10 ctrl+comma Escape""".split()
    for _ in range(ACTIONS // 20):
        words = []
        for _ in range(20):
            action = chance.random()
            if action < 0.6:
                words += ["key", chance.choice(keys)]
                continue
            words += ["mousemove", chance.randrange(1100), chance.randrange(40, 700)]
            if action < 0.88:
                words += ["click", chance.choice([1, 1, 1, 3, 4, 5])]
        subprocess.run(["xdotool", *map(str, words)], env=session.environment, capture_output=True, check=True)
        assert session.window.poll() is None, f"the window ended after {words}"
    step(f"{ACTIONS} random actions with seed {SEED} do not end the window")


def liked(start, step):
    session, screen = open_samples(start, 4)
    screen.press("Like Photo 001")
    screen.press("Like Photo 002")
    until(lambda: session.control("likes").count("\n") == 2, "the likes")
    screen.activate(starts="Likes")
    screen.until(lambda: sorted(screen.photos()) == ["Photo 001", "Photo 002"], "the liked photos")
    screen.press("Unlike Photo 001")
    screen.until(lambda: screen.photos() == ["Photo 002"], "the liked photo")
    step("a photo that is no longer liked leaves the likes")


def found(start, step):
    session, screen = open_samples(start, 5)
    screen.wait("Photo 000", "list item")
    screen.key("ctrl+f")
    field = screen.wait("Search photos")
    screen.until(lambda: focused(screen) is not None, "the field")
    screen.mouse("type", "nothing")
    screen.mouse("key", "Return")
    screen.wait("No photos found", "label")
    assert not screen.all("New photos appear here as soon as they arrive.")
    step("a search without a result says so")
    screen.activate(starts="Likes")
    screen.wait("No liked photos", "label")
    screen.key("ctrl+f")
    field = screen.wait("Search photos")
    assert field.text() == "", field.text()
    step("another source empties the field of the search")


def secret(start, step):
    session = start(photos=0, services=True)
    settings = session.services.settings["unsplash"]
    session.start_daemon()
    screen = Screen()
    session.start_window()
    screen.press("Log in")
    screen.activate(starts="Unsplash")
    screen.type("Client ID", settings["id"])
    screen.type("Client secret", "mistyped")
    screen.press("Save")
    screen.wait(role="label", contains="configure them again")
    session.screenshot("mistyped")
    screen.press("Set up again")
    screen.type("Client ID", settings["id"])
    screen.type("Client secret", settings["secret"])
    screen.press("Save")
    name = screen.until(lambda: remote_photo(screen), "the photos of the service")
    step("a mistyped client secret can be entered again")
    photos = session.folder / "home/Pictures"
    for number in range(2):
        (photos / f"Photo {number:03}.jpg").write_bytes(SAMPLES[0].read_bytes() + bytes([number]))
    screen.press("Log in to another account")
    screen.activate(starts="Photos on this computer")
    screen.wait("User name", "text")
    screen.type("User name", "bob")
    screen.press("Register a new user")
    screen.wait("Photo 000", "list item")
    assert not [item for item in screen.names("list item") if item.startswith(name)]
    step("the photos of a new account are shown at once")
    screen.press("Log in to another account")
    screen.activate(starts="Photos on this computer")
    screen.wait("User name", "text")
    screen.type("User name", "bob")
    screen.press("Register a new user")
    screen.wait(role="label", contains="There is a user bob already")
    # Without a window manager, the window below the pointer has the keyboard.
    screen.mouse("mousemove", 200, 450, "type", "carol")
    screen.until(lambda: screen.all("User name", "text")[-1].text() == "carol", "the name")
    step("a name that is taken has the focus")


TESTS = [message_queue, sizes, resting, menus, menu_places, walk, liked, found, secret]
