internal import Toolkit
internal import Translation

/// A command of a key.
nonisolated enum Command: Sendable {
    case left, right, up, down, pageUp, pageDown, first, last
    case previous, next, open, back, escape
    case like, information, download, copy, copyLink, trash, menu
    case select, selectRange, selectAll, pause, slideshow, search, months, closeWindow
    case preferences, shortcuts, help, about
    case zoomIn, zoomOut, showWhole, showPixels, rotateRight, rotateLeft, fullScreen
}

/// The keys of a part of the window, which the program, its help and its manual page use.
nonisolated enum Shortcuts: CaseIterable, Sendable {
    case grid, photo, everywhere

    /// The keys as users read them, with their effects.
    var help: KeyValuePairs<String, String> {
        switch self {
        case .grid:
            [
                tr("Arrow keys"): tr("Move to another photo."),
                tr("Page Up, Page Down"): tr("Move by the height of the window."),
                // Translators: the names of keys
                tr("Home, End"):
                    tr(
                        "Move to the first or last photo. At a service, End loads at most 600 more photos."
                    ),
                // Translators: the name of a key
                tr("Enter"): tr("Open the photo."),
                tr("Space, Shift+Space"):
                    tr(
                        "Select the photo, or all photos up to it. A click with Control or Shift does the same."
                    ),
                tr("Control+A"): tr("Select all loaded photos."),
                // Translators: the name of a key
                tr("Escape"): tr("End the selection."),
                "l": tr("Like or unlike the photo."),
                // Translators: the name of a key
                tr("Delete"): tr("Move a photo on this computer to the trash."),
                tr("Menu, Shift+F10"): tr("Open the menu of the photo."),
            ]
        case .photo:
            [
                // Translators: the names of keys
                tr("Left, Right"):
                    tr(
                        "Show the previous or next photo; with a zoomed photo, move it. With Control, always another photo."
                    ),
                tr("Page Up, Page Down"):
                    tr(
                        "Show the previous or next photo. The mouse buttons back and forward do the same."
                    ),
                // Translators: the names of keys
                tr("Home, End"): tr("Show the first or last photo."),
                tr("+, -, Control++, Control+-"): tr("Zoom in or out."),
                tr("0, Control+0"): tr("Show the whole photo."),
                "1": tr("Show one pixel of the photo per pixel of the screen, or the whole photo."),
                "r, R": tr("Rotate to the right or left."),
                "l": tr("Like or unlike the photo."),
                "i": tr("Show or hide information."),
                "f, F11": tr("Switch full screen on or off."),
                tr("Control+S"):
                    tr("Download the photo, or save a copy of a photo on this computer."),
                tr("Control+C"):
                    tr(
                        "Copy the picture, with at most 4,096 pixels on a side; in the information, the selected text."
                    ),
                tr("Control+Shift+C"): tr("Copy the link of the photo."),
                tr("Escape, Backspace"): tr("Return to the photos."),
                // Translators: the name of a key
                tr("Space"): tr("Show the next photo; in the slideshow, pause or continue it."),
                // Translators: the name of a key
                tr("Delete"): tr("Move a photo on this computer to the trash."),
                tr("Menu, Shift+F10"): tr("Open the menu of the photo."),
            ]
        case .everywhere:
            [
                "F1": tr("Open this manual page."),
                tr("Control+F"):
                    tr(
                        "Search at the service, or in the titles, authors, albums, cameras and months of the photos."
                    ),
                tr("Control+G"): tr("Go to a month of a source that is ordered by date."),
                "F5": tr("Show the photos one after another in full screen."),
                "F10": tr("Open the main menu."),
                tr("Control+Comma"): tr("Open the preferences."),
                tr("Control+?"): tr("Show the keys."),
                tr("Control+W"): tr("Close the window."),
                tr("Control+Q"): tr("End the program."),
            ]
        }
    }

    /// The commands by the name of the key with its modifiers.
    private static let commands: [Shortcuts: [String: Command]] = [
        .grid: [
            "Left": .left, "Right": .right, "Up": .up, "Down": .down, "Page_Up": .pageUp,
            "Page_Down": .pageDown, "Home": .first, "End": .last, "Return": .open,
            "KP_Enter": .open, "space": .select, "Shift+space": .selectRange,
            "Control+a": .selectAll, "Escape": .escape, "l": .like, "Delete": .trash, "Menu": .menu,
            "Shift+F10": .menu,
        ],
        .photo: [
            "Left": .left, "Right": .right, "Control+Left": .previous, "Control+Right": .next,
            "Up": .up, "Down": .down, "Page_Up": .previous, "Page_Down": .next, "Home": .first,
            "End": .last, "plus": .zoomIn, "equal": .zoomIn, "KP_Add": .zoomIn, "minus": .zoomOut,
            "KP_Subtract": .zoomOut, "0": .showWhole, "KP_0": .showWhole, "1": .showPixels,
            "KP_1": .showPixels, "r": .rotateRight, "R": .rotateLeft, "l": .like,
            "i": .information, "f": .fullScreen, "F11": .fullScreen, "Control+s": .download,
            "Control+c": .copy, "Control+Shift+C": .copyLink, "Control+plus": .zoomIn,
            "Control+equal": .zoomIn, "Control+KP_Add": .zoomIn, "Control+minus": .zoomOut,
            "Control+KP_Subtract": .zoomOut, "Control+0": .showWhole, "Control+KP_0": .showWhole,
            "Escape": .escape, "BackSpace": .back, "space": .pause,
            "Delete": .trash, "Menu": .menu, "Shift+F10": .menu,
        ],
        .everywhere: [
            "F1": .help, "Control+f": .search, "Control+g": .months, "F5": .slideshow,
            "F10": .menu, "Control+comma": .preferences, "Control+question": .shortcuts,
            "Control+w": .closeWindow,
        ],
    ]

    /// Returns the command of a key with its modifiers; nil if it has none.
    func command(_ key: String) -> Command? { Self.commands[self]?[key] }

    /// Shows the table of keys.
    @MainActor
    static func showHelp(_ parent: Window) {
        let dialog = Dialog(parent, title: tr("Keyboard shortcuts"), width: 560, height: 640)
        let titles = [tr("In the grid of photos"), tr("In a photo"), tr("In all pages")]
        for (shortcuts, title) in zip(allCases, titles) {
            let group = RowGroup(title)
            for (keys, text) in shortcuts.help {
                let row = ActionRow(text)
                let caps = Box(.vertical, spacing: 4).aligned(.end, .center).margins(6)
                for key in keys.split(separator: ", ") {
                    caps.append(Label("\(key)").styled("key", "caption").aligned(.end, .center))
                }
                row.addSuffix(caps)
                row.setAccessibleName("\(keys), \(text)")
                group.add(row: row)
            }
            dialog.content.append(group)
        }
        dialog.present()
    }
}
