#!/usr/bin/python3
# Prints the title of the newest photo, with a heart if it is liked, and prints it again after each change. Needs
# python3-dbus-fast.
import asyncio

from dbus_fast.aio import MessageBus

NAME, ROOT = "org.imagefeed.ImageFeed1", "/org/imagefeed/ImageFeed1"


async def main():
    bus = await MessageBus().connect()

    async def interface(path, name):
        return bus.get_proxy_object(NAME, path, await bus.introspect(NAME, path)).get_interface(f"{NAME}.{name}")

    manager = await interface(ROOT, "Manager")
    feed = await interface(await manager.get_default_account(), "Feed")

    last = None

    async def show():
        nonlocal last
        photos, _ = await feed.call_get_page("", "", 1)
        for photo in photos:
            title = (photo.get("title") or photo.get("description") or photo["id"]).value
            line = f"♥ {title}" if photo["liked"].value else title
            # Several signals may announce the same change.
            if line != last:
                last = line
                print(line, flush=True)

    feed.on_updated(lambda source, new: asyncio.ensure_future(show()))
    feed.on_photo_changed(lambda photo, changes: asyncio.ensure_future(show()))
    feed.on_photos_removed(lambda photos: asyncio.ensure_future(show()))
    await show()
    await bus.wait_for_disconnect()


asyncio.run(main())
