#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plugin for Image Feed that shows the photos of a PhotoPrism server: see imagefeed-providers(7) and README.md."""
import base64, calendar, collections, json, sys, time, urllib.parse

PAGE = 100
MAXIMUM_ALBUMS = 900
# The sizes of PhotoPrism. A full image is the file itself.
SIZES = {"thumb": "fit_720", "small": "fit_720", "regular": "fit_1920"}

waiting = collections.deque()
settings = {}
# By account: the tokens that addresses of images contain.
tokens = {}


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

def base(account):
    server = account["server"]
    return server if "://" in server else f"https://{server}"


def header(response, name):
    for key, value in response.get("headers") or []:
        if key.lower() == name.lower():
            return value
    return None


def request(account, path, missing, method="GET", **query):
    """Sends a request to the API. The daemon adds the app password.

    `missing` is the error if the server does not know what the path or the query names."""
    url = f"{base(account)}/api/v1/{path}"
    if query:
        url += "?" + urllib.parse.urlencode(query)
    response = http(account, method=method, url=url, headers=[["Accept", "application/json"]])
    status = response["status"]
    if status in (400, 404):
        raise missing
    if status == 403:
        raise CallError("denied", "The app password does not permit this; create one with full access.")
    if status == 429:
        delay = header(response, "Retry-After") or ""
        until = {"until": int(time.time()) + min(int(delay), 86400)} if delay.isdecimal() else {}
        raise CallError("rate-limited", "The server limits requests.", **until)
    if status != 200:
        raise CallError("failed", f"The server sent the status {status}.")
    preview, download = header(response, "X-Preview-Token"), header(response, "X-Download-Token")
    if preview and download:
        tokens[key(account)] = (preview, download)
    try:
        return json.loads(response.get("body") or base64.b64decode(response.get("body_base64", "")))
    except ValueError:
        raise CallError("failed", "The server sent a response that is not JSON.")


def key(account):
    return account["server"], account["username"]


def records(answer):
    """Returns the objects of a list with an ID."""
    if not isinstance(answer, list):
        raise CallError("failed", "The server sent a response that is not a list.")
    return [record for record in answer if isinstance(record, dict) and isinstance(record.get("UID"), str)]


def session(account):
    """Fetches the user, and the tokens of images."""
    answer = request(account, "session", CallError("not-found", "There is no PhotoPrism server at this address."))
    if not isinstance(answer, dict) or not isinstance(answer.get("user"), dict):
        raise CallError("failed", "There is no PhotoPrism server at this address.")
    config = answer.get("config") or {}
    tokens[key(account)] = (config.get("previewToken") or "public", config.get("downloadToken") or "public")
    return answer["user"]


# Photos

def seconds(text):
    try:
        return calendar.timegm(time.strptime(str(text)[:19], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return None


def whole(value):
    return value if isinstance(value, int) and 0 <= value < 1 << 31 else None


def camera(record):
    names = [record.get("CameraMake"), record.get("CameraModel")]
    return " ".join(name for name in names if isinstance(name, str) and name != "Unknown").strip()


def photo(record):
    """Returns a photo of the protocol. The note is the hash of the file, for the call `image`."""
    members = {
        "id": record["UID"], "title": record.get("Title"), "created": seconds(record.get("TakenAt")),
        # Until 2025, the caption was named description.
        "description": record.get("Caption") or record.get("Description"),
        "width": whole(record.get("Width")), "height": whole(record.get("Height")), "camera": camera(record),
        "note": record.get("Hash")}
    photo = {key: value for key, value in members.items() if value}
    photo["liked"] = record.get("Favorite") is True
    place = record.get("Lat"), record.get("Lng")
    if settings.get("ShowLocation") == "true" and any(place):
        photo["latitude"], photo["longitude"] = place
    return photo


def scope(source):
    """Returns the parameters of a source, and the error if it does not exist."""
    kind, _, name = source.partition(":")
    unknown = CallError("not-found", "The server has no such photos.")
    # As on the website, photos that wait for a review are only in their albums.
    if source == "photos":
        return {"quality": 3}, unknown
    if source == "likes":
        return {"quality": 3, "favorite": "true"}, unknown
    if kind == "album":
        return {"s": name}, CallError("not-found", "The server no longer has this album.")
    if kind == "search":
        return {"quality": 3, "q": name}, CallError("invalid-argument", "The server does not understand the search.")
    raise unknown


# The calls

def initialize(params):
    settings.update(params.get("settings") or {})
    return {"protocol": 1}


def identify(params):
    user = session(params["account"])
    if not user.get("Name"):
        raise CallError("failed", "The server does not say whose app password this is.")
    return {"username": user["Name"], "user_id": user.get("UID")}


def profile(params):
    account = params["account"]
    user = session(account)
    name = user.get("Name") or account["username"]
    return {"username": name, "name": user.get("DisplayName") or name, "user_id": user.get("UID"),
            "url": base(account) + "/"}


def sources(params):
    found = [{"id": "photos", "title": "Photos", "kind": "feed"}, {"id": "likes", "title": "Favorites", "kind": "likes"}]
    missing = CallError("failed", "The server does not list its albums.")
    answer = request(params["account"], "albums", missing, count=MAXIMUM_ALBUMS, type="album", order="name")
    for record in records(answer)[:MAXIMUM_ALBUMS]:
        found.append({"id": f"album:{record['UID']}", "title": record.get("Title") or record["UID"], "kind": "album",
                      "count": whole(record.get("PhotoCount"))})
    return {"sources": found}


def page(params):
    """Returns a page. A place is the number of photos before it."""
    query, missing = scope(params["source"])
    place = params.get("place") or "0"
    if not place.isdecimal() or len(place) > 9:
        raise CallError("stale-cursor", "The place is not valid.")
    # `primary` leaves out further files of a photo, `photo` videos, and `public` private photos.
    answer = request(params["account"], "photos", missing, count=PAGE, offset=int(place), order="newest",
                     primary="true", photo="true", public="true", **query)
    found = records(answer)
    more = len(answer) >= PAGE
    return {"photos": [photo(record) for record in found], "next": str(int(place) + len(answer)) if more else None}


def one_photo(params):
    missing = CallError("not-found", "The server no longer has this photo.")
    answer = request(params["account"], "photos", missing, count=1, primary="true", uid=params["photo"])
    for record in records(answer):
        if record["UID"] == params["photo"]:
            return photo(record)
    raise missing


def image(params):
    """Returns the address of an image. It contains a token that the server replaces from time to time."""
    account = params["account"]
    if not params.get("note"):
        raise CallError("not-found", "The photo has no image.")
    if key(account) not in tokens:
        session(account)
    preview, download = (urllib.parse.quote(token, safe="") for token in tokens[key(account)])
    file = urllib.parse.quote(params["note"], safe="")
    size = SIZES.get(params["size"])
    path = f"t/{file}/{preview}/{size}" if size else f"dl/{file}?t={download}"
    return {"url": f"{base(account)}/api/v1/{path}"}


def set_liked(params):
    path = f"photos/{urllib.parse.quote(params['photo'], safe='')}/like"
    missing = CallError("not-found", "The server no longer has this photo.")
    request(params["account"], path, missing, method="POST" if params["liked"] else "DELETE")
    return {}


METHODS = {"initialize": initialize, "identify": identify, "profile": profile, "sources": sources, "page": page,
           "photo": one_photo, "image": image, "setLiked": set_liked}

for call in messages():
    # Other messages are notifications: a call is cancelled, and is answered all the same.
    if "id" not in call or "method" not in call:
        continue
    try:
        if call["method"] not in METHODS:
            raise CallError("not-supported", "The method is not supported.")
        write({"id": call["id"], "result": METHODS[call["method"]](call.get("params") or {})})
    except CallError as error:
        write({"id": call["id"], "error": error.error})
