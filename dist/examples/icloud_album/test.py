#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the plugin without a network: this program takes the place of the daemon.

    python3 test.py"""
import json, pathlib, subprocess, sys, unittest

FOLDER = pathlib.Path(__file__).parent
FIRST, SECOND = (f"4B7A9E10-1111-4C1A-9A3C-00000000000{number}" for number in (1, 2))


def answer(name):
    return 200, json.loads((FOLDER / "answers" / f"{name}.json").read_text())


class Plugin:
    """A running plugin. `answers` has a status and a body for each method of the service."""

    def __init__(self, **answers):
        self.answers = {"webstream": answer("webstream"), "webasseturls": answer("webasseturls"), **answers}
        self.requests = []
        self.process = subprocess.Popen(
            [sys.executable, FOLDER / "icloud_album" / "icloud_album.py"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.call("initialize", protocol=1, settings={})

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def call(self, method, username="B2x0ABCDEFGHIJK", **params):
        self.send(id=1, method=method, params={**params, "account": {"id": "1", "username": username}})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("method") != "http":
                return message.get("result") or message["error"]
            request = message["params"]
            self.requests.append((request["url"], json.loads(request["body"])))
            given = self.answers[request["url"].rsplit("/", 1)[1]]
            status, body = given.pop(0) if isinstance(given, list) else given
            self.send(id=message["id"], result={
                "status": status, "url": request["url"], "headers": [["Retry-After", "60"]],
                "body": body if isinstance(body, str) else json.dumps(body)})

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


class Tests(unittest.TestCase):
    def plugin(self, **answers):
        plugin = Plugin(**answers)
        self.addCleanup(lambda: self.assertEqual(plugin.close(), 0))
        return plugin

    def test_a_page_has_the_photos_without_videos_the_newest_first(self):
        page = self.plugin().call("page", source="album", place=None)
        self.assertEqual([photo["id"] for photo in page["photos"]], [SECOND, FIRST])
        self.assertIsNone(page["next"])
        self.assertEqual(page["photos"][1], {
            "id": FIRST, "created": 1777627800, "title": "Fog over the harbour", "width": 3024, "height": 4032,
            "author": "Ada Example", "url": f"https://www.icloud.com/sharedalbum/#B2x0ABCDEFGHIJK;{FIRST}",
            "note": "342:01small0000000000000000000000000000000001 2049:01large0000000000000000000000000000000001"})

    def test_the_token_names_the_host(self):
        for link, host in {
                "https://www.icloud.com/sharedalbum/#B125ON9t3mbLNC": "p64", "A7bcdefgh": "p07",
                "https://www.icloud.com/sharedalbum/de-de/#B125ON9t3mbLNC;4B7A": "p64"}.items():
            plugin = self.plugin()
            self.assertIn("username", plugin.call("identify", link))
            self.assertTrue(plugin.requests[0][0].startswith(f"https://{host}-sharedstreams.icloud.com/"))
            self.assertEqual(plugin.requests[0][1], {"streamCtag": None})

    def test_another_text_than_a_link_is_refused_without_a_request(self):
        plugin = self.plugin()
        for link in ("", "ada", "https://example.org/#B125ON9t3mbLNC", "https://www.icloud.com/sharedalbum/"):
            self.assertEqual(plugin.call("identify", link)["data"]["kind"], "invalid-argument")
        self.assertEqual(plugin.requests, [])

    def test_the_status_330_leads_to_the_host_of_the_album(self):
        moved = (330, {"X-Apple-MMe-Host": "p99-sharedstreams.icloud.com"})
        plugin = self.plugin(webstream=[moved, answer("webstream"), answer("webstream")])
        plugin.call("page", source="album", place=None)
        plugin.call("page", source="album", place=None)
        hosts = [url.split("/")[2].split("-")[0] for url, _ in plugin.requests]
        self.assertEqual(hosts, ["p183", "p99", "p99"])

    def test_the_album_moves_to_no_foreign_host_and_not_forever(self):
        for host in ("example.org", "p1-sharedstreams.icloud.com.example.org", "p1-sharedstreams.icloud.com"):
            plugin = self.plugin(webstream=(330, {"X-Apple-MMe-Host": host}))
            self.assertEqual(plugin.call("page", source="album", place=None)["data"]["kind"], "failed")
            self.assertLessEqual(len(plugin.requests), 4)
            self.assertFalse(any("example.org" in url for url, _ in plugin.requests))

    def test_pages_follow_one_another_and_a_lost_place_is_stale(self):
        record = answer("webstream")[1]["photos"][0]
        photos = [{**record, "photoGuid": f"{number}", "dateCreated": f"2026-01-01T00:{number // 60:02d}:{number % 60:02d}Z"}
                  for number in range(250)]
        plugin = self.plugin(webstream=(200, {"photos": photos}))
        place, ids = None, []
        while True:
            page = plugin.call("page", source="album", place=place)
            ids += [photo["id"] for photo in page["photos"]]
            place = page["next"]
            if not place:
                break
        self.assertEqual(ids, [f"{number}" for number in reversed(range(250))])
        self.assertEqual(len(plugin.requests), 1)
        lost = plugin.call("page", source="album", place="gone")
        self.assertEqual(lost["data"]["kind"], "stale-cursor")

    def test_addresses_of_images_are_requested_together_and_until_they_expire(self):
        plugin = self.plugin()
        photos = plugin.call("page", source="album", place=None)["photos"]
        urls = [plugin.call("image", photo=photo["id"], size=size, note=photo["note"])["url"]
                for photo in photos for size in ("thumb", "full")]
        self.assertEqual([url.split("/")[4] for url in urls], ["02small", "02large", "01small", "01large"])
        self.assertEqual(plugin.requests[1][1], {"photoGuids": [SECOND, FIRST]})
        self.assertEqual(len(plugin.requests), 2)
        expired = answer("webasseturls")[1]
        for item in expired["items"].values():
            item["url_expiry"] = "2020-01-01T00:00:00Z"
        plugin = self.plugin(webasseturls=(200, expired))
        for _ in range(2):
            plugin.call("image", photo=FIRST, size="thumb", note=photos[1]["note"])
        self.assertEqual([body for _, body in plugin.requests], [{"photoGuids": [FIRST]}] * 2)

    def test_errors_of_the_service_have_their_kinds(self):
        for status, body, kind in (
                (404, "", "not-found"), (500, "", "failed"), (200, "<html>", "failed"), (429, "", "rate-limited")):
            error = self.plugin(webstream=(status, body)).call("page", source="album", place=None)
            self.assertEqual(error["data"]["kind"], kind)
        self.assertGreater(error["data"]["until"], 1_700_000_000)
        self.assertEqual(self.plugin(webstream=(404, "")).call("identify")["data"]["kind"], "no-such-user")
        self.assertEqual(self.plugin().call("photo", photo="gone")["data"]["kind"], "not-found")


if __name__ == "__main__":
    unittest.main()
