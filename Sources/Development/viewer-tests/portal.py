#!/usr/bin/python3
"""A simulated desktop portal. It prints each call with the contents of the files that it receives, in hexadecimal.

Source: XDG Desktop Portal, `org.freedesktop.portal.Wallpaper` and `org.freedesktop.portal.Email`.
"""
import os

from gi.repository import Gio, GLib

INTERFACES = """<node>
<interface name="org.freedesktop.portal.Wallpaper"><method name="SetWallpaperFile">
<arg type="s" direction="in"/><arg type="h" direction="in"/><arg type="a{sv}" direction="in"/><arg type="o" direction="out"/>
</method></interface>
<interface name="org.freedesktop.portal.Email"><method name="ComposeEmail">
<arg type="s" direction="in"/><arg type="a{sv}" direction="in"/><arg type="o" direction="out"/>
</method></interface></node>"""


def call(bus, sender, path, interface, method, parameters, invocation):
    files = invocation.get_message().get_unix_fd_list()
    contents = []
    for index in range(files.get_length() if files else 0):
        descriptor = files.get(index)
        size = os.fstat(descriptor).st_size
        contents.append(os.pread(descriptor, size, 0).hex())
        os.close(descriptor)
    print(method, *contents, flush=True)
    invocation.return_value(GLib.Variant("(o)", ("/org/freedesktop/portal/desktop/request/1",)))


bus = Gio.bus_get_sync(Gio.BusType.SESSION)
for interface in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces:
    bus.register_object("/org/freedesktop/portal/desktop", interface, call, None, None)
Gio.bus_own_name_on_connection(bus, "org.freedesktop.portal.Desktop", Gio.BusNameOwnerFlags.NONE,
                               lambda *_: print("ready", flush=True), None)
GLib.MainLoop().run()
