internal import BusAPI
internal import Toolkit

/// The menu of the window, with the commands that its keys have in all pages.
final class MainMenu {
    let button = MenuButton(icon: "open-menu-symbolic", tooltip: "Main menu")
    private let window: Window
    private let toasts: ToastArea

    init(_ window: Window, _ toasts: ToastArea) {
        self.window = window
        self.toasts = toasts
    }

    /// Adds the entries.
    ///
    /// - Parameter perform: Performs a command that is not one of this menu.
    func fill(_ perform: @escaping (Command) -> Void) {
        for (title, command) in [
            ("Search", Command.search), ("Slideshow", .slideshow), ("Preferences", .preferences),
            ("Keyboard shortcuts", .shortcuts), ("Help", .help), ("About Image Feed", .about),
        ] {
            button.menu.add(title) { [weak self] in
                if self?.show(command) == false { perform(command) }
            }
        }
    }

    /// Performs a command of this menu.
    ///
    /// - Returns: False if it is another one.
    func show(_ command: Command) -> Bool {
        switch command {
        case .menu: button.open()
        case .shortcuts: ShortcutsDialog.present(window)
        case .help:
            Application.open("man:imagefeed(1)", parent: window) { [toasts] in
                if $0 != nil { toasts.show("No program shows manual pages. Type: man imagefeed") }
            }
        case .about:
            AboutWindow.present(
                window, name: "Image Feed", icon: "org.imagefeed.Viewer", version: programVersion,
                website: homepage,
                comments: "Photos from your disk and from services")
        default: return false
        }
        return true
    }
}
