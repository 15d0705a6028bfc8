"""Tests with photos on this computer."""
import pathlib
import shutil
import subprocess
import time

from screen import Screen, open_samples
from session import LIMIT_SECONDS, SAMPLES, until


def users(start, step):
    session = start(photos=6)
    screen = Screen()
    session.start_window()
    screen.wait("The Image Feed service is not running and could not be started.")
    step("without the service, the window shows the reason")
    session.start_daemon()
    screen.press("Log in")
    step("the window recovers when the service starts")
    session.screenshot("welcome")
    screen.wait(starts="Photos on this computer")
    session.screenshot("providers")
    screen.activate(starts="Photos on this computer")
    screen.type("User name", "ada")
    session.screenshot("register")
    screen.press("Register a new user")
    screen.wait("Photo 000", "list item")
    step("a new user sees the photos")
    screen.press("Profile of ada")
    screen.press("Log out")
    screen.wait("Log out of ada?")
    session.screenshot("logout")
    screen.press_of_adwaita("Log out")
    until(lambda: "logged-out" in session.control("status"), "the logout")
    screen.wait("Log in to see photos from your disk and from services.")
    step("a user logs out after a confirmation")
    screen.press("Profile of ada")
    screen.press("Log in again")
    screen.wait("Log in: Photos on this computer")
    screen.press("Log in", last=True)
    until(lambda: "logged-out" not in session.control("status"), "the login")
    screen.wait_gone("Log in: Photos on this computer")
    screen.wait("Photo 000", "list item")
    step("the user logs in again")
    screen.press("Log in to another account")
    screen.activate(starts="Photos on this computer")
    screen.type("User name", "ada")
    screen.press("Register a new user")
    screen.wait(role="label", contains="already")
    step("a name that is taken is refused")
    session.screenshot("name-taken")
    screen.type("User name", "grace")
    screen.press("Log in", last=True)
    screen.wait(role="label", contains="no user")
    step("an unknown user is refused")
    screen.type("Password (may be empty)", "secret words")
    screen.press("Register a new user")
    until(lambda: "local_grace" in session.control("status"), "the second user")
    screen.wait_gone("Log in: Photos on this computer")
    session.control("logout", "local_grace", "--yes")
    screen.press("Log in to another account")
    screen.activate(starts="Photos on this computer")
    screen.wait("User name", "text")
    screen.type("User name", "grace")
    screen.type("Password (may be empty)", "other words")
    screen.press("Log in", last=True)
    screen.wait(role="label", contains="password")
    screen.until(lambda: any("wrong" in name.lower() or "not correct" in name.lower() or "incorrect" in name.lower()
                      for name in screen.names("label")), "the refusal of the password")
    step("a wrong password is refused")
    session.screenshot("wrong-password")
    screen.type("Password (may be empty)", "secret words")
    screen.press("Log in", last=True)
    screen.wait_gone("Log in: Photos on this computer")
    screen.press("Profile of grace")
    session.screenshot("profile")
    screen.type("Label", "Grace at home")
    screen.press("Delete user")
    screen.wait(starts="Delete the user")
    screen.press_of_adwaita("Delete")
    until(lambda: "local_grace" not in session.control("status"), "the deletion")
    step("a user with a password logs in and is deleted after a confirmation")


def grid(start, step):
    count = 250
    session = start(photos=count)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.wait("Photo 000", "list item")
    session.screenshot("grid")
    seen = set()
    deadline = time.monotonic() + LIMIT_SECONDS * 2
    while f"Photo {count - 1:03}" not in seen:
        seen |= set(screen.photos())
        if time.monotonic() > deadline:
            raise AssertionError(f"only {len(seen)} of {count} photos were seen")
        # One step of the wheel is less than the height of the grid.
        screen.mouse("mousemove", 700, 500, "click", "--repeat", 5, "--delay", 20, 5)
    assert len(seen) == count, sorted(seen)
    step(f"{count} photos scroll through the grid")
    assert len(screen.photos()) < 120
    step("only the visible photos have widgets")
    screen.press(f"Photo {count - 1:03}")
    screen.wait(f"Photo {count - 1:03}", "image")
    screen.press("Back to the photos")
    screen.until(lambda: any(widget.has("FOCUSED")
                             for widget in screen.all(f"Photo {count - 1:03}", "list item")),
                 "the focus of the photo that was open")
    screen.key("Home")
    screen.wait("Photo 000", "list item")
    step("the keyboard moves from the last photo to the first")
    screen.press(starts="Like ")
    screen.wait("Unlike Photo 000", "push button")
    screen.wait("Photo 000", contains="liked")
    screen.wait("Likes, 1 photo")
    assert "Photo" in session.control("likes")
    step("a like is confirmed and counted")
    screen.until(lambda: screen.click(screen.wait("Photo 001", "list item")), "the photo")
    screen.wait("Photo 001", "image")
    screen.press("Back to the photos")
    screen.wait("Photo 001", "list item")
    step("one click opens a photo")
    screen.key("l")
    screen.wait("Likes, 2 photos")
    screen.key("Right")
    screen.key("l")
    screen.wait("Likes, 3 photos")
    step("the key l likes the photo with the focus")
    screen.activate(starts="Likes")
    screen.wait_gone("Photo 005", "list item")
    session.screenshot("likes")
    screen.press(starts="Unlike ")
    screen.wait("Likes, 2 photos")
    until(lambda: session.control("likes").count("\n") == 2, "the end of a like")
    step("a photo is unliked among the likes")
    screen.activate(f"All photos, {count} photos")
    screen.wait("Photo 000", "list item")
    shutil.copy(SAMPLES[0], session.pictures / "Arrived.jpg")
    screen.wait("1 new photo")
    assert screen.wait(f"All photos, {count + 1} photos", "list item").has("FOCUSED")
    step("a changed count keeps the focus of its row")
    assert not screen.all("Arrived", "list item")
    screen.press("1 new photo")
    screen.wait("Arrived", "list item")
    step("a new photo is announced, and shown when the user wants")


def photo(start, step):
    session, screen = open_samples(start, 8)
    screen.press("Photo 000")
    view = screen.wait("Photo 000", "image")
    session.screenshot("photo")
    for action, expected in (("Zoom in", "Zoom 150 %"), ("Zoom out", "Zoom 100 %"), ("Rotate right", "rotation 90°"),
                             ("Rotate left", "rotation 0°")):
        screen.menu(action)
        screen.until(lambda: expected in view.get_description(), f"{expected} after {action}")
    step("a photo is zoomed and rotated by the menu")
    screen.key("plus")
    screen.until(lambda: "Zoom 125 %" in view.get_description(), "the zoom by key")
    screen.mouse("mousemove", 500, 400, "click", 4)
    screen.until(lambda: "Zoom 150 %" in view.get_description(), "the zoom by the wheel")
    before = view.get_description()
    screen.mouse("mousemove", 700, 500, "mousedown", 1, "mousemove", 640, 460, "mousemove", 560, 420, "mouseup", 1)
    screen.until(lambda: view.get_description() != before, "the movement")
    step("a photo is zoomed by key and wheel, and moved")
    screen.key("0")
    screen.key("r")
    screen.until(lambda: "rotation 90°" in view.get_description(), "the rotation by key")
    screen.key("R")
    screen.press("Information")
    screen.wait("Size", "label")
    session.screenshot("photo-information")
    screen.press("Next photo")
    screen.wait("Photo 001", "image")
    screen.press("Previous photo")
    screen.wait("Photo 000", "image")
    screen.key("End")
    screen.wait("Photo 007", "image")
    screen.key("Home")
    screen.wait("Photo 000", "image")
    step("the next, previous, first and last photo are shown")
    screen.until(lambda: screen.menu_opens() and screen.all("Use as avatar", "push button"), "the menu")
    for entry in "Download", "Copy link", "Open in browser", "Send by e-mail":
        assert not screen.all(entry, "push button"), entry
    step("a local photo has no actions for links and no download into its own folder")
    screen.menu("Use as avatar")
    screen.wait("The photo is the avatar of ada.")
    assert "avatar" in session.control("profile").lower()
    step("a photo becomes the avatar")
    screen.menu("Show in the slideshow")
    until(lambda: "Photo 000" in session.control("slideshow"), "the photo of the slideshow")
    screen.menu("Hide from the slideshow")
    until(lambda: "Photo 000" not in session.control("slideshow", "next") + session.control("slideshow"), "another photo")
    step("a photo is shown in the slideshow and hidden from it")

    def escape():
        # The first press may close the menu.
        screen.key("Escape")
        return screen.all("Photo 005", "list item")

    until(escape, "the photos")
    step("the key Escape returns to the photos")


def instances(start, step):
    session = start(photos=8)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.activate("org.imagefeed.Viewer", "imagefeed", "--gapplication-service")
    photo = session.control("feed", "--count", "3").splitlines()[2].split("\t")[0]
    title = "Photo 002"
    session.control("open", "--viewer", photo)
    screen.wait(title, "image")
    step("imagefeedctl open --viewer starts the window with the photo")
    owner = session.owner("org.imagefeed.Viewer")
    program = [str(session.programs / "imagefeed")]

    def invoke(*arguments):
        subprocess.run([*program, *arguments], env=session.environment, timeout=LIMIT_SECONDS, check=True)
        assert session.owner("org.imagefeed.Viewer") == owner

    screen.press("Back to the photos")
    screen.wait_gone(title, "image")
    invoke(photo)
    screen.wait(title, "image")
    step("an invocation with a photo shows it in the running window")
    invoke("local_ada")
    screen.wait("Photo 000", "list item")
    screen.wait_gone(title, "image")
    step("an invocation with an account shows its photos")
    invoke("local_bob")
    screen.wait("There is no account local_bob that is logged in.")
    step("an invocation with an unknown account shows the reason")
    invoke("--widget")
    screen.wait("Image Feed Slideshow", "frame")
    first = screen.until(lambda: slide(screen), "the photo of the slideshow")
    kind = subprocess.run(["xdotool", "search", "--name", "Image Feed Slideshow"], capture_output=True, text=True)
    kind = subprocess.run(["xprop", "-id", kind.stdout.split()[-1], "_NET_WM_WINDOW_TYPE"], capture_output=True, text=True)
    assert "_NET_WM_WINDOW_TYPE_DESKTOP" in kind.stdout, kind
    step("the window of the slideshow has the type of the desktop")
    # The buttons appear under the pointer.
    screen.mouse("mousemove", 200, 150, "mousemove", 205, 155)
    screen.press("Next photo")
    screen.until(lambda: slide(screen) not in (None, first), "the next photo of the slideshow")
    session.screenshot("slideshow")
    screen.press("Pause")
    screen.press("Continue")
    screen.wait("Pause", "push button")
    step("the slideshow shows the next photo and pauses")


def own_slideshow(start, step):
    session = start(photos=3)
    for number in range(3):
        subprocess.run(["convert", "-size", "300x900", "plasma:red-blue", "-seed", str(number),
                        str(session.pictures / f"Photo tall {number}.png")], check=True)
    session.start_daemon()
    session.log_in()
    until(lambda: session.control("feed").count("\n") == 6, "all photos")
    screen = Screen()
    session.start_window("--widget")
    screen.wait("Image Feed Slideshow", "frame")
    shared = screen.until(lambda: slide(screen), "the photo of the slideshow")
    assert not screen.all("Photos of every shape")
    program = [str(session.programs / "imagefeed"), "--widget=frame"]
    subprocess.run(program, env=session.environment, timeout=LIMIT_SECONDS, check=True)
    screen.wait("Image Feed Slideshow frame", "frame")

    def orientation(*options):
        lines = session.control("slideshow", *(options or ["--name", "frame"])).splitlines()
        return next(line.split("\t")[1] for line in lines if line.startswith("Orientation\t"))

    own = screen.until(lambda: slide(screen, " frame"), "the photo of the window's slideshow")
    assert orientation() == "landscape" and "tall" not in own, (orientation(), own)
    step("a window with a name shows a slideshow of its own, with photos of its shape")
    window = subprocess.run(["xdotool", "search", "--name", "Image Feed Slideshow frame"], capture_output=True, text=True,
                            check=True).stdout.split()[-1]
    screen.mouse("windowsize", window, 320, 500)
    until(lambda: orientation() == "portrait", "the orientation of the higher window")
    session.control("slideshow", "next", "--name", "frame")
    screen.until(lambda: "tall" in (slide(screen, " frame") or ""), "a photo of the window's shape")
    session.screenshot("slideshow-portrait")
    step("a window that becomes higher than wide shows such photos")
    assert slide(screen) == shared
    assert orientation("state") == "any"
    step("the slideshow that all widgets share is not changed")
    screen.mouse("mousemove", 160, 300, "mousemove", 165, 305)
    screen.press("Photos of every shape")
    until(lambda: orientation() == "any", "photos of every shape")
    screen.press("Close", last=True)
    screen.wait_gone("Image Feed Slideshow frame", "frame")
    subprocess.run(program, env=session.environment, timeout=LIMIT_SECONDS, check=True)
    screen.until(lambda: slide(screen, " frame"), "the photo after a restart")
    assert orientation() == "any"
    screen.mouse("mousemove", 150, 290, "mousemove", 155, 295)
    screen.press("Photos of every shape")
    until(lambda: orientation() == "portrait", "photos of the window's shape")
    step("the choice of every shape remains")


def layer_shell(start, step):
    session = start(photos=3)
    session.start_daemon()
    session.log_in()
    library = session.folder / "bin/libgtk4-layer-shell.so.0"
    log = session.folder / "layer-shell"
    stub = pathlib.Path(__file__).parent / "layer-shell-stub.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(stub)], check=True)
    state = session.folder / "state/imagefeed/slideshow-window"
    state.parent.mkdir()
    state.write_text("400 300 120 80\n")
    # GTK uses the X11 display; only the library finds a session of Wayland.
    session.environment.update(LD_LIBRARY_PATH=str(library.parent), LAYER_SHELL_LOG=str(log), WAYLAND_DISPLAY="none")
    screen = Screen()
    session.start_window("--widget")
    screen.wait("Image Feed Slideshow", "frame")
    calls = log.read_text().splitlines()
    assert calls == ["init 1", "namespace imagefeed-slideshow", "layer 1", "keyboard 2", "anchor 0 1", "anchor 2 1",
                     "margin 0 120", "margin 2 80"], calls
    environment = pathlib.Path(f"/proc/{session.window.pid}/maps").read_text()
    assert str(library) in environment
    step("with the library, the slideshow is a layer below the windows, at its stored position")
    screen.until(lambda: slide(screen), "the photo of the slideshow")
    screen.mouse("mousemove", 200, 120, "mousedown", 1, "mousemove", 230, 140, "mousemove", 260, 150, "mouseup", 1)
    until(lambda: len(log.read_text().splitlines()) > len(calls), "another position")
    step("the slideshow follows the pointer that drags it")


def slide(screen, name=""):
    """Returns the name of the photo in the window of a slideshow; None if there is none."""
    for frame in screen.all(f"Image Feed Slideshow{name}", "frame"):
        for widget in screen.descendants(frame):
            if widget.role == "image" and widget.name.startswith("Photo "):
                return widget.name
    return None


TESTS = [users, grid, photo, instances, own_slideshow, layer_shell]
