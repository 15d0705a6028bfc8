"""Tests of the window in other colors, widths and text sizes. With --screenshots, they write a picture of each screen."""
import pathlib
import re
import subprocess

import pixels
from screen import Screen
from session import SAMPLES, until

NARROW = 360
HEIGHT = 720


def window(screen):
    """Returns the identifier of the main window on the display."""
    found = subprocess.run(["xdotool", "search", "--name", "^(Image Feed|Photo .*)$"], capture_output=True, text=True, check=True)
    return found.stdout.split()[-1]


def width_on_display(screen):
    geometry = subprocess.run(["xdotool", "getwindowgeometry", "--shell", window(screen)], capture_output=True, text=True,
                              check=True)
    return int(re.search(r"WIDTH=(\d+)", geometry.stdout)[1])


def narrow(screen):
    """Makes the main window as narrow as a phone."""
    screen.mouse("windowsize", window(screen), NARROW, HEIGHT)
    fits(screen)


def frames(screen):
    """Returns the visible windows and dialogs, the one that opened last at the end."""
    return [window for windows, _ in screen.trees() for window in windows if window.was("VISIBLE")]


def overflow(screen):
    """Returns the parts of the windows that are wider than the display of a phone."""
    wide = []
    if width_on_display(screen) != NARROW:
        wide.append(("window", width_on_display(screen)))
    for frame in frames(screen):
        if frame.extents().width > NARROW:
            wide.append((frame.name, frame.extents().width))
        if frame.name == "Image Feed" or frame.name.startswith("Photo "):
            continue
        # The main window also has widgets of pages that are beside it.
        for widget in screen.descendants(frame):
            if widget.role in ("push button", "label", "text", "password text"):
                place = widget.extents()
                if place.width and (place.x < 0 or place.x + place.width > NARROW):
                    wide.append((widget.name, place.x, place.width))
    return wide


def fits(screen):
    try:
        until(lambda: not overflow(screen), f"the width {NARROW}")
    except AssertionError as error:
        raise AssertionError(f"{error}: {overflow(screen)}")


def visit(session, screen, name, is_narrow):
    """Visits the pages of the main window."""

    def page(title):
        if is_narrow:
            fits(screen)
        session.screenshot(f"{name}-{title}")

    page("feed")
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    page("photo")
    screen.menu("Information")
    screen.wait("Size", "label")
    page("information")
    screen.key("Escape")
    screen.wait("Photo 001", "list item")


def visit_dialogs(session, screen, name):
    """Visits the dialogs above a narrow window."""

    def page(title):
        fits(screen)
        session.screenshot(f"{name}-{title}")

    def choose(starts):
        """Clicks on a row of a dialog, which may be outside of the visible part of its list."""
        def attempt():
            dialog = frames(screen)[-1]
            for row in screen.all(role="list item", starts=starts):
                place = row.extents()
                if place.y + place.height < dialog.extents().height:
                    screen.click(row)
                else:
                    screen.mouse("mousemove", NARROW // 2, 300, "click", 5)
            return not screen.all(role="list item", starts=starts)
        screen.wait(starts=starts, role="list item")
        until(attempt, f"the activation of {starts!r}")

    def leave(text, role):
        """Closes the dialog that opened last."""
        def attempt():
            if screen.all(text, role):
                screen.mouse("mousemove", NARROW // 2, 60, "key", "Escape")
            return not screen.all(text, role)
        until(attempt, f"the end of the dialog with {text!r}")

    screen.press("Back to the sources")
    screen.wait("Profile of ada", "push button")
    page("sources")
    screen.press("Log in to another account")
    screen.wait(starts="Photos on this computer", role="list item")
    page("providers")
    choose("Photos on this computer")
    screen.wait("User name", "text")
    page("login")
    leave("User name", "text")
    screen.press("Log in to another account")
    choose("Unsplash")
    screen.wait("Client ID", "text")
    page("configure")
    leave("Client ID", "text")
    screen.press("Profile of ada")
    screen.wait("Label", "text")
    page("profile")
    screen.menu("Log out…")
    screen.wait("Log out of ada?")
    page("question")
    screen.press_of_adwaita("Cancel")
    screen.wait_gone("Log out of ada?")
    screen.press("Back to the sources")
    # A key that is pressed while the question or the page leaves is lost.
    screen.mouse("mousemove", NARROW // 2, 60, "sleep", 2, "key", "ctrl+comma")
    row = screen.wait("Thumbnails", "combo box")
    title, choice = [label.extents() for text in ("Thumbnails", "Medium") for label in screen.descendants(row)
                     if label.role == "label" and label.name == text][:2]
    assert choice.y >= title.y + title.height, (title.y, title.height, choice.y)
    page("preferences")
    screen.click(row)
    screen.wait("Large")
    session.screenshot(f"{name}-choices")
    leave("Thumbnails", "combo box")
    screen.mouse("key", "F10")
    screen.wait("About Image Feed", "menu item")
    page("main-menu")


def enlarge_text(session):
    """Doubles the size of the text, as the accessibility settings of the desktop do."""
    subprocess.run(["xprop", "-root", "-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", "Xft.dpi: 192"],
                   env=session.environment, check=True)


def look(start, step, name, settings, has_large_text=False):
    session = start(photos=4)
    if has_large_text:
        enlarge_text(session)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.environment = {**session.environment, **settings}
    session.start_window()
    screen.wait("Photo 000", "list item")
    visit(session, screen, f"wide-{name}", is_narrow=False)
    step("the pages are shown in a wide window")
    narrow(screen)
    visit(session, screen, f"narrow-{name}", is_narrow=True)
    step(f"the pages fit into {NARROW} pixels")
    visit_dialogs(session, screen, f"narrow-{name}")
    step(f"the dialogs fit into {NARROW} pixels")


def light(start, step):
    look(start, step, "light", {})


def dark(start, step):
    look(start, step, "dark", {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"})


def contrast(start, step):
    look(start, step, "contrast", {"ADW_DEBUG_HIGH_CONTRAST": "1"})


def large_text(start, step):
    look(start, step, "large-text", {}, has_large_text=True)


def processor_time():
    """Returns the time that the hypervisor withdrew, and that of all states, since the start of the machine."""
    states = [int(ticks) for ticks in pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return states[7], sum(states)


def motion(start, step):
    session = start(photos=3)
    session.start_daemon()
    session.log_in()
    screen = Screen()

    def open_photo(has_animations):
        session.configure_toolkit(f"gtk-enable-animations={int(has_animations)}\n")
        session.start_window()
        screen.press("Photo 000")
        return screen.wait("Photo 000", "image")

    def places(view):
        """Shows the information, and returns the widths of the photo view until it came to rest."""
        whole = view.extents().width
        button = screen.wait("Information")
        button.act()
        seen = [whole]

        def rests():
            # The end of an animation is the same width in a hundred requests, after it changed.
            for _ in range(100):
                width = view.extents().width
                if width != seen[-1]:
                    seen.append(width)
                    return False
            return len(seen) > 1

        until(rests, "the information at rest")
        button.act()
        screen.until(lambda: view.extents().width == whole, "the whole photo view")
        return seen

    def position(view):
        """Returns the distance of the visible part's center from the left of the photo, in percent."""
        return int(re.search(r"position (-?\d+)", view.get_description())[1])

    def drag(view, distance):
        """Drags the zoomed photo quickly to the right, and returns the movement at rest, in percent of the photo."""
        before = position(view)
        x, y = 400, 400
        screen.mouse("mousemove", x, y, "mousedown", 1, *(word for part in (4, 3, 2, 1) for word in (
            "mousemove", x + distance // part, y, "sleep", 0.01)), "mouseup", 1)
        screen.until(lambda: position(view) != before, "the movement")
        seen = [position(view)]

        def rests():
            for _ in range(100):
                seen.append(position(view))
                if seen[-1] != seen[-2]:
                    return False
            return True

        until(rests, "the photo at rest")
        return before - seen[-1]

    def zoom(view):
        for _ in range(5):
            screen.key("plus")
        screen.until(lambda: "Zoom 305 %" in view.get_description(), "the zoom")
        return pixels.fitted(view.extents(), pixels.size(SAMPLES[0]))[2] * 1.25 ** 5

    view = open_photo(has_animations=False)
    seen = places(view)
    assert len(seen) == 2, f"intermediate widths: {seen}"
    step("without animations, the information appears at once")
    width = zoom(view)
    expected = 150 * 100 / width
    moved = drag(view, 150)
    assert abs(moved - expected) <= 1, (moved, expected)
    step("without animations, a photo stops when it is released")
    session.end(session.window)
    screen.wait_gone(role="frame")

    # The same measurements with animations show that they find them. A machine that pauses draws no animation.
    view = open_photo(has_animations=True)

    def glides():
        # On a busy machine, the pointer may seem to rest before the release.
        screen.key("0")
        zoom(view)
        return drag(view, 150) > expected + 2

    before = processor_time()
    try:
        screen.until(lambda: len(places(view)) > 2, "an animation of the information")
        zoom(view)
        until(glides, "a movement after the release")
        step("with animations, the information slides and a photo glides")
    except AssertionError:
        withdrawn, total = (after - earlier for after, earlier in zip(processor_time(), before))
        if withdrawn < total * 0.03:
            raise
        step(f"no animation was seen, because the hypervisor withdrew {withdrawn * 100 // total} % of the processor time")


TESTS = [light, dark, contrast, large_text, motion]
# These differ from `light` in their colors only.
PICTURES = [dark, contrast]
