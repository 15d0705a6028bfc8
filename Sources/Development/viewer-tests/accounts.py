"""Tests of logins, logouts, removals and the states of accounts, with simulated services."""
import json
import pathlib
import subprocess

from online import photo
from screen import Screen, open_unsplash
from session import PASSWORD, until

NETWORK_LOST = "There is no network connection. New photos appear when it is back."


def account(session, name):
    """Returns the properties of an account; None if there is none."""
    accounts = json.loads(session.control("accounts", "--json"))
    return next((account for account in accounts if account["Id"] == name), None)


def paste(screen, name):
    """Replaces the text of a field by the clipboard, and returns it."""
    field = screen.all(name, "text")[-1]

    def text():
        return field.text()

    screen.type(name, "")
    if screen.click(field):
        screen.mouse("key", "ctrl+v")
        try:
            return until(text, "the text", limit=2)
        except AssertionError:
            pass
    return ""


def prompts():
    """Returns the windows of the program for prompts."""
    return subprocess.run(["xdotool", "search", "--onlyvisible", "--class", "prompter"],
                          capture_output=True, text=True).stdout


def answer(screen, password=None):
    """Types a password into the prompt, or cancels it. Returns false if the prompt has not received it yet."""
    if password:
        screen.mouse("type", "--delay", 60, password)
    screen.mouse("key", "Return" if password else "Escape")
    try:
        return until(lambda: not prompts(), "the end of the prompt", limit=15)
    except AssertionError:
        return False


def logout(start, step):
    session, screen = open_unsplash(start, 3)
    services = session.services
    until(lambda: photo(screen), "the photos of the service")

    services("stop unsplash")
    for count in (1, 2):
        screen.press(starts="Like ")
        screen.wait(contains=f"{count} not confirmed")
        screen.press("Profile of ada")
        screen.menu("Log out…")
        sentence = f"{count} likes that were not sent yet are lost." if count > 1 \
            else "One like that was not sent yet is lost."
        screen.wait(role="label", contains=sentence)
        session.screenshot(f"logout-{count}")
        if count == 1:
            screen.press_of_adwaita("Cancel")
            screen.wait_gone(role="label", contains=sentence)
            screen.activate(starts="Editorial")
            until(lambda: photo(screen), "the photos of the service")
    step("the question before a logout counts the likes that were not sent")
    screen.press_of_adwaita("Log out")
    until(lambda: account(session, "unsplash_ada")["State"] == "logged-out", "the logout")
    screen.wait("Logged out", "label")
    screen.wait_gone(starts="Likes", role="list item")
    step("the account is logged out while its service cannot be reached, and remains in the list")
    session.screenshot("logged-out")
    services("resume unsplash")
    screen.press("Profile of ada")
    screen.press("Log in again")
    until(lambda: photo(screen), "the photos of the service")
    screen.wait(starts="Likes, 0 photos", role="list item")
    assert services("likes unsplash") == "0"
    step("a new login shows the photos again, and the likes are lost as stated")

    session.log_in("bob")
    screen.wait("Profile of bob", "push button")
    screen.wait("Editorial", "list item")
    screen.press("Profile of ada")
    screen.menu("Remove account…")
    screen.wait(role="label", contains="Photos and likes at Unsplash are not touched.")
    session.screenshot("removal")
    screen.press_of_adwaita("Remove")
    screen.wait_gone("Profile of ada", "push button")
    screen.wait_gone("Editorial", "list item")
    assert account(session, "unsplash_ada") is None
    screen.wait("Photo 000", "list item")
    until(lambda: not photo(screen), "the end of the photos of the removed account")
    screen.wait("Profile of bob", "push button")
    step("a removed account leaves the list with its sources, and the other account remains")
    session.screenshot("removed")


def passwords(start, step):
    session = start(photos=0, services=True)
    services = session.services
    session.start_daemon()
    screen = Screen()
    session.start_window()
    screen.press("Log in")
    screen.activate(starts="Immich")
    screen.type("Server", "photos.test")
    screen.wait(role="label", contains="The address of your server")
    assert not screen.all(role="label", contains="without encryption")
    screen.type("Server", services.settings["immich"]["url"])
    screen.wait(role="label", contains="Your key or password and your photos are sent to this server without encryption.")
    step("the form of a login says that a server with http is not encrypted")
    session.screenshot("immich")
    screen.type("User name", "ada@photos.test")
    screen.type("Key or password", "wrong")
    screen.press("Log in", last=True)
    screen.wait(role="label", contains="does not accept the email address or the password")
    step("a wrong password is refused with a reason")
    session.screenshot("immich-refused")
    screen.type("Key or password", "password of ada")
    screen.press("Log in", last=True)
    screen.wait("Profile of ada@photos.test", "push button")
    assert services("sessions immich") == "1"
    step("a login with a user name and a password succeeds")
    screen.press("Profile of ada@photos.test")
    screen.wait("Label", "text")
    session.screenshot("immich-profile")
    screen.menu("Log out…")
    screen.press_of_adwaita("Log out")
    until(lambda: services("sessions immich") == "0", "the end of the session at the server")
    screen.wait("Logged out", "label")
    step("a logout ends the session at the server")
    screen.press("Profile of ada@photos.test")
    screen.press("Log in again")
    screen.type("User name", "ada@photos.test")
    screen.type("Key or password", "password of ada")
    screen.press("Log in", last=True)
    until(lambda: services("sessions immich") == "1", "the session at the server")
    screen.wait_gone("Key or password")
    step("a known account logs in again with a user name and a password")

    screen.press("Log in to another account")
    screen.wait("Services", "list")
    session.screenshot("services")
    screen.activate(starts="Picture of the day")
    screen.wait("Profile of commons", "push button")
    step("a service without users needs no form")


def nextcloud(start, step):
    session = start(photos=0, services=True)
    services = session.services
    session.decide("none")
    session.start_daemon()
    screen = Screen()
    session.start_window()
    for attempt in ("cancelled", "confirmed"):
        screen.press("Log in")
        screen.activate(starts="Nextcloud")
        screen.wait("Server", "text")
        if attempt == "confirmed":
            until(lambda: paste(screen, "Server") == address, "the copied address")
        screen.type("Server", services.settings["nextcloud"]["url"])
        screen.press("Log in", last=True)
        screen.wait("Continue in the browser.")
        screen.until(lambda: [screen.click(widget) for widget in screen.all("Trouble with the browser?", "label")], "the help")
        address = screen.wait(role="label", contains="/index.php/login/v2/flow/").name
        assert not screen.all("Code or address")
        session.screenshot(f"nextcloud-{attempt}")
        if attempt == "cancelled":
            screen.press("Copy the address")
            screen.wait("The address was copied. Open it in a browser.")
            screen.press("Cancel", last=True)
            screen.wait_gone("Copy the address")
    step("a login without a redirect shows its address, which can be copied, and no field for a code")
    services(f"confirm nextcloud {address}")
    screen.wait_gone("Copy the address")
    screen.wait("Profile of ada", "push button")
    assert services("passwords nextcloud") == "1"
    step("the login succeeds after the user confirmed it in the browser")
    session.screenshot("nextcloud")


def limits(start, step):
    session, screen = open_unsplash(start)
    services = session.services
    until(lambda: photo(screen), "the photos of the service")
    screen.wait(starts="Nature", role="list item")
    services("fail unsplash limit:40 1 GET /photos")
    session.control("refresh", check=False)
    screen.wait(role="label", contains="limits requests until")
    assert not screen.all("Try again", "push button")
    assert photo(screen)
    step("a rate limit has its sentence with a time, and the photos stay")
    session.screenshot("limit")
    screen.activate(starts="Nature")
    screen.wait("Too many requests", "label")
    screen.wait(role="label", contains="limits requests until")
    assert not screen.all("Try again", "push button")
    session.screenshot("limit-empty")
    screen.wait_gone("Too many requests", "label")
    until(lambda: photo(screen), "the photos of the source")
    screen.wait_gone(role="label", contains="limits requests until")
    step("the window recovers by itself when the limit ends, also without photos")


def network(start, step):
    session = start(photos=3, services=True)
    services = session.services
    session.environment["DBUS_SYSTEM_BUS_ADDRESS"] = session.environment["DBUS_SESSION_BUS_ADDRESS"]
    manager = session.start("/usr/bin/python3", pathlib.Path(__file__).with_name("network-manager.py"),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert manager.stdout.readline() == b"ok\n"

    def change(state):
        manager.stdin.write(f"{state}\n".encode())
        manager.stdin.flush()
        assert manager.stdout.readline() == b"ok\n"

    session.start_daemon()
    session.log_in_to_unsplash()
    session.log_in("bob")
    screen = Screen()
    session.start_window()
    until(lambda: photo(screen), "the photos of the service")
    screen.wait(starts="Nature", role="list item")
    change("offline")
    screen.wait(NETWORK_LOST, "label")
    assert photo(screen)
    step("without a network, the window says so, and the photos stay")
    session.screenshot("network-lost")
    services("stop unsplash")
    screen.activate(starts="Nature")
    screen.wait("Offline", "label")
    session.screenshot("network-lost-empty")
    screen.wait(NETWORK_LOST, "label")
    step("a source without photos has its reason")
    screen.activate(starts="Photos" if screen.all("Photos", "list item") else "All photos, 3 photos")
    screen.wait_gone(NETWORK_LOST, "label")
    step("photos on the disk need no network")
    screen.activate(starts="Nature")
    screen.wait(NETWORK_LOST, "label")
    services("resume unsplash")
    change("online")
    screen.wait_gone(NETWORK_LOST, "label")
    until(lambda: photo(screen), "the photos of the source")
    screen.wait_gone("Offline", "label")
    step("the window recovers by itself when the network is back")


def keyring(start, step):
    session = start(photos=0, services=True)
    name = "org.gnome.keyring.SystemPrompter"
    service = pathlib.Path(f"/usr/share/dbus-1/services/{name}.service").read_text()
    program = next(line[5:] for line in service.splitlines() if line.startswith("Exec="))
    # The accessibility library of this process may block when another program leaves its bus.
    session.activate(name, "/usr/bin/env", "NO_AT_BRIDGE=1", program)
    session.start_daemon()
    session.log_in_to_unsplash()
    screen = Screen()
    session.start_window()
    until(lambda: photo(screen), "the photos of the service")
    session.keyring(is_locked=True)
    session.end(session.daemon)
    session.start_daemon()
    screen.wait("Unlock", "push button")
    assert photo(screen)
    session.screenshot("locked")
    screen.press("Unlock")
    until(lambda: prompts(), "the prompt of the keyring")
    session.screenshot("prompt")
    until(lambda: answer(screen), "the end of the prompt")
    screen.wait(role="label", contains="its prompt was dismissed")
    session.screenshot("prompt-cancelled")
    screen.wait("Unlock", "push button")
    step("a cancelled prompt changes nothing")
    screen.press("Unlock")
    until(lambda: prompts(), "the prompt of the keyring")
    until(lambda: answer(screen, PASSWORD), "the end of the prompt")
    screen.wait_gone("Unlock", "push button")
    until(lambda: account(session, "unsplash_ada")["State"] == "ready", "the recovery")
    step("the button unlocks the keyring with the prompt of the desktop, and the window recovers")


def permission(start, step):
    session, screen = open_unsplash(start)
    services = session.services
    until(lambda: photo(screen), "the photos of the service")
    services("fail unsplash deny 0 POST /photos/*/like")
    screen.press(starts="Like ")
    screen.wait(role="label", contains="The service does not allow likes to ada; they stay on this computer.")
    session.screenshot("permission")
    step("the first like without the permission of the service says that it stays on this computer")
    reason = "enable the application's permissions at Unsplash, then log in again"
    assert reason in session.control("status")
    screen.press("Profile of ada")
    screen.wait(role="label", contains=reason)
    screen.wait("1 photo", "label")
    session.screenshot("permission-profile")
    step("the profile and the state of the account say so")
    services("recover unsplash POST /photos/*/like")
    screen.menu("Log in again…")
    until(lambda: services("likes unsplash") == "1", "the like at the service")
    screen.press("Profile of ada")
    screen.wait_gone(role="label", contains=reason)
    assert reason not in session.control("status")
    step("after the permission and a login, the like is sent")


TESTS = [permission, logout, passwords, nextcloud, limits, network, keyring]
