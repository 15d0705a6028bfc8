"""Measurements of the window. They depend on the machine and its load, and are no tests.

The renderer is that of cairo. Memory is the resident set of the process (`/proc/PID/smaps_rollup`), without accessibility.
"""
import collections
import os
import pathlib
import statistics
import subprocess
import time

from session import SAMPLES, until


def small_photos(session, count):
    """Writes photos that are decoded fast, so that the thumbnails of all of them exist before the measurement."""
    import gi
    gi.require_version("GdkPixbuf", "2.0")
    from gi.repository import GdkPixbuf
    images = []
    for number, sample in enumerate(SAMPLES):
        path = session.folder / f"tmp/{number}.jpg"
        GdkPixbuf.Pixbuf.new_from_file_at_size(str(sample), 640, 640).savev(str(path), "jpeg", [], [])
        images.append(path.read_bytes())
    now = time.time()
    for number in range(count):
        target = session.pictures / f"Photo {number:05}.jpg"
        target.write_bytes(images[number % len(images)] + str(number).encode())
        os.utime(target, (now - number * 60, now - number * 60))


def make_thumbnails(session):
    """Requests the thumbnail of each photo."""
    import gi
    gi.require_version("Gio", "2.0")
    from gi.repository import Gio, GLib
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    feed = ("org.imagefeed.ImageFeed1", "/org/imagefeed/ImageFeed1/combined", "org.imagefeed.ImageFeed1.Feed")
    cursor = ""
    while True:
        photos, cursor = bus.call_sync(
            *feed, "GetPage", GLib.Variant("(ssu)", ("", cursor, 100)), None, 0, 60000, None).unpack()
        for photo in photos:
            bus.call_sync(*feed, "GetImage", GLib.Variant("(ss)", (photo["id"], "small")), None, 0, 60000, None)
        if not cursor:
            return


def build_trace(session):
    """Compiles the library that measures the window."""
    library = session.folder / "bin/frame-trace.so"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "gtk4"], check=True, capture_output=True, text=True)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(pathlib.Path(__file__).parent / "frame-trace.c"),
                    *flags.stdout.split()], check=True)
    return library


def trace(process, word):
    """Returns the values after a word that the library prints."""
    for line in process.stdout:
        words = line.decode().split()
        if words[:2] == ["trace", word]:
            return words[2:]
    raise AssertionError(f"the window ended without {word}")


def memory(process):
    lines = pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    values = {line.split(":")[0]: int(line.split()[1]) // 1024 for line in lines[1:]}
    return f"RSS {values['Rss']} MiB, PSS {values['Pss']} MiB"


def switches(processes):
    """Returns the number of voluntary context switches by thread."""
    return {status: int(status.read_text().split("\nvoluntary_ctxt_switches:")[1].split()[0])
            for process in processes for status in pathlib.Path(f"/proc/{process}/task").glob("*/status")}


def idle(processes):
    """Returns the number of wakeups in 20 s by process, after the remaining work has ended.

    The daemon ends an unused helper after ten seconds, and removes a finished login after a minute."""
    time.sleep(65)
    before = switches(processes)
    time.sleep(20)
    wakeups = collections.Counter()
    for status, count in switches(processes).items():
        wakeups[status.parents[2].joinpath("comm").read_text().strip()] += count - before.get(status, 0)
    return ", ".join(f"{count} of {name}" for name, count in wakeups.items())


def figures(start, step, photos=1000, runs=7):
    session = start(photos=0)
    small_photos(session, photos)
    session.start_daemon()
    session.control("login", "local", "--username", "ada", "--register", "--no-password")
    until(lambda: f"{photos}" in session.control("sources"), "the photos")
    make_thumbnails(session)
    environment = session.environment
    # The accessibility bus would start with the first window.
    session.environment = {**environment, "GTK_A11Y": "none", "LD_PRELOAD": str(build_trace(session)), "FRAME_TRACE": "start"}
    times = []
    for _ in range(runs):
        begin = time.monotonic()
        window = session.start(session.programs / "imagefeed", stdout=subprocess.PIPE)
        times.append((float(trace(window, "thumbnails")[0]) - begin) * 1000)
        if len(times) < runs:
            session.end(window)
    step(f"start to the first thumbnails: median {statistics.median(times):.0f} ms, "
         f"{min(times):.0f} to {max(times):.0f} ms in {runs} starts")
    step(f"memory after the start: {memory(window)}")
    step(f"idle for 20 s: voluntary context switches: {idle([session.daemon.pid, window.pid])}")
    session.end(window)
    session.environment["FRAME_TRACE"] = "scroll"
    window = session.start(session.programs / "imagefeed", stdout=subprocess.PIPE)
    trace(window, "thumbnails")
    count, *histogram = trace(window, "frames")
    step(f"scrolling {photos} photos: {count} frames; up to ms:frames {' '.join(histogram)}")
    step(f"processor time of the main thread: up to ms:frames {' '.join(trace(window, 'processor')[1:])}")
    step(f"memory after scrolling {photos} photos: {memory(window)}")
    step(f"idle for 20 s after scrolling: voluntary context switches: {idle([session.daemon.pid, window.pid])}")
