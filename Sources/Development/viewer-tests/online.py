"""Tests with simulated services, and of the recovery from failures."""
import json
import os
import re
import signal

from screen import Screen, open_samples, open_unsplash
from session import until

LOST = "The connection to the service was lost. It is being restored."


def recovery(start, step):
    session, screen = open_samples(start, 8)
    screen.press("Photo 000")
    screen.wait("Photo 000", "image")
    session.end(session.daemon)
    screen.press("Next photo")
    screen.wait("Photo 001", "image")
    screen.press("Like", last=True)
    # The last buttons are those of the message: to try again, and to close it. The photo may also have one to try again.
    screen.until(lambda: any(name.startswith("Try again") for name in screen.names("push button")[-2:]),
                 "the button of the message")
    step("a failed like offers to try again")
    session.screenshot("failed-like")
    session.start_daemon()
    until(lambda: "local_ada" in session.control("status"), "the daemon")
    screen.press_of_adwaita("Try again")
    until(lambda: session.control("likes").count("\n") == 1, "the like")
    step("the failed like succeeds after the restart of the service")
    screen.press("Back to the photos")
    session.end(session.daemon)
    screen.wait(contains="daemon cannot be reached")
    screen.wait("Try again", "push button")
    step("without the service, the photos stay and a button tries again")
    session.screenshot("service-lost")
    session.activate("org.imagefeed.ImageFeed1", "imagefeedd")
    # The window also tries again by itself, so that the button may be gone.
    for button in screen.all("Try again", "push button"):
        button.act()
    screen.wait_gone(contains="daemon cannot be reached")
    # The daemon starts, and the sentence about the lost connection is shown until it answers.
    until(lambda: session.owner("org.imagefeed.ImageFeed1"), "the daemon")
    screen.wait_gone(LOST)
    step("the window recovers when the service can be started again")
    old = session.owner("org.imagefeed.ImageFeed1")
    os.kill(old, signal.SIGKILL)
    until(lambda: session.owner("org.imagefeed.ImageFeed1") not in (None, old), "another process of the daemon")
    screen.wait_gone(LOST)
    screen.press(starts="Unlike ")
    until(lambda: session.control("likes").count("\n") == 0, "the end of the like")
    step("after the daemon was killed, the window starts it and works again")


def unsplash(start, step):
    session = start(photos=0, services=True)
    services = session.services
    session.start_daemon()
    screen = Screen()
    session.start_window()
    screen.press("Log in")
    screen.activate(starts="Unsplash")
    screen.type("Client ID", services.settings["unsplash"]["id"])
    screen.type("Client secret", services.settings["unsplash"]["secret"])
    session.screenshot("configure")
    session.decide("deny")
    screen.press("Save")
    screen.wait(role="label", contains="refused in the browser")
    step("a provider is set up, and a denied login shows the reason")
    session.screenshot("login-denied")
    session.decide("none")
    screen.press("Log in", last=True)
    screen.wait("Continue in the browser.")
    session.screenshot("login-browser")
    screen.press("Cancel", last=True)
    screen.wait_gone("Continue in the browser.")
    until(lambda: "unsplash_ada" not in session.control("status"), "the status")
    step("a login is cancelled while the browser is open")
    session.decide("approve")
    screen.press("Log in")
    screen.activate(starts="Unsplash")
    screen.wait("Profile of ada", "push button")
    first = until(lambda: photo(screen), "the photos of the service")
    step("a login with the browser shows the photos of the service")
    session.screenshot("unsplash")

    services("fail unsplash refuse 1 POST /photos/*/like")
    screen.press(starts="Like ")
    screen.press_of_adwaita("Try again")
    until(lambda: services("likes unsplash") == "1", "the like at the service")
    screen.wait(starts="Unlike ", role="push button")
    step("a refused like offers to try again, and succeeds")

    screen.press(first)
    screen.press("Back to the photos")
    until(lambda: photo(screen), "the photos")
    screen.press(first)
    screen.wait("Back to the photos", "push button")
    services("fail unsplash slow 0 GET /photo-*")
    before = set(session.pictures.iterdir())
    screen.press("Download")
    screen.wait(starts="Downloading ")
    session.screenshot("downloading")
    assert set(session.pictures.iterdir()) == before
    step("an incomplete download has no name")
    screen.press("Cancel", last=True)
    screen.wait("The download was cancelled.")
    assert set(session.pictures.iterdir()) == before
    step("a download is cancelled and leaves no file")
    services("recover unsplash GET /photo-*")
    screen.menu("Copy link")
    screen.wait("The link was copied.")
    step("the link of a photo is copied")
    screen.press("Back to the photos")

    services("fail unsplash limit 0 GET /photos")
    session.control("refresh", check=False)
    screen.wait(contains="limits requests")
    step("a rate limit has its sentence")
    session.screenshot("rate-limited")
    services("recover unsplash GET /photos")
    services("advance unsplash")


def states(start, step):
    session, screen = open_unsplash(start)
    services = session.services
    until(lambda: photo(screen), "the photos of the service")

    services("stop unsplash")
    session.control("refresh", check=False)
    banner = until(lambda: state(session), "another state of the account")
    screen.wait(contains=banner[:40])
    step("an unreachable service has its sentence")
    session.screenshot("offline")
    services("resume unsplash")
    screen.press("Try again")
    until(lambda: not state(session), "the recovery")
    screen.wait_gone(contains=banner[:40])
    step("the button tries again, and the window recovers")

    services("revoke unsplash")
    session.control("refresh", check=False)
    screen.wait("Log in again", "push button")
    session.screenshot("expired")
    step("an expired login has its sentence and its button")
    screen.press("Log in again")
    until(lambda: not state(session), "the login")
    screen.wait_gone("Log in again", "push button")
    until(lambda: photo(screen), "the photos of the service")
    step("the button logs in with the browser")

    session.keyring(is_locked=True)
    session.end(session.daemon)
    session.start_daemon()
    session.control("refresh", check=False)
    screen.wait("Unlock", "push button")
    assert photo(screen)
    step("a locked keyring has its sentence and its button, and the photos stay")
    session.screenshot("locked")
    # Without a program for prompts, the remedy cannot unlock it.
    session.keyring(is_locked=False)
    screen.wait_gone("Unlock", "push button")
    until(lambda: not state(session), "the recovery")
    step("the window recovers by itself after the keyring was unlocked")


def servers(start, step):
    session = start(photos=0, services=True)
    session.start_daemon()
    screen = Screen()
    session.start_window()
    screen.press("Log in")
    screen.activate(starts="Mastodon")
    screen.type("Server", "unknown.test")
    screen.press("Log in", last=True)
    until(lambda: screen.all(role="label", contains="unknown.test"), "the reason")
    step("an unknown server is refused with a reason")
    session.screenshot("unknown-server")
    screen.type("Server", "photos.test")
    screen.press("Log in", last=True)
    screen.wait_gone("Server", "text")
    until(lambda: "mastodon_ada" in session.control("status"), "the account")
    screen.wait("Profile of ada", "push button")
    step("a login with the name of a server and the browser succeeds")
    session.screenshot("mastodon")
    screen.press("Log in to another account")
    screen.activate(starts="Immich")
    screen.type("Server", session.services.settings["immich"]["url"])
    screen.type("Key or password", "wrong")
    screen.press("Log in", last=True)
    screen.wait("Immich does not accept the key.")
    step("a wrong key is refused")
    screen.type("Key or password", session.services.settings["immich"]["key"])
    screen.press("Log in", last=True)
    until(lambda: "immich_ada" in session.control("status"), "the account")
    screen.wait_gone("Key or password")
    step("a login with a key succeeds")
    session.screenshot("two-accounts")


def photo(screen):
    """Returns the title and author of a photo in the grid; None if there is none."""
    for name in screen.names("list item"):
        if ", by " in name:
            return re.sub(r", \d{1,2} \w+ \d{4}(, .*)?$", "", name)
    return None


def state(session):
    """Returns the reason of the state of the first account; empty if it is ready."""
    accounts = json.loads(session.control("accounts", "--json"))
    return accounts[0].get("StateReason", "") if accounts else ""


TESTS = [recovery, unsplash, states, servers]
