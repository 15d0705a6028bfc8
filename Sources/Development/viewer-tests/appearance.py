"""Tests of the window in other colors, widths and text sizes. With --screenshots, they write a picture of each screen."""
import subprocess

from screen import Screen
from session import until

NARROW = 360


def resize(screen, width, height):
    """Resizes the main window, and returns its width."""
    window = subprocess.run(["xdotool", "search", "--name", "^Image Feed$"], capture_output=True, text=True, check=True)
    screen.mouse("windowsize", window.stdout.split()[-1], width, height)
    frame = screen.wait("Image Feed", "frame")

    def area():
        return screen.atspi.Component.get_extents(frame, screen.atspi.CoordType.WINDOW)

    until(lambda: abs(area().width - width) <= 60, f"the width {width} of the window")
    return area().width


def screens(session, screen, name):
    """Visits the screens of a window that is one column wide."""
    session.screenshot(f"{name}-feed")
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    session.screenshot(f"{name}-photo")
    screen.menu("Information")
    screen.wait("Size", "label")
    session.screenshot(f"{name}-information")
    screen.key("Escape")
    screen.wait("Photo 001", "push button")


def appearance(start, step):
    session = start(photos=12)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    for name, settings in (("light", {}), ("dark", {"ADW_DEBUG_COLOR_SCHEME": "prefer-dark"}),
                           ("contrast", {"ADW_DEBUG_HIGH_CONTRAST": "1"}), ("large-text", {})):
        if name == "large-text":
            # Twice the usual size of 11 points.
            folder = session.folder / "config/gtk-4.0"
            folder.mkdir()
            (folder / "settings.ini").write_text("[Settings]\ngtk-font-name=Sans 22\n")
        ordinary = session.environment
        session.environment = {**ordinary, **settings}
        session.start_window()
        screen.wait("Photo 000", "push button")
        screens(session, screen, f"wide-{name}")
        resize(screen, NARROW, 640)
        screens(session, screen, f"narrow-{name}")
        screen.press("Back to the sources")
        screen.press("Profile of ada")
        screen.wait("Log out", "push button")
        session.screenshot(f"narrow-{name}-profile")
        assert resize(screen, NARROW, 640) <= NARROW + 60
        step(f"all screens fit into {NARROW} pixels: {name}")
        session.end(session.window)
        session.environment = ordinary
        screen.wait_gone(role="frame")


def motion(start, step):
    session = start(photos=3)
    folder = session.folder / "config/gtk-4.0"
    folder.mkdir()
    (folder / "settings.ini").write_text("[Settings]\ngtk-enable-animations=false\n")
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.press("Photo 000")
    view = screen.wait("Photo 000", "image")
    for _ in range(4):
        screen.key("plus")
    until(lambda: "Zoom 244 %" in view.get_description(), "the zoom")
    screen.mouse("mousemove", 700, 500, "mousedown", 1, "mousemove", 690, 500, "mousemove", 670, 500, "mouseup", 1)
    until(lambda: "position 50 % from left" not in view.get_description(), "the movement")
    before = view.get_description()
    screen.wait("Download", "push button")
    assert view.get_description() == before, (before, view.get_description())
    step("without animations, a photo stops when it is released")


TESTS = [appearance, motion]
