"""The widgets of programs on the accessibility bus.

Source: the interfaces org.a11y.atspi of at-spi2-core 2.46; gtk/a11y/gtkatspicache.c of GTK 4.8. The library of at-spi2-core
makes several calls for each widget of a search. GTK returns all widgets that a client has seen in one.
"""
import collections

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib  # noqa: E402

Error = GLib.GError
ROOT = "/org/a11y/atspi/accessible/root"
LIMIT_MILLISECONDS = 30000
Extents = collections.namedtuple("Extents", "x y width height")


class Widget:
    """A widget as it was when it was found. Methods ask the program."""

    def __init__(self, program, path, children, name, role, description, states):
        self.program, self.path, self.child_count = program, path, children
        self.name, self.role, self.description, self.states = name, role, description, states

    def call(self, interface, method, signature=None, *arguments):
        return self.program.call(self.path, f"org.a11y.atspi.{interface}", method, signature, *arguments)

    def get(self, interface, name):
        return self.program.get(self.path, interface, name)

    def get_name(self):
        return self.get("Accessible", "Name")

    def get_description(self):
        return self.get("Accessible", "Description")

    def was(self, state):
        """Returns whether the widget had a state when it was found, by its name in Atspi.StateType."""
        return bool(self.states >> getattr(Atspi.StateType, state) & 1)

    def has(self, state):
        """Returns whether the widget has a state."""
        low, high = self.call("Accessible", "GetState")
        self.states = low | high << 32
        return self.was(state)

    def extents(self):
        """Returns the place in the window, in pixels."""
        place = Extents(*self.program.extents(self.path))
        if IS_NEW:
            # GTK 4.18 subtracts the border of a window twice; the place of the window itself shows it once.
            x, y, _, _ = self.program.extents(self.program.window(self.path))
            place = place._replace(x=place.x - 2 * x, y=place.y - 2 * y)
        return place

    def act(self):
        return self.get("Action", "NActions") > 0 and self.call("Action", "DoAction", "(i)", 0)

    def text(self):
        return self.call("Text", "GetText", "(ii)", 0, self.get("Text", "CharacterCount"))

    def set_text(self, text):
        return self.call("EditableText", "SetTextContents", "(s)", text)

    def selection_count(self):
        return self.call("Text", "GetNSelections")

    def value(self):
        return self.get("Value", "CurrentValue")


# True in Debian 13, where GTK 4.18 names buttons once.
IS_NEW = Atspi.role_get_name(Atspi.Role.PUSH_BUTTON) == "button"


def role_name(role):
    """Returns the name of a role, which at-spi2-core 2.56 changed for buttons."""
    name = Atspi.role_get_name(Atspi.Role(role))
    return "push button" if name == "button" else name


class Program:
    def __init__(self, connection, owner):
        self.connection, self.owner = connection, owner
        self.found = {}

    def call(self, path, interface, method, signature=None, *arguments):
        """Makes a call, and returns its value, or a tuple of its values."""
        parameters = GLib.Variant(signature, arguments) if signature else None
        values = self.connection.call_sync(self.owner, path, interface, method, parameters, None,
                                           Gio.DBusCallFlags.NONE, LIMIT_MILLISECONDS, None).unpack()
        return values[0] if len(values) == 1 else values

    def get(self, path, interface, name):
        """Returns a property."""
        return self.call(path, "org.freedesktop.DBus.Properties", "Get", "(ss)", f"org.a11y.atspi.{interface}", name)

    def extents(self, path):
        return self.call(path, "org.a11y.atspi.Component", "GetExtents", "(u)", Atspi.CoordType.WINDOW)

    def window(self, path):
        """Returns the path of the window of a widget."""
        while (parent := self.get(path, "Accessible", "Parent")[1]) != ROOT:
            path = parent
        return path

    def windows(self):
        """Returns the windows, and the children of each visible widget by its path."""
        # A widget is known once its parent was asked for its children.
        for _ in range(5):
            children = self.children([ROOT])
            level = children[ROOT]
            while level:
                below = self.children([path for path in level if self.has_visible_children(path)])
                children |= below
                level = [path for paths in below.values() for path in paths]
            # The names and states are read after the tree. The parents in this answer differ from the tree at the pages of
            # a GtkStack.
            self.found = self.items()
            if all(path in self.found and (path in children or not self.has_visible_children(path))
                   for paths in children.values() for path in paths):
                break
        tree = {parent: [self.found[path] for path in paths if path in self.found]
                for parent, paths in children.items()}
        return tree.pop(ROOT), tree

    def items(self):
        """Returns the known widgets by their paths."""
        items = self.call("/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems")
        return {path: Widget(self, path, count, name, role_name(role), description,
                             states[0] | states[1] << 32)
                for (_, path), _, _, _, count, _, name, role, description, states in items}

    def has_visible_children(self, path):
        """Returns whether a widget is visible and has children, as far as it is known."""
        widget = self.found.get(path)
        return widget is None or widget.was("VISIBLE") and widget.child_count > 0

    def children(self, parents):
        """Returns the paths of the children of widgets; none for a widget that has left."""
        paths, waiting = {}, set(parents)

        def end(connection, result, parent):
            try:
                paths[parent] = [path for _, path in connection.call_finish(result).unpack()[0]]
            except Error:
                paths[parent] = []
            waiting.discard(parent)

        for parent in parents:
            self.connection.call(self.owner, parent, "org.a11y.atspi.Accessible", "GetChildren", None, None,
                                 Gio.DBusCallFlags.NONE, LIMIT_MILLISECONDS, None, end, parent)
        while waiting:
            GLib.MainContext.default().iteration(True)
        return paths


class Desktop:
    """The programs on the accessibility bus of this process."""

    def __init__(self):
        address = Gio.bus_get_sync(Gio.BusType.SESSION).call_sync(
            "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress", None, None, Gio.DBusCallFlags.NONE,
            LIMIT_MILLISECONDS, None).unpack()[0]
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.connection = Gio.DBusConnection.new_for_address_sync(address, flags)
        self.registry = Program(self.connection, "org.a11y.atspi.Registry")
        self.programs = {}

    def named(self, name):
        """Returns the programs with a name."""
        for owner, _ in self.registry.call(ROOT, "org.a11y.atspi.Accessible", "GetChildren"):
            # Programs may end at any time.
            try:
                if owner not in self.programs:
                    self.programs[owner] = Program(self.connection, owner)
                program = self.programs[owner]
                if program.get(ROOT, "Accessible", "Name") == name:
                    yield program
            except Error:
                continue
