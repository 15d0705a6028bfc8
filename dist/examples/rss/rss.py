#!/usr/bin/env python3
"""A provider for Image Feed that shows the photos of an RSS or Atom feed: see imagefeed-providers(7).

    imagefeedctl login rss --username https://example.org/photos/feed.xml"""
import base64, collections, datetime, email.utils, html, json, re, sys
from xml.etree import ElementTree

MEDIA = "{http://search.yahoo.com/mrss/}"
ATOM = "{http://www.w3.org/2005/Atom}"
DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


later = collections.deque()


class CallError(Exception):
    """The error of a call: an error kind of imagefeed-providers(7), and a sentence."""


def write(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def fetch(account, url):
    """Fetches a document through the daemon. The sandbox allows no other access to the network."""
    write({"id": "http", "method": "http", "params": {"account": account["id"], "url": url}})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") != "http" or "method" in message:
            later.append(message)
            continue
        if "error" in message:
            error = message["error"]
            raise CallError(error.get("data", {}).get("kind", "failed"), error["message"])
        response = message["result"]
        if response["status"] == 429:
            raise CallError("rate-limited", "The server of the feed limits requests.")
        if response["status"] != 200:
            raise CallError("failed", f"The server of the feed returned status {response['status']}.")
        if "body_base64" in response:
            return base64.b64decode(response["body_base64"])
        # The daemon has converted the text, so its XML declaration may name another encoding.
        return re.sub(r"^\s*<\?xml.*?\?>", "", response.get("body", ""))
    sys.exit(0)


def text(element, *paths):
    for path in paths:
        found = element.findtext(path)
        if found and found.strip():
            return html.unescape(re.sub(r"<[^>]*>", " ", found)).strip()
    return None


def seconds(element):
    """Returns the publication time of an entry in seconds since 1970."""
    written = text(element, "pubDate", f"{ATOM}published", f"{ATOM}updated", f"{DUBLIN_CORE}date")
    try:
        return int(email.utils.parsedate_to_datetime(written).timestamp())
    except (TypeError, ValueError):
        pass
    try:
        return int(datetime.datetime.fromisoformat(written.replace("Z", "+00:00")).timestamp())
    except (AttributeError, ValueError):
        return None


def image(element):
    """Returns the URL of an entry's image."""
    for media in [*element.iter(f"{MEDIA}content"), *element.iter("enclosure")]:
        kind = media.get("type", "image/" if media.get("medium") == "image" else "")
        if kind.startswith("image/") and media.get("url"):
            return media.get("url")
    for link in element.findall(f"{ATOM}link"):
        if link.get("rel") == "enclosure" and link.get("type", "").startswith("image/"):
            return link.get("href")
    body = "".join(element.findtext(path) or "" for path in (
        "description", f"{ATOM}content", f"{ATOM}summary",
        "{http://purl.org/rss/1.0/modules/content/}encoded"))
    found = re.search(r"""<img[^>]+src=["']([^"']+)["']""", body)
    return html.unescape(found.group(1)) if found else None


def entries(account):
    """Returns the title of the feed and its photos."""
    try:
        root = ElementTree.fromstring(fetch(account, account["username"]))
    except ElementTree.ParseError:
        root = None
    # An XHTML page is valid XML but no feed. The login page of a network may be one.
    if root is None or not re.search("(rss|RDF|feed)$", root.tag):
        raise CallError("failed", "There is no feed at that address.")
    channel = root.find("channel") if root.find("channel") is not None else root
    photos = {}
    for element in [*root.iter("item"), *root.iter(f"{ATOM}entry")]:
        address = image(element)
        links = [link.get("href") for link in element.findall(f"{ATOM}link")
                 if link.get("rel", "alternate") == "alternate"]
        link = text(element, "link") or next(iter(links), None)
        name = text(element, "guid", f"{ATOM}id") or link or address
        if not address or not name:
            continue
        thumbnails = [found.get("url") for found in element.iter(f"{MEDIA}thumbnail")]
        images = {"full": address, "thumb": next(iter(thumbnails), None) or address}
        photos.setdefault(name[:500], {
            "id": name[:500], "created": seconds(element), "images": images, "url": link,
            "title": text(element, "title", f"{ATOM}title"),
            "author": text(element, f"{DUBLIN_CORE}creator", f"{ATOM}author/{ATOM}name", "author"),
        })
    return text(channel, "title", f"{ATOM}title") or account["username"], list(photos.values())


def call(method, params):
    account = params.get("account")
    if method == "initialize":
        return {"protocol": 1}
    if method == "identify":
        # Requests without https are possible only on this computer, to the hosts that the manifest names.
        if not re.match(r"https://|http://(localhost|127\.|\[::1\])", account["username"]):
            raise CallError("invalid-argument", "The user name must be the URL of a feed, which begins with https://.")
        entries(account)
        return {"username": account["username"]}
    if method == "profile":
        return {"username": account["username"], "name": entries(account)[0]}
    if method == "sources":
        return {"sources": [{"id": "feed", "title": "Feed", "kind": "feed"}]}
    if method == "page":
        return {"photos": entries(account)[1][:500]}
    if method == "photo":
        for photo in entries(account)[1]:
            if photo["id"] == params["photo"]:
                return photo
        raise CallError("not-found", "The feed no longer contains this photo.")
    raise CallError("not-supported", "The method is not supported.")


def requests():
    """Yields the messages of the daemon in order."""
    for line in sys.stdin:
        later.append(json.loads(line))
        while later:
            yield later.popleft()


for request in requests():
    # Other messages are notifications that a call was cancelled.
    if "id" not in request or "method" not in request:
        continue
    try:
        write({"id": request["id"], "result": call(request["method"], request.get("params", {}))})
    except CallError as error:
        kind, sentence = error.args
        write({"id": request["id"],
               "error": {"code": -32000, "message": sentence, "data": {"kind": kind}}})
