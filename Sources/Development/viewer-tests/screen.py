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


def choose_path(session, screen, path, is_chosen):
    """Chooses a file or folder in the open dialog, and waits for the effect."""
    button = screen.until(lambda: screen.buttons_of_toolkit("Choose"), "the dialog")[0]
    area = screen.until(lambda: button.extents().x > 300 and button.extents(), "the place of the dialog")
    # The list, which is above the button, is not accessible in GTK 4.8. A slash in it opens a field, whose completion would
    # mix with a path that is typed.
    screen.mouse("mousemove", area.x // 2, area.y // 2, "click", 1, "type", "/")

    def enters():
        fields = [field for field in screen.all(role="text") if field.was("FOCUSED")]
        return fields and fields[-1].set_text(str(path))

    screen.until(enters, "the field for the path")
    session.screenshot("folder")
    screen.mouse("key", "Return")

    # A click while the dialog closes may leave GTK 4.8 in a state in which no click reaches the window any more.
    def chooses():
        buttons = screen.buttons_of_toolkit("Choose")
        for button in buttons:
            button.act()
        return not buttons and is_chosen()

    screen.until(chooses, "the chosen path")


class Screen:
    current = None

    def __init__(self):
        Screen.current = self
        # The library connects to the bus of the session, which this process has only now.
        import accessibility
        self.desktop, self.error, self.is_new = accessibility.Desktop(), accessibility.Error, accessibility.IS_NEW

    def until(self, condition, text):
        """Waits for a condition, which is not met while a widget leaves during its evaluation."""
        def attempt():
            try:
                return condition()
            except self.error:
                return None
        return until(attempt, text)

    # Search

    def trees(self):
        """Returns the windows of each program, and the children of each widget by its path."""
        for program in self.desktop.named("imagefeed"):
            try:
                yield program.windows()
            except self.error:
                continue

    def widgets(self):
        for windows, children in self.trees():
            for window in windows:
                yield from self.visible(window, children)

    def descendants(self, widget):
        _, children = widget.program.windows()
        yield from self.visible(widget, children)

    def visible(self, widget, children):
        """Returns a widget and its descendants, in their order. Hidden pages are not searched."""
        if widget.was("VISIBLE"):
            if widget.role == "menu item" and not widget.name:
                # In GTK 4.18, only the label of an entry has a name.
                labels = [child.name for child in children.get(widget.path, []) if child.name]
                widget.name = labels[0] if labels else ""
            yield widget
            for child in children.get(widget.path, []):
                yield from self.visible(child, children)

    def all(self, name=None, role=None, starts=None, contains=None):
        """Returns the widgets. The name of an item of a list may continue with facts after a comma."""
        return [
            widget for widget in self.widgets()
            if (name is None or widget.name == name or widget.name.startswith(f"{name}, ") and widget.role == "list item")
            and (starts is None or widget.name.startswith(starts))
            and (contains is None or contains.lower() in widget.name.lower()) and (role is None or widget.role == role)]

    def wait(self, name=None, role=None, starts=None, contains=None):
        return self.until(lambda: next(iter(self.all(name, role, starts, contains)), None),
                          f"the widget {name or starts or contains or role!r}")

    def wait_gone(self, name=None, role=None, starts=None, contains=None):
        self.until(lambda: not self.all(name, role, starts, contains),
                   f"the end of the widget {name or starts or contains!r}")

    def names(self, role):
        return [widget.name for widget in self.all(role=role)]

    def photos(self):
        """The names of the photos in the grid."""
        return [name.split(",")[0] for name in self.names("list item") if name.startswith("Photo ")]

    # Actions

    def press(self, name=None, starts=None, last=False):
        """Presses a button. A list may be rebuilt between the search and the press.

        The buttons of a photo or dialog follow those of the grid: `last` presses the last one."""
        def attempt():
            buttons = [widget for widget in self.all(name, starts=starts)
                       if widget.role in ("push button", "toggle button", "list item", "menu item")]
            for widget in reversed(buttons) if last else buttons:
                try:
                    if widget.was("SENSITIVE") and widget.act():
                        return True
                except self.error:
                    pass
            return False
        self.until(attempt, f"the button {name or starts!r}")

    def buttons_of_toolkit(self, name):
        """Returns the buttons of a dialog or message of GTK or libadwaita, whose name is their text twice in GTK 4.8."""
        return [button for button in self.all(role="push button")
                if button.name.replace("_", "") == (name if self.is_new else f"{name} {name}")]

    def press_of_adwaita(self, name):
        """Presses a button of a question or message of libadwaita."""
        def attempt():
            buttons = self.buttons_of_toolkit(name)
            # A question has the buttons of its wide and of its narrow form; only the visible ones react.
            for button in buttons:
                try:
                    button.act()
                except self.error:
                    pass
            return bool(buttons)
        self.until(attempt, f"the button {name!r} of libadwaita")

    def press_apply(self):
        """Presses the buttons that apply a text, and returns an empty list without one.

        Their text is the description in GTK 4.8, and the name in GTK 4.18."""
        return [button.act() for button in self.all(role="push button") if "Apply" in (button.name, button.description)]

    def menu(self, entry, button="More actions"):
        """Presses an entry of the menu, which is opened first."""
        def attempt():
            found = self.all(entry, "menu item")
            if not found and self.menu_opens(button):
                try:
                    # A second press would close the menu.
                    until(lambda: found.extend(self.all(entry, "menu item")) or found, "the menu", limit=5)
                except AssertionError:
                    pass
            return found and found[0].act()
        self.until(attempt, f"the menu entry {entry!r}")

    def menu_opens(self, name="More actions"):
        """Opens or closes the menu of a button. Returns true if the button reacts."""
        for button in self.all(name):
            for part in self.descendants(button):
                try:
                    if part.act():
                        return True
                except self.error:
                    pass
        return False

    def click(self, widget, times=1):
        """Clicks on a widget with the mouse. Without a window manager, windows are at the top left of the display."""
        area = widget.extents()
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
            if clicked and (not row or row.was("SELECTED")):
                return True
            if row and (not clicked or time.monotonic() - clicked > 5) and self.click(row):
                clicked = time.monotonic()
            return False
        self.until(attempt, f"the activation of the row {name or starts!r}")

    def type(self, name, text):
        """Replaces the text of a field of the dialog that opened last."""
        def attempt():
            fields = self.all(name, "text") + self.all(name, "password text")
            return fields and fields[-1].set_text(text)
        self.until(attempt, f"the text field {name!r}")

    def tree(self):
        """Returns the widgets as text."""
        return "\n".join(f"{widget.role}: {widget.name!r} {widget.description!r}" for widget in self.widgets()
                         if widget.name or widget.description)
