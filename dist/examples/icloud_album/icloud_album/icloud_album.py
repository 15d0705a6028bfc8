#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plugin for Image Feed that shows a public shared album of iCloud: see imagefeed-providers(7) and README.md."""
import base64, calendar, collections, json, re, sys, time

PAGE = 100
# The number of photos whose image addresses are requested together.
BATCH = 25
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# The least length of the longer edge of each size, in pixels. A full image is the largest one.
EDGES = {"thumb": 300, "small": 600, "regular": 1000}

waiting = collections.deque()
settings = {}
# By album: the host that has it, its latest content, and its addresses of images.
hosts, albums, addresses = {}, {}, {}


class CallError(Exception):
    """The error of a call: a kind of imagefeed-providers(7), a sentence, and further members of `data`."""

    def __init__(self, kind, message, **data):
        super().__init__(message)
        self.error = {"code": -32000, "message": message, "data": {"kind": kind, **data}}


# The protocol

def write(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def http(account, **request):
    """Sends a request through the daemon. Calls that arrive in the meantime wait."""
    write({"id": "http", "method": "http", "params": {"account": account["id"], **request}})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") != "http" or "method" in message:
            waiting.append(message)
        elif "error" in message:
            error = message["error"]
            data = dict(error.get("data") or {})
            raise CallError(data.pop("kind", "failed"), error["message"], **data)
        else:
            return message["result"]
    sys.exit(0)


def messages():
    """Yields the messages of the daemon in order."""
    for line in sys.stdin:
        waiting.append(json.loads(line))
        while waiting:
            yield waiting.popleft()


# The service

def token(text):
    """Returns the token of an album from its link, or from the token itself."""
    found = re.fullmatch(r"(?:https://www\.icloud\.com/sharedalbum/(?:[a-z-]+/)?#?)?([AB][0-9A-Za-z]{7,})(?:;.*)?",
                         text.strip())
    if not found:
        raise CallError("invalid-argument",
                        "The user name must be the link of a shared album, such as "
                        "https://www.icloud.com/sharedalbum/#B0abcdefghijklm.")
    return found.group(1)


def first_host(album):
    """Returns the host that a token names: its number is one digit to the base 62 after A, and two after B."""
    number = 0
    for digit in album[1:2] if album[0] == "A" else album[1:3]:
        number = number * 62 + DIGITS.index(digit)
    return f"p{number:02d}-sharedstreams.icloud.com"


def header(response, name):
    for key, value in response.get("headers") or []:
        if key.lower() == name.lower():
            return value
    return None


def post(account, album, method, body):
    """Calls a method of the service. The status 330 names another host, which has the album."""
    host = hosts.get(album) or first_host(album)
    for _ in range(4):
        # The setting is for tests: it replaces the hosts of Apple by paths of one host.
        base = f"{settings['ApiUrl']}/{host}" if settings.get("ApiUrl") else f"https://{host}"
        response = http(
            account, method="POST", url=f"{base}/{album}/sharedstreams/{method}", body=json.dumps(body),
            headers=[["Content-Type", "text/plain"], ["Origin", "https://www.icloud.com"]])
        status = response["status"]
        answer = parse(response) if status in (200, 330) else None
        if status == 330:
            host = str(header(response, "X-Apple-MMe-Host") or answer.get("X-Apple-MMe-Host"))
            if not re.fullmatch(r"p\d+-sharedstreams\.icloud\.com", host):
                raise CallError("failed", "iCloud moved the album to a host that is not one of iCloud.")
        elif status == 200:
            hosts[album] = host
            return answer
        elif status in (404, 410):
            raise CallError("not-found", "iCloud has no public album at this link; ask its owner for a new one.")
        elif status == 429:
            delay = header(response, "Retry-After") or ""
            until = {"until": int(time.time()) + min(int(delay), 86400)} if delay.isdecimal() else {}
            raise CallError("rate-limited", "iCloud limits requests.", **until)
        else:
            raise CallError("failed", f"iCloud sent the status {status}.")
    raise CallError("failed", "iCloud moves the album from host to host.")


def parse(response):
    """Returns the object in the body of a response."""
    try:
        text = response.get("body") or base64.b64decode(response.get("body_base64", "")).decode()
        answer = json.loads(text)
    except ValueError:
        answer = None
    # A network with a login page answers with this page.
    if not isinstance(answer, dict):
        raise CallError("failed", "iCloud sent a response that is not the description of an album.")
    return answer


# The album

def fetch(account):
    """Fetches an album. The service returns all photos in one response."""
    album = token(account["username"])
    answer = post(account, album, "webstream", {"streamCtag": None})
    photos = [photo(record, album) for record in answer.get("photos") or [] if is_photo(record)]
    photos.sort(key=lambda photo: (photo.get("created", 0), photo["id"]), reverse=True)
    albums[album] = {
        "title": str(answer.get("streamName") or "Shared album"), "photos": photos,
        "owner": " ".join(str(answer.get(key) or "") for key in ("userFirstName", "userLastName")).strip()}
    return albums[album]


def known(account):
    """Returns the album as it was fetched last."""
    return albums.get(token(account["username"])) or fetch(account)


def is_photo(record):
    return (isinstance(record, dict) and isinstance(record.get("photoGuid"), str) and record["photoGuid"]
            and record.get("mediaAssetType") != "video" and variants(record))


def variants(record):
    """Returns the files of a photo, the smallest one first: the length of the longer edge, and the checksum."""
    files = record.get("derivatives")
    files = files.values() if isinstance(files, dict) else []
    found = [(max(number(file.get("width")), number(file.get("height"))), file["checksum"])
             for file in files if isinstance(file, dict) and isinstance(file.get("checksum"), str)]
    return sorted(found)[:20]


def number(value):
    """Returns a number that the service writes as text."""
    return int(value) if str(value).isdecimal() and int(value) < 1 << 31 else 0


def seconds(text):
    try:
        return calendar.timegm(time.strptime(str(text), "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return None


def photo(record, album):
    """Returns a photo of the protocol. The note has the files, for the call `image`."""
    names = (record.get("contributorFirstName"), record.get("contributorLastName"))
    members = {
        "id": record["photoGuid"], "created": seconds(record.get("dateCreated")),
        "title": record.get("caption"), "width": number(record.get("width")), "height": number(record.get("height")),
        "author": record.get("contributorFullName") or " ".join(name for name in names if name),
        "url": f"https://www.icloud.com/sharedalbum/#{album};{record['photoGuid']}",
        "note": " ".join(f"{edge}:{checksum}" for edge, checksum in variants(record))}
    return {key: value for key, value in members.items() if value}


# The calls

def initialize(params):
    settings.update(params.get("settings") or {})
    return {"protocol": 1}


def identify(params):
    album = token(params["account"]["username"])
    try:
        fetch(params["account"])
    except CallError as error:
        if error.error["data"]["kind"] == "not-found":
            raise CallError("no-such-user", str(error))
        raise
    return {"username": album}


def profile(params):
    found = known(params["account"])
    album = token(params["account"]["username"])
    return {"username": album, "name": found["title"], "bio": found["owner"],
            "url": f"https://www.icloud.com/sharedalbum/#{album}"}


def sources(params):
    found = fetch(params["account"])
    return {"sources": [{"id": "album", "title": found["title"], "kind": "feed", "count": len(found["photos"])}]}


def page(params):
    """Returns a page. A place is the ID of the last photo of the page before."""
    place = params.get("place")
    found = known(params["account"]) if place else fetch(params["account"])
    ids = [photo["id"] for photo in found["photos"]]
    if place and place not in ids:
        raise CallError("stale-cursor", "The album no longer contains the photo before this page.")
    start = ids.index(place) + 1 if place else 0
    photos = found["photos"][start:start + PAGE]
    has_more = start + PAGE < len(ids)
    return {"photos": photos, "next": photos[-1]["id"] if has_more else None, "total": len(ids)}


def one_photo(params):
    for album in (known, fetch):
        for photo in album(params["account"])["photos"]:
            if photo["id"] == params["photo"]:
                return photo
    raise CallError("not-found", "The album no longer contains this photo.")


def image(params):
    """Returns the address of an image. Addresses are valid for some hours only, so that they are no part of a photo."""
    files = [file.split(":") for file in (params.get("note") or "").split(" ") if ":" in file]
    edge = EDGES.get(params["size"])
    large = [checksum for length, checksum in files if edge and int(length) >= edge]
    if not files:
        raise CallError("not-found", "The photo has no image.")
    checksum = large[0] if large else files[-1][1]
    album = token(params["account"]["username"])
    known_addresses = addresses.setdefault(album, {})
    url, expiry = known_addresses.get(checksum, (None, 0))
    if expiry < time.time() + 60:
        known_addresses.update(fetch_addresses(params["account"], album, params["photo"]))
        url, expiry = known_addresses.get(checksum, (None, 0))
    if not url:
        raise CallError("not-found", "iCloud has no such image.")
    return {"url": url}


def fetch_addresses(account, album, photo):
    """Fetches the addresses of the images of a photo, and of the next photos on the page."""
    ids = [photo["id"] for photo in albums.get(album, {}).get("photos", [])]
    start = ids.index(photo) if photo in ids else None
    answer = post(account, album, "webasseturls",
                  {"photoGuids": [photo] if start is None else ids[start:start + BATCH]})
    locations = answer.get("locations") or {}
    found = {}
    for checksum, item in (answer.get("items") or {}).items():
        name = item.get("url_location")
        location = locations.get(name) or {}
        host = (location.get("hosts") or [name])[0]
        # Without the time of the end, an address is used once.
        expiry = seconds(item.get("url_expiry")) or time.time() + 61
        found[checksum] = (f"{location.get('scheme', 'https')}://{host}{item.get('url_path')}", expiry)
    return found


METHODS = {"initialize": initialize, "identify": identify, "profile": profile, "sources": sources, "page": page,
           "photo": one_photo, "image": image}

for request in messages():
    # Other messages are notifications: a call is cancelled, and is answered all the same.
    if "id" not in request or "method" not in request:
        continue
    try:
        if request["method"] not in METHODS:
            raise CallError("not-supported", "The method is not supported.")
        write({"id": request["id"], "result": METHODS[request["method"]](request.get("params") or {})})
    except CallError as error:
        write({"id": request["id"], "error": error.error})
