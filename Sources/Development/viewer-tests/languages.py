"""A test of the window in another language: a catalog whose texts are twice as long, and written from right to left."""
import gettext
import json
import re
import subprocess

from appearance import fits, narrow
from screen import Screen
from session import TOP, until

LANGUAGE = "ar"
START, END = "⟦", "⟧"
# Names of keys, with a mark at the start or the end of their list
KEYS = re.compile(f"{START}?((Page|Up|Down|Home|End|Space|Shift|Menu|Left|Right|Control|Escape|Backspace|F?[0-9]+|[-+ ])+){END}?")
# Names, units and the marks of keys, which are the same in all languages.
SAME = ["Ctrl+", "Shift+", "Return", "Delete", "Comma", "Image Feed", "imagefeed", "image/jpeg", ".jpg", "kB", "F11", "F10", "F5", "F1"]
# Texts of GTK and libadwaita, whose catalogs are not installed or have no Arabic.
FOREIGN = {"Minimize the window", "Maximize the window", "Close the window", "Avatar of"}


def doubled(text):
    """Returns a text twice between marks. The second one has no letter for the keyboard."""
    line = text.rstrip("\n")
    return START + line + " " + line.replace("_", "") + END + text[len(line):]


def write_catalog(session):
    """Writes a catalog of doubled texts."""
    template = (TOP / "dist/translations/imagefeed.pot").read_text()
    template = template.replace("nplurals=INTEGER; plural=EXPRESSION", "nplurals=2; plural=n != 1")
    english = session.folder / "english.mo"
    copied = subprocess.run(["msgen", "-"], input=template, text=True, capture_output=True, check=True).stdout
    subprocess.run(["msgfmt", "-o", str(english), "-"], input=copied, text=True, check=True)
    with open(english, "rb") as file:
        texts = gettext.GNUTranslations(file)._catalog
    entries = [("", "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=n != 1;\n")]
    entries += [(key, doubled(key)) for key in texts if isinstance(key, str) and key and "\x04" not in key]
    lines = [f"msgid {json.dumps(key, ensure_ascii=False)}\nmsgstr {json.dumps(text, ensure_ascii=False)}\n"
             for key, text in entries]
    for key in {key[0] for key in texts if isinstance(key, tuple)}:
        singular, plural = texts[key, 0], texts[key, 1]
        lines.append("".join(f"{name} {json.dumps(text, ensure_ascii=False)}\n" for name, text in (
            ("msgid", singular), ("msgid_plural", plural), ("msgstr[0]", doubled(singular)),
            ("msgstr[1]", doubled(plural)))))
    folder = session.folder / f"catalogs/{LANGUAGE}/LC_MESSAGES"
    folder.mkdir(parents=True)
    subprocess.run(["msgfmt", "-o", str(folder / "imagefeed.mo"), "-"], input="\n".join(lines), text=True, check=True)


def strings(value):
    """Returns the texts in a value of JSON."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in items for text in strings(item)]


class Checker:
    def __init__(self, session, screen):
        self.session, self.screen = session, screen
        self.problems = []
        found = [text for command in ("accounts", "providers", "feed", "sources")
                 for text in strings(json.loads(session.control(command, "--json")))]
        # The longest first: one may be a part of another.
        self.data = sorted({text for text in found + [str(session.pictures)] if len(text) > 1} | set(SAME),
                           key=len, reverse=True)
        import gi
        gi.require_version("Pango", "1.0")
        gi.require_version("PangoCairo", "1.0")
        from gi.repository import Pango, PangoCairo
        self.layout = Pango.Layout.new(PangoCairo.FontMap.get_default().create_context())
        # The font of GTK without settings
        self.layout.set_font_description(Pango.FontDescription.from_string("Sans 10"))

    def untranslated(self, text):
        """Returns the part of a text that is neither translated nor data."""
        # The class of a widget without a name.
        if re.fullmatch("(Gtk|Adw)[A-Z][A-Za-z]+", text):
            return ""
        for known in self.data:
            text = text.replace(known, "")
        while START in text:
            shorter = re.sub(f"{START}[^{START}{END}]*{END}", "", text)
            if shorter == text:
                break
            text = shorter
        return text if re.search("[A-Za-z]{2}", text) and text.strip() not in FOREIGN else ""

    def is_cut(self, label):
        """Returns true if a label of translated text has much less place than the text takes."""
        text = label.name
        place = label.extents()
        if not text.startswith(START) or place.width <= 1:
            return False
        # The catalog doubles dates, which no language does; on the narrow cards they have just enough place.
        if re.search("20[0-9]{2}.*20[0-9]{2}", text):
            return False
        self.layout.set_text(text, -1)
        width, height = self.layout.get_pixel_size()
        # Captions have 82 % of the size.
        return place.width * round(place.height / (0.82 * height)) < 0.75 * width

    def page(self, name):
        """Checks the texts that are on the screen."""
        self.session.screenshot(f"languages-{name}")
        wrong, cut = {}, set()
        for widget in self.screen.widgets():
            texts = [widget.name, widget.description]
            try:
                is_cut = widget.role == "label" and self.is_cut(widget)
            except self.screen.error:
                continue
            # The keys of a translated list are on keycaps of their own; the name of the row has the whole list.
            if name == "shortcuts" and widget.role == "label":
                texts = [text for text in texts if not KEYS.fullmatch(text)]
            wrong |= {text: widget.role for text in texts if self.untranslated(text)}
            if is_cut:
                cut.add(texts[0])
        self.problems += [f"{name}: {text!r} of a {role} is not translated" for text, role in wrong.items()]
        self.problems += [f"{name}: {text!r} is cut" for text in cut]

    def finish(self):
        assert not self.problems, "\n".join(self.problems)


def languages(start, step):
    session = start(photos=6)
    write_catalog(session)
    locales = session.folder / "locales"
    locales.mkdir()
    subprocess.run(["localedef", "-i", "ar_EG", "-f", "UTF-8", str(locales / "ar_EG.UTF-8")], check=True)
    session.start_daemon()
    session.log_in()
    screen = Screen()
    check = Checker(session, screen)
    # The daemon remains in English, so that its texts are data.
    session.environment = {**session.environment, "LOCPATH": str(locales), "LC_ALL": "ar_EG.UTF-8",
                           "TEXTDOMAINDIR": str(session.folder / "catalogs")}
    session.start_window()

    def leave(text):
        """Closes the dialog or menu that opened last."""
        def attempt():
            if screen.all(text):
                screen.mouse("mousemove", 180, 60, "key", "Escape")
            return not screen.all(text)
        until(attempt, f"the end of {text!r}")

    screen.wait(starts="Photo 000", role="list item")
    check.page("feed")
    screen.menu_opens(doubled("Main menu"))
    screen.wait(doubled("Preferences"), "menu item")
    check.page("main-menu")
    leave(doubled("Preferences"))
    screen.press(starts="Photo 000")
    screen.press(doubled("Information"))
    screen.wait(doubled("File size"), "label")
    check.page("photo")
    screen.menu_opens(doubled("More actions"))
    screen.wait(doubled("Rotate left"), "menu item")
    check.page("photo-menu")
    leave(doubled("Rotate left"))
    screen.key("Escape")
    screen.wait(starts="Photo 001", role="list item")
    check.finish()
    step("the texts of the feed and of the photo are translated")

    screen.key("ctrl+comma")
    screen.wait(doubled("Thumbnails"), "combo box")
    screen.wait(doubled("Look for new photos"), "combo box")
    check.page("preferences")
    leave(doubled("Thumbnails"))
    screen.key("ctrl+question")
    screen.wait(starts=doubled("Arrow keys"))
    check.page("shortcuts")
    leave(doubled("Move to another photo."))
    screen.press(doubled("Log in to another account"))
    screen.wait(starts="Nextcloud", role="list item")
    check.page("providers")
    screen.activate(starts="Nextcloud")
    screen.wait(doubled("Server"), "text")
    check.page("login")
    leave(doubled("Server"))
    screen.press(doubled("Profile of {account}").replace("{account}", "ada"))
    screen.wait(doubled("Label"), "text")
    check.page("profile")
    check.finish()
    step("the texts of the dialogs are translated")

    narrow(screen)
    check.page("narrow-feed")
    screen.press(doubled("Back to the sources"))
    screen.wait(doubled("Profile of {account}").replace("{account}", "ada"), "push button")
    fits(screen)
    check.page("narrow-sources")
    screen.press(doubled("Log in to another account"))
    screen.wait(starts="Nextcloud", role="list item")
    fits(screen)
    check.page("narrow-providers")
    leave(doubled("Choose a service. You can log in to any number of accounts."))
    screen.mouse("mousemove", 180, 60, "key", "ctrl+comma")
    screen.wait(doubled("Look for new photos"), "combo box")
    fits(screen)
    check.page("narrow-preferences")
    leave(doubled("Thumbnails"))
    check.finish()
    step("long texts fit into a narrow window")


def german(start, step):
    count = 1200
    session = start(photos=count, services=True)
    subprocess.run([str(TOP / "dist/translate"), "--catalogs", str(session.folder / "catalogs")], check=True)
    locales = session.folder / "locales"
    locales.mkdir()
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", str(locales / "de_DE.UTF-8")], check=True)
    session.environment |= {"LOCPATH": str(locales), "LC_ALL": "de_DE.UTF-8",
                            "TEXTDOMAINDIR": str(session.folder / "catalogs")}
    session.start_daemon()
    session.log_in()
    screen = Screen()
    session.start_window()
    screen.wait("Alle Fotos, 1.200 Fotos", "list item")
    screen.wait("1.200", "label")
    screen.wait("Photo 000", "list item")
    screen.press("Photo 000")
    screen.wait("1 von 1.200", "label")
    step("numbers have the separators of the locale")
    screen.key("Escape")
    screen.wait(starts="ada, Fotos auf diesem Rechner", role="list item")
    screen.press("Profil von ada")
    screen.wait("Fotos auf diesem Rechner", "label")
    session.screenshot("german-profile")
    screen.press("Bei einem weiteren Konto anmelden")
    screen.wait(starts="Fotos auf diesem Rechner, ", role="list item")
    screen.wait(starts="Bild des Tages, ", role="list item")
    session.screenshot("german-services")
    step("the names of the providers are translated")


TESTS = [languages, german]
