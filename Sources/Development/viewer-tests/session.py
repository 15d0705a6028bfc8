"""A home, a bus, a display, a daemon and a window of one test."""
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import time

TOP = pathlib.Path(__file__).resolve().parents[3]
SAMPLES = sorted(path for path in (TOP / "dist/samples").rglob("*") if path.suffix in (".jpg", ".png"))
# A busy machine may need many times as long as a quiet one.
LIMIT_SECONDS = int(os.environ.get("LIMIT_SECONDS", 180))
PASSWORD = "open sesame"


def until(condition, subject, limit=LIMIT_SECONDS):
    """Returns the first true value of a condition."""
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{subject} was expected within {limit} s")
        time.sleep(0.1)


def free_port():
    """Returns a port below those that the kernel assigns, which the programs of other tests receive."""
    while True:
        port = random.randint(20_000, 31_999)
        with socket.socket() as listener:
            # Otherwise a connection that has ended would make the port look used.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


# The bus starts only the services of the test. In particular, there are no portals.
BUS = """<busconfig><type>session</type><listen>unix:path={folder}/run/bus</listen><auth>EXTERNAL</auth>
<servicedir>{folder}/services</servicedir>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"""

# A browser whose user approves each login.
BROWSER = """#!/usr/bin/python3
import sys, urllib.parse, urllib.request
class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments): return None
opener = urllib.request.build_opener(NoRedirect)
address, _, query = sys.argv[1].partition("?")
decision = open({decision!r}).read().strip()
if decision != "none":
    form = query + "&" + urllib.parse.urlencode({{"username": "ada", "decision": decision}})
    try: opener.open(address, form.encode())
    except urllib.error.HTTPError as reply:
        if reply.headers["Location"].startswith("http"): urllib.request.urlopen(reply.headers["Location"])
        else: open({code!r}, "w").write(reply.headers["Location"])
"""


class Session:
    def __init__(self, programs, folder, screenshots=None, photos=12, configuration="", width=1400, height=1000):
        self.programs = programs
        self.folder = folder
        self.screenshots = screenshots
        self.processes = []
        self.daemon = self.window = self.services = None
        self.pictures = folder / "home/Pictures"
        self.environment = {
            "PATH": f"{folder}/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(folder / "home"), "USER": "ada",
            "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state"),
            "XDG_RUNTIME_DIR": str(folder / "run"), "TMPDIR": str(folder / "tmp"),
            # The same rendering everywhere, without a graphics card.
            "GSK_RENDERER": "cairo", "GDK_BACKEND": "x11", "GTK_A11Y": "atspi", "GTK_USE_PORTAL": "0",
            "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "0",
        }
        for name in ("home/Pictures", "config/imagefeed", "config/gtk-4.0", "data", "cache", "state", "run", "tmp", "bin",
                     "services"):
            (folder / name).mkdir(parents=True)
        (folder / "run").chmod(0o700)
        icons = folder / "data/icons/hicolor/symbolic/apps"
        icons.mkdir(parents=True)
        shutil.copy(TOP / "dist/icons/org.imagefeed.Viewer.like-symbolic.svg", icons)
        (icons.parent.parent / "scalable/apps").mkdir(parents=True)
        shutil.copy(TOP / "dist/icons/org.imagefeed.ImageFeed1.svg", icons.parent.parent / "scalable/apps/org.imagefeed.Viewer.svg")
        self.configure_toolkit()
        self.add_photos(photos)
        self.configure(configuration)
        self.start_bus()
        self.start_display(width, height)
        # The library of the accessibility interface connects to the bus of this process.
        os.environ.clear()
        os.environ.update(self.environment)

    def configure(self, text):
        (self.folder / "config/imagefeed/imagefeed.conf").write_text(text)

    def configure_toolkit(self, settings=""):
        """Writes the settings of GTK for windows that start later."""
        # On a busy machine, the clicks of a double click are farther apart than the 400 ms of GTK.
        (self.folder / "config/gtk-4.0/settings.ini").write_text(
            f"[Settings]\ngtk-double-click-time=1500\ngtk-enable-animations=1\n{settings}")

    def add_photos(self, count):
        now = time.time()
        for number in range(count):
            source = SAMPLES[number % len(SAMPLES)]
            target = self.pictures / f"Photo {number:03}{source.suffix}"
            # A comment after the end of the image makes each file different.
            target.write_bytes(source.read_bytes() + str(number).encode())
            os.utime(target, (now - number * 3600, now - number * 3600))

    # Processes

    def start(self, *command, **options):
        log = open(self.folder / f"{pathlib.Path(command[0]).name}.log", "ab")
        options = {"stdout": log, "stderr": log, "stdin": subprocess.DEVNULL, **options}
        process = subprocess.Popen([str(part) for part in command], env=self.environment, **options)
        self.processes.append(process)
        return process

    def start_bus(self):
        shutil.copy("/usr/share/dbus-1/services/org.a11y.Bus.service", self.folder / "services")
        (self.folder / "bus.conf").write_text(BUS.format(folder=self.folder))
        bus = self.start("dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork", "--nopidfile",
                         "--print-address=1", stdout=subprocess.PIPE)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().decode().strip()

    def start_display(self, width, height):
        reading, writing = os.pipe()
        # By default, the display closes and forgets its properties when its last client leaves, and refuses clients
        # meanwhile.
        self.start("Xvfb", "-displayfd", writing, "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset",
                   pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading) as pipe:
            self.environment["DISPLAY"] = ":" + pipe.readline().strip()

    def activate(self, name, program, *arguments):
        """Lets the bus start a program for a name."""
        words = " ".join([str(self.programs / program), *arguments])
        # The bus started before the display.
        environment = " ".join(f"{key}={value}" for key, value in self.environment.items())
        (self.folder / f"services/{name}.service").write_text(
            f"[D-BUS Service]\nName={name}\nExec=/usr/bin/env {environment} {words}\n")
        subprocess.run(["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
                        "org.freedesktop.DBus.ReloadConfig"], env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def start_daemon(self):
        self.daemon = self.start(self.programs / "imagefeedd")
        until(lambda: self.owns("org.imagefeed.ImageFeed1"), "the daemon")

    def owns(self, name):
        return self.owner(name) is not None

    def owner(self, name):
        """Returns the process that owns a name of the bus."""
        reply = subprocess.run(
            ["dbus-send", "--session", "--print-reply=literal", "--dest=org.freedesktop.DBus", "/",
             "org.freedesktop.DBus.GetConnectionUnixProcessID", f"string:{name}"],
            env=self.environment, capture_output=True, text=True)
        return int(reply.stdout.split()[-1]) if reply.returncode == 0 else None

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.processes.remove(process)

    def start_window(self, *arguments):
        self.window = self.start(self.programs / "imagefeed", *arguments)

    def control(self, *arguments, check=True, text=None):
        result = subprocess.run(
            [str(self.programs / "imagefeedctl"), *arguments], env=self.environment,
            input=text or "", capture_output=True, text=True, timeout=LIMIT_SECONDS)
        if check and result.returncode:
            raise AssertionError(f"imagefeedctl {' '.join(arguments)}: {result.stderr}")
        return result.stdout

    def log_in(self, user="ada"):
        """Registers a local user."""
        self.control("login", "local", "--username", user, "--register", "--no-password")
        until(lambda: self.control("feed", check=False).count("\n") >= min(3, len(list(self.pictures.iterdir()))),
              "the photos")

    def log_in_to_unsplash(self):
        """Configures the simulated service and logs in without the window."""
        settings = self.services.settings["unsplash"]
        (self.folder / "secret").write_text(settings["secret"])
        self.control("configure", "unsplash", "--client-id", settings["id"], "--client-secret-file",
                     str(self.folder / "secret"))
        self.control("login", "unsplash")

    def end(self, process):
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self.processes.remove(process)

    def close(self):
        # Programs that the bus started end here, because the bus does not wait for them.
        for name in ("org.imagefeed.Viewer", "org.imagefeed.ImageFeed1", "org.freedesktop.secrets"):
            process = self.owner(name)
            if process and process not in [known.pid for known in self.processes]:
                os.kill(process, signal.SIGTERM)
        for process in reversed(list(self.processes)):
            self.end(process)

    # Services

    def start_services(self):
        """Starts the simulated services, a keyring and a browser, and writes the configuration."""
        port, mastodon_port = free_port(), free_port()
        process = self.start(self.programs / "simulated-services", f"http://127.0.0.1:{port}/callback",
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.services = Services(process)
        unsplash, mastodon = self.services.settings["unsplash"], self.services.settings["mastodon"]
        self.configure(
            f"[Provider unsplash]\nApiUrl={unsplash['api']}\nWebUrl={unsplash['web']}\nRedirectPort={port}\n"
            f"[Provider mastodon]\nLoopbackServers={mastodon['name']}={mastodon['url']}\nRedirectPort={mastodon_port}\n"
            f"[Provider daily]\nApiUrl={self.services.settings['daily']['api']}\n")
        browser = self.folder / "bin/xdg-open"
        self.decide("approve")
        browser.write_text(BROWSER.format(decision=str(self.folder / "decision"), code=str(self.folder / "code")))
        browser.chmod(0o755)
        keyring = self.start("/usr/bin/gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets",
                             stdin=subprocess.PIPE)
        keyring.stdin.write(PASSWORD.encode())
        keyring.stdin.close()
        until(lambda: self.owns("org.freedesktop.secrets"), "the keyring")

    def decide(self, decision):
        """Sets the decision of the user in the browser: approve, deny, or none."""
        (self.folder / "decision").write_text(decision)

    def keyring(self, is_locked):
        from gi.repository import Gio, GLib
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)

        def call(interface, method, parameters):
            return bus.call_sync("org.freedesktop.secrets", "/org/freedesktop/secrets", interface, method, parameters,
                                 None, 0, LIMIT_SECONDS * 1000, None)

        collection = "/org/freedesktop/secrets/collection/login"
        if is_locked:
            return call("org.freedesktop.Secret.Service", "Lock", GLib.Variant("(ao)", ([collection],)))
        session = call("org.freedesktop.Secret.Service", "OpenSession",
                       GLib.Variant("(sv)", ("plain", GLib.Variant("s", "")))).unpack()[1]
        # Source: gnome-keyring, org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface.
        return call("org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface", "UnlockWithMasterPassword",
                    GLib.Variant("(o(oayays))", (collection, (session, b"", PASSWORD.encode(), "text/plain"))))

    # Pictures

    def screenshot(self, name):
        if self.screenshots:
            time.sleep(1)  # The animations end.
            subprocess.run(["import", "-window", "root", str(self.screenshots / f"{name}.png")],
                           env=self.environment, check=True)


class Services:
    """The simulated services."""

    def __init__(self, process):
        self.process = process
        self.settings = json.loads(process.stdout.readline())

    def __call__(self, command):
        """Sends a command and returns its value."""
        self.process.stdin.write(f"{command}\n".encode())
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode().strip()
        if not answer.startswith("ok"):
            raise AssertionError(answer)
        return answer[3:]
