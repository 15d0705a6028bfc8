#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the plugin without a network: this program takes the place of the daemon.

    python3 test.py"""
import json, pathlib, subprocess, sys, unittest, urllib.parse

FOLDER = pathlib.Path(__file__).parent
FOG, DUNES = "psx1a2b3c4d5e6f7", "psx1a2b3c4d5e6f8"
TOKENS = [["X-Preview-Token", "2lbh9x09"], ["X-Download-Token", "3f9a1m2q"]]


def answer(name):
    return 200, json.loads((FOLDER / "answers" / f"{name}.json").read_text())


class Plugin:
    """A running plugin. `answers` has a status and a body for each path of the service."""

    def __init__(self, settings=None, headers=TOKENS, **answers):
        self.answers = {name: answer(name) for name in ("photos", "albums", "session")} | {"like": (200, {})} | answers
        self.headers = headers
        self.requests = []
        self.process = subprocess.Popen(
            [sys.executable, FOLDER / "photoprism" / "photoprism.py"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.call("initialize", protocol=1, settings=settings or {})

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def call(self, method, server="photos.example.org", **params):
        self.send(id=1, method=method, params={**params, "account": {"id": "1", "username": "ada", "server": server}})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") != "http":
                return message["result"] if "result" in message else message["error"]
            request = message["params"]
            address = urllib.parse.urlsplit(request["url"])
            self.requests.append((request["method"], address.path, dict(urllib.parse.parse_qsl(address.query))))
            given = self.answers[address.path.rsplit("/", 1)[1]]
            if given == "unauthorized":
                error = {"code": -32000, "message": "No.", "data": {"kind": "unauthorized"}}
                self.send(id=message["id"], error=error)
                continue
            status, body = given
            self.send(id=message["id"], result={
                "status": status, "url": request["url"], "headers": self.headers,
                "body": body if isinstance(body, str) else json.dumps(body)})

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


class Tests(unittest.TestCase):
    def plugin(self, **options):
        plugin = Plugin(**options)
        self.addCleanup(lambda: self.assertEqual(plugin.close(), 0))
        return plugin

    def test_the_app_password_identifies_its_user(self):
        plugin = self.plugin()
        self.assertEqual(plugin.call("identify"), {"username": "ada", "user_id": "usx1a2b3c4d5e6f7"})
        self.assertEqual(plugin.requests, [("GET", "/api/v1/session", {})])
        self.assertEqual(plugin.call("profile")["name"], "Ada Example")
        self.assertEqual(self.plugin(session="unauthorized").call("identify")["data"]["kind"], "unauthorized")
        for other in ((404, ""), (200, "<html>"), (200, []), (200, {"user": None})):
            error = self.plugin(session=other).call("identify")
            self.assertIn(error["data"]["kind"], ("failed", "not-found"))

    def test_the_sources_are_all_photos_likes_and_albums(self):
        sources = self.plugin().call("sources")["sources"]
        self.assertEqual([source["id"] for source in sources], ["photos", "likes", "album:asx1a2b3c4d5e6f7"])
        self.assertEqual(sources[2]["title"], "Harbour days")
        self.assertEqual(sources[2]["count"], 2)

    def test_a_page_has_photos(self):
        plugin = self.plugin()
        page = plugin.call("page", source="photos", place=None)
        self.assertIsNone(page["next"])
        self.assertEqual(page["photos"], [
            {"id": FOG, "title": "Fog over the harbour", "created": 1777706100, "description": "A pier in the fog",
             "width": 4032, "height": 3024, "camera": "FUJIFILM X-T5", "liked": True,
             "note": "2cad9168fa6acc5c5c2965ddf6ec465ca42fd818"},
            {"id": DUNES, "title": "Dunes", "created": 1777627800, "width": 4032, "height": 3024, "liked": False,
             "note": "3cad9168fa6acc5c5c2965ddf6ec465ca42fd819"}])
        method, path, query = plugin.requests[0]
        self.assertEqual((method, path), ("GET", "/api/v1/photos"))
        self.assertEqual(query["order"], "newest")
        self.assertEqual(query["offset"], "0")

    def test_each_source_has_its_parameters(self):
        plugin = self.plugin()
        for source in ("likes", "album:asx1a2b3c4d5e6f7", "search:fog & pier #1"):
            plugin.call("page", source=source, place=None)
        queries = [query for _, _, query in plugin.requests]
        self.assertEqual(queries[0]["favorite"], "true")
        self.assertEqual(queries[1]["s"], "asx1a2b3c4d5e6f7")
        self.assertEqual([query.get("quality") for query in queries], ["3", None, "3"])
        self.assertEqual(queries[2]["q"], "fog & pier #1")
        gone = self.plugin(photos=(400, "{}")).call("page", source="album:gone", place=None)
        self.assertEqual(gone["data"]["kind"], "not-found")
        self.assertEqual(plugin.call("page", source="folders", place=None)["data"]["kind"], "not-found")

    def test_full_pages_have_a_place_and_others_end_the_source(self):
        photos = answer("photos")[1] * 50
        plugin = self.plugin(photos=(200, photos))
        self.assertEqual(plugin.call("page", source="photos", place=None)["next"], "100")
        plugin.call("page", source="photos", place="100")
        self.assertEqual(plugin.requests[1][2]["offset"], "100")
        for place in ("x", "-1", "1e9", "9" * 20):
            self.assertEqual(plugin.call("page", source="photos", place=place)["data"]["kind"], "stale-cursor")

    def test_the_place_of_a_photo_is_sent_only_if_the_user_shows_it(self):
        shown = self.plugin(settings={"ShowLocation": "true"}).call("page", source="photos", place=None)["photos"]
        self.assertEqual((shown[0]["latitude"], shown[0]["longitude"]), (53.54, 9.99))
        self.assertNotIn("latitude", shown[1])

    def test_one_photo_equals_that_of_its_page(self):
        plugin = self.plugin()
        photos = plugin.call("page", source="photos", place=None)["photos"]
        self.assertEqual(plugin.call("photo", photo=DUNES), photos[1])
        self.assertEqual(plugin.requests[1][2]["uid"], DUNES)
        self.assertEqual(plugin.call("photo", photo="psgone")["data"]["kind"], "not-found")

    def test_addresses_of_images_contain_the_token(self):
        plugin = self.plugin(headers=[])
        image = dict(photo=FOG, note="2cad9168fa6acc5c5c2965ddf6ec465ca42fd818")
        start = "https://photos.example.org/api/v1"
        self.assertEqual(plugin.call("image", size="thumb", **image)["url"],
                         f"{start}/t/2cad9168fa6acc5c5c2965ddf6ec465ca42fd818/2lbh9x09/fit_720")
        self.assertEqual(plugin.call("image", size="full", **image)["url"],
                         f"{start}/dl/2cad9168fa6acc5c5c2965ddf6ec465ca42fd818?t=3f9a1m2q")
        self.assertEqual(len(plugin.requests), 1)
        plugin = self.plugin(headers=[["x-preview-token", "new"], ["x-download-token", "new2"]])
        plugin.call("page", source="photos", place=None)
        self.assertTrue(plugin.call("image", size="regular", **image)["url"].endswith("/new/fit_1920"))
        local = plugin.call("image", server="http://127.0.0.1:2342", size="small", **image)["url"]
        self.assertTrue(local.startswith("http://127.0.0.1:2342/api/v1/t/"))

    def test_likes_are_sent(self):
        plugin = self.plugin()
        self.assertEqual(plugin.call("setLiked", photo=FOG, liked=True), {})
        self.assertEqual(plugin.call("setLiked", photo=FOG, liked=False), {})
        path = f"/api/v1/photos/{FOG}/like"
        self.assertEqual(plugin.requests, [("POST", path, {}), ("DELETE", path, {})])
        for status, kind in ((404, "not-found"), (403, "denied"), (500, "failed"), (429, "rate-limited")):
            error = self.plugin(like=(status, "")).call("setLiked", photo=FOG, liked=True)
            self.assertEqual(error["data"]["kind"], kind)


if __name__ == "__main__":
    unittest.main()
