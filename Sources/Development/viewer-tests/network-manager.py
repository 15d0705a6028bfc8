#!/usr/bin/python3
"""A simulated NetworkManager on the system bus. Each line of the input is a state; ends with its input.

Source: NetworkManager D-Bus reference, `org.freedesktop.NetworkManager`.
"""
import sys

from gi.repository import Gio, GLib

NAME = "org.freedesktop.NetworkManager"
PATH = "/org/freedesktop/NetworkManager"
INTERFACE = """<node><interface name="org.freedesktop.NetworkManager">
<property name="State" type="u" access="read"/>
<property name="Connectivity" type="u" access="read"/>
<property name="Metered" type="u" access="read"/>
<property name="PrimaryConnection" type="o" access="read"/>
</interface></node>"""
# NM_STATE_DISCONNECTED and NM_CONNECTIVITY_NONE, NM_STATE_CONNECTED_GLOBAL and NM_CONNECTIVITY_FULL.
STATES = {"offline": (20, 1), "online": (70, 4)}
state = STATES["online"]


def properties():
    return {"State": GLib.Variant("u", state[0]), "Connectivity": GLib.Variant("u", state[1]),
            "Metered": GLib.Variant("u", 4), "PrimaryConnection": GLib.Variant("o", "/")}


def receive(channel, _):
    global state
    line = sys.stdin.readline()
    if not line:
        loop.quit()
        return False
    state = STATES[line.strip()]
    bus.emit_signal(None, PATH, "org.freedesktop.DBus.Properties", "PropertiesChanged",
                    GLib.Variant("(sa{sv}as)", (NAME, properties(), [])))
    print("ok", flush=True)
    return True


bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
bus.register_object(PATH, Gio.DBusNodeInfo.new_for_xml(INTERFACE).interfaces[0], None,
                    lambda *call: properties()[call[4]], None)
Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, lambda *_: print("ok", flush=True), None)
loop = GLib.MainLoop()
GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, receive)
loop.run()
