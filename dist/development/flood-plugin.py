#!/usr/bin/env python3
"""A plugin that floods the daemon and stays within the limits of plugins, for tests and the benchmark.

    flood-plugin.py KIND

Each call of "page" starts a flood of KIND, see FLOODS, and is answered when the flood ends; for the kinds in ANSWERS, the
answer is the flood, and the client has to call again. The settings "Seconds" and "Servers" are the duration and the
origins of the servers that requests go to, separated by blanks.
"""

import ctypes
import fcntl
import json
import os
import sys
import threading
import time

lock = threading.Lock()
settings = {}


def write(line):
    with lock:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def notify(method, **params):
    send(method=method, params=params)


def request(number, account, path):
    servers = settings["Servers"].split()
    url = servers[number % len(servers)] + path
    send(id=f"http{number}", method="http", params={"account": account, "url": url})


def repeat(end, pause, body):
    number = 0
    while time.monotonic() < end:
        body(number)
        number += 1
        time.sleep(pause)


def log(account, end):
    """Log messages of 8 MiB, fewer than four a second."""
    line = '{"jsonrpc":"2.0","method":"log","params":{"message":"' + "flood " * 1_390_000 + '"}}'
    repeat(end, 0.28, lambda number: write(line))


def values(account, end):
    """Messages with as many values as possible."""
    objects = ",".join(['{"":0}'] * 32_000)
    line = '{"jsonrpc":"2.0","method":"log","params":{"message":"x","more":[' + objects + "]}}"
    repeat(end, 0.28, lambda number: write(line))


def rates(account, end):
    """900 notifications a second."""

    def burst(number):
        for remaining in range(90):
            notify("rateLimit", account=account, remaining=remaining, limit=1000)

    repeat(end, 0.1, burst)


def requests(account, end):
    """900 requests a second."""

    def burst(number):
        for offset in range(90):
            request(number * 90 + offset, account, "/fast")

    repeat(end, 0.1, burst)


def silent(account, end):
    """Requests to servers that do not respond."""

    def burst(number):
        for offset in range(8):
            request(number * 8 + offset, account, "/silent")

    repeat(end, 0.5, burst)


def large(account, end):
    """Eight requests with large responses at a time."""

    def burst(number):
        for offset in range(8):
            request(number * 8 + offset, account, "/large")

    repeat(end, 3, burst)


def unread(account, end):
    """Eight requests with large responses, which are not read until the end."""
    for number in range(8):
        request(number, account, "/large")
    time.sleep(max(0, end - time.monotonic()))


def incomplete(account, end):
    """A message of 7 MiB that is completed at the end."""
    sys.stdout.write('{"jsonrpc":"2.0","method":"log","params":{"message":"' + "x" * (7 << 20))
    sys.stdout.flush()
    time.sleep(max(0, end - time.monotonic()))
    write('"}}')


def packets(account, end):
    """Single bytes before a message, each of which the daemon has to read separately."""
    fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_DIRECT)
    while time.monotonic() < end:
        os.write(1, b" ")


def errors(account, end):
    """Lines on the standard error, less than 1 MiB in 10 seconds."""
    repeat(end, 0.75, lambda number: os.write(2, b"\n" * (1 << 16)))


def threads(account, end):
    """As many threads as possible, which end at once and are replaced, less than 2000 in 10 seconds."""

    def burst(number):
        done = threading.Event()
        started = []
        for _ in range(32):
            thread = threading.Thread(target=done.wait, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                break
            started.append(thread)
        done.set()
        for thread in started:
            thread.join()

    repeat(end, 0.18, burst)


def memory(account, end):
    """All memory that the limits permit, made read-only so that it does not count as data, and again."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    part = 16 << 20
    while time.monotonic() < end:
        parts = []
        while time.monotonic() < end:
            address = libc.mmap(None, ctypes.c_size_t(part), 3, 0x22, -1, ctypes.c_size_t(0))
            if address == ctypes.c_void_p(-1).value:
                break
            parts.append(address)
            ctypes.memset(address, 1, part)
            libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(part), 1)
        try:
            os.close(os.open("/proc/self/mem", os.O_RDWR))
        except OSError:
            pass
        for address in parts:
            libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(part))


def spin(account, end):
    """Processor time without an end."""
    while time.monotonic() < end:
        pass


def calm(account, end):
    """No flood: the call is answered at once."""


def pages(account, end):
    """Answers with as many photos as possible, and long texts."""


def images(account, end):
    """Photos with large images."""


def answers(account, end):
    """No flood: the call is answered after a request with a large response."""
    request(0, account, "/page")
    sys.stdin.buffer.readline()


FLOODS = {
    flood.__name__: flood
    for flood in (
        log, values, rates, requests, silent, large, unread, incomplete, packets, errors, threads, memory, spin,
        calm, pages, images, answers)
}
# The flood runs on the thread that reads messages.
ANSWERS = (calm, pages, images, answers, unread)


def photos(flood):
    if flood is pages:
        return [
            {"id": f"{time.monotonic_ns()}-{number}", "title": "t" * 1000, "description": "d" * 3000}
            for number in range(500)
        ]
    if flood is images:
        servers = settings["Servers"].split()
        return [
            {"id": f"{number}", "images": {"full": f"{servers[number % len(servers)]}/image?{time.monotonic_ns()}"}}
            for number in range(8)
        ]
    return [{"id": str(number), "title": flood.__name__} for number in range(30)]


def page(flood, message):
    account = message["params"]["account"]["id"]
    flood(account, time.monotonic() + float(settings.get("Seconds", "3")))
    send(id=message["id"], result={"photos": photos(flood)})


def main():
    flood = FLOODS[sys.argv[1]]
    for line in sys.stdin.buffer:
        # Responses are not used.
        if len(line) > 1 << 16:
            continue
        message = json.loads(line)
        method = message.get("method")
        if method == "initialize":
            settings.update(message["params"]["settings"])
            send(id=message["id"], result={"protocol": 1})
        elif method == "page" and flood in ANSWERS:
            page(flood, message)
        elif method == "page":
            threading.Thread(target=page, args=(flood, message), daemon=True).start()
        elif method == "identify":
            send(id=message["id"], result={"username": "ada"})
        elif method == "sources":
            send(id=message["id"], result={"sources": [{"id": "home", "title": "Home", "kind": "feed"}]})
        elif method is not None and "id" in message:
            send(id=message["id"], error={"code": -32601, "message": "There is no such method."})


if __name__ == "__main__":
    main()
