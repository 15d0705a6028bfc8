"""The widgets of the window, as a screen reader sees them."""
import subprocess
import time

from session import until


def open_samples(start, photos):
    """Starts a session with a local user and opens the window."""
    session = start(photos=photos)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    return session, screen


def open_unsplash(start, photos=0):
    """Starts a session with an account at the simulated Unsplash and opens the window."""
    session = start(photos=photos, services=True)
    session.start_daemon()
    session.log_in_to_unsplash()
    screen = Screen()
    session.start_window()
    return session, screen


class Screen:
    current = None

    def __init__(self):
        Screen.current = self
        import gi
        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi, GLib
        self.atspi, self.error = Atspi, GLib.GError
        Atspi.set_timeout(30000, 30000)
        # This program runs no event loop, which would update the cache.
        Atspi.get_desktop(0).set_cache_mask(Atspi.Cache.NONE)

    def until(self, condition, text):
        """Waits for a condition, which is not met while a widget leaves during its evaluation."""
        def attempt():
            try:
                return condition()
            except self.error:
                return None
        return until(attempt, text)

    # Search

    def widgets(self):
        desktop = self.atspi.get_desktop(0)
        for index in range(desktop.get_child_count()):
            # Programs may end at any time, too.
            try:
                program = desktop.get_child_at_index(index)
                if not program or program.get_name() != "imagefeed":
                    continue
                program.set_cache_mask(self.atspi.Cache.NONE)
            except self.error:
                continue
            yield from self.descendants(program)

    def descendants(self, widget):
        # Children may leave at any time, and hidden pages are not searched.
        try:
            if widget.get_role_name() != "application" and not self.has(widget, "VISIBLE"):
                return
            yield widget
            for index in range(widget.get_child_count()):
                child = widget.get_child_at_index(index)
                if child:
                    yield from self.descendants(child)
        except self.error:
            return

    def has(self, widget, state):
        return widget.get_state_set().contains(getattr(self.atspi.StateType, state))

    def all(self, name=None, role=None, starts=None, contains=None):
        """Returns the widgets. The name of an item of a list may continue with facts after a comma."""
        found = []
        for widget in self.widgets():
            try:
                text = widget.get_name() or ""
                if (name is None or text == name or text.startswith(f"{name}, ")
                        and widget.get_role_name() == "list item") and (starts is None or text.startswith(starts)) \
                        and (contains is None or contains.lower() in text.lower()) \
                        and (role is None or widget.get_role_name() == role):
                    found.append(widget)
            except self.error:
                continue
        return found

    def wait(self, name=None, role=None, starts=None, contains=None):
        return self.until(lambda: next(iter(self.all(name, role, starts, contains)), None),
                          f"the widget {name or starts or contains or role!r}")

    def wait_gone(self, name=None, role=None, starts=None, contains=None):
        self.until(lambda: not self.all(name, role, starts, contains),
                   f"the end of the widget {name or starts or contains!r}")

    def names(self, role):
        return [name for name in map(self.name, self.all(role=role)) if name is not None]

    def name(self, widget):
        """Returns the name of a widget; None if it has left since the search."""
        try:
            return widget.get_name()
        except self.error:
            return None

    def photos(self):
        """The names of the photos in the grid."""
        return [name.split(",")[0] for name in self.names("list item") if name.startswith("Photo ")]

    # Actions

    def act(self, widget):
        return self.atspi.Action.do_action(widget, 0)

    def press(self, name=None, starts=None, last=False):
        """Presses a button. A list may be rebuilt between the search and the press.

        The buttons of a photo or dialog follow those of the grid: `last` presses the last one."""
        def attempt():
            buttons = [widget for widget in self.all(name, starts=starts)
                       if widget.get_role_name() in ("push button", "toggle button", "list item")]
            for widget in reversed(buttons) if last else buttons:
                try:
                    if self.has(widget, "SENSITIVE") and self.act(widget):
                        return True
                except self.error:
                    pass
            return False
        self.until(attempt, f"the button {name or starts!r}")

    def press_of_adwaita(self, name):
        """Presses a button of a question or message of libadwaita, whose name is its text twice."""
        def attempt():
            buttons = [button for button in self.all(role="push button")
                       if (self.name(button) or "").replace("_", "") == f"{name} {name}"]
            # A question has the buttons of its wide and of its narrow form; only the visible ones react.
            for button in buttons:
                try:
                    self.act(button)
                except self.error:
                    pass
            return bool(buttons)
        self.until(attempt, f"the button {name!r} of libadwaita")

    def menu(self, entry, button="More actions"):
        """Presses an entry of the menu, which is opened first."""
        def attempt():
            for found in self.all(entry, "push button"):
                return self.act(found)
            self.menu_opens(button)
            return False
        self.until(attempt, f"the menu entry {entry!r}")

    def menu_opens(self, name="More actions"):
        """Opens or closes the menu of a button. Returns true if the button reacts."""
        for button in self.all(name):
            for part in self.descendants(button):
                try:
                    if self.atspi.Action.get_n_actions(part) and self.act(part):
                        return True
                except self.error:
                    pass
        return False

    def click(self, widget, times=1):
        """Clicks on a widget with the mouse. Without a window manager, windows are at the top left of the display."""
        area = self.atspi.Component.get_extents(widget, self.atspi.CoordType.WINDOW)
        if area.width <= 0 or area.height <= 0:
            return False
        self.mouse("mousemove", area.x + area.width // 2, area.y + area.height // 2, "click", "--repeat", times,
                   "--delay", 60, 1)
        return True

    def mouse(self, *words):
        subprocess.run(["xdotool", *[str(word) for word in words]], check=True)

    def key(self, name):
        self.mouse("mousemove", 700, 500, "key", name)

    def activate(self, name=None, starts=None):
        """Clicks on a row of a list, which has no action of the accessibility interface.

        A row may move between the search and the click, which is then repeated until the row is selected or left."""
        clicked = None

        def attempt():
            nonlocal clicked
            row = next(iter(self.all(name, "list item", starts)), None)
            if clicked and (not row or self.has(row, "SELECTED")):
                return True
            if row and (not clicked or time.monotonic() - clicked > 5) and self.click(row):
                clicked = time.monotonic()
            return False
        self.until(attempt, f"the activation of the row {name or starts!r}")

    def type(self, name, text):
        """Replaces the text of a field of the dialog that opened last."""
        def attempt():
            fields = self.all(name, "text") + self.all(name, "password text")
            return fields and self.atspi.EditableText.set_text_contents(fields[-1], text)
        self.until(attempt, f"the text field {name!r}")

    def tree(self):
        """Returns the widgets as text."""
        lines = []
        for widget in self.widgets():
            try:
                name, description = widget.get_name(), widget.get_description()
                if name or description:
                    lines.append(f"{widget.get_role_name()}: {name!r} {description!r}")
            except self.error:
                continue
        return "\n".join(lines)
