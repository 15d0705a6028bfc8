internal import Toolkit

/// A command of a key.
nonisolated enum Command: Sendable {
    case left, right, up, down, pageUp, pageDown, first, last
    case previous, next, open, back, escape
    case like, information, download, copyLink, trash, menu
    case select, selectRange, pause, slideshow, search, months, closeWindow, preferences, shortcuts
    case help, about
    case zoomIn, zoomOut, showWhole, showPixels, rotateRight, rotateLeft, fullScreen
}

/// A row of the table of keys, which the program, its help and its manual page use.
nonisolated struct Shortcut: Sendable {
    nonisolated enum Place: String, CaseIterable, Sendable {
        case grid = "In the grid of photos"
        case photo = "In a photo"
        case everywhere = "In all pages"
    }

    let place: Place
    /// The keys as users read them.
    let label: String
    let text: String
    /// The commands by the name of the key with its modifiers.
    let commands: [String: Command]

    init(_ place: Place, _ label: String, _ text: String, _ commands: [String: Command] = [:]) {
        self.place = place
        self.label = label
        self.text = text
        self.commands = commands
    }

    static let all = [
        Shortcut(
            .grid, "Arrow keys", "Move to another photo.",
            ["Left": .left, "Right": .right, "Up": .up, "Down": .down]),
        Shortcut(
            .grid, "Page Up, Page Down", "Move by the height of the window.",
            ["Page_Up": .pageUp, "Page_Down": .pageDown]),
        Shortcut(
            .grid, "Home, End",
            "Move to the first or last photo. At a service, End loads at most 600 more photos.",
            ["Home": .first, "End": .last]),
        Shortcut(
            .grid, "Enter", "Open the photo.", ["Return": .open, "KP_Enter": .open]),
        Shortcut(
            .grid, "Space, Shift+Space",
            "Select the photo, or all photos up to it. A click with Control or Shift does the same.",
            ["space": .select, "Shift+space": .selectRange]),
        Shortcut(.grid, "Escape", "End the selection.", ["Escape": .escape]),
        Shortcut(.grid, "l", "Like or unlike the photo.", ["l": .like]),
        Shortcut(
            .grid, "Delete", "Move a photo on this computer to the trash.", ["Delete": .trash]),
        Shortcut(
            .grid, "Menu, Shift+F10", "Open the menu of the photo.",
            ["Menu": .menu, "Shift+F10": .menu]),
        Shortcut(
            .photo, "Left, Right",
            "Show the previous or next photo; with a zoomed photo, move it. With Control, always another photo.",
            [
                "Left": .left, "Right": .right, "Control+Left": .previous, "Control+Right": .next,
                "Up": .up, "Down": .down,
            ]),
        Shortcut(
            .photo, "Page Up, Page Down", "Show the previous or next photo.",
            ["Page_Up": .previous, "Page_Down": .next]),
        Shortcut(
            .photo, "Home, End", "Show the first or last photo.", ["Home": .first, "End": .last]),
        Shortcut(
            .photo, "+, -", "Zoom in or out.",
            [
                "plus": .zoomIn, "equal": .zoomIn, "KP_Add": .zoomIn, "minus": .zoomOut,
                "KP_Subtract": .zoomOut,
            ]),
        Shortcut(.photo, "0", "Show the whole photo.", ["0": .showWhole, "KP_0": .showWhole]),
        Shortcut(
            .photo, "1", "Show one pixel of the photo per pixel of the screen, or the whole photo.",
            ["1": .showPixels, "KP_1": .showPixels]),
        Shortcut(
            .photo, "r, R", "Rotate to the right or left.", ["r": .rotateRight, "R": .rotateLeft]),
        Shortcut(.photo, "l", "Like or unlike the photo.", ["l": .like]),
        Shortcut(.photo, "i", "Show or hide information.", ["i": .information]),
        Shortcut(
            .photo, "f, F11", "Switch full screen on or off.",
            ["f": .fullScreen, "F11": .fullScreen]),
        Shortcut(
            .photo, "Control+S", "Download the photo, or save a copy of a photo on this computer.",
            ["Control+s": .download]),
        Shortcut(
            .photo, "Control+C",
            "Copy the selected information, or the link of the photo if nothing is selected.",
            ["Control+c": .copyLink]),
        Shortcut(
            .photo, "Escape, Backspace", "Return to the photos.",
            ["Escape": .escape, "BackSpace": .back]),
        Shortcut(
            .photo, "Space", "Pause or continue the slideshow in full screen.", ["space": .pause]),
        Shortcut(
            .photo, "Delete", "Move a photo on this computer to the trash.", ["Delete": .trash]),
        Shortcut(
            .photo, "Menu, Shift+F10", "Open the menu of the photo.",
            ["Menu": .menu, "Shift+F10": .menu]),
        Shortcut(.everywhere, "F1", "Open this manual page.", ["F1": .help]),
        Shortcut(
            .everywhere, "Control+F",
            "Search at the service, or in the titles, authors, albums, cameras and months of the photos.",
            ["Control+f": .search]),
        Shortcut(
            .everywhere, "Control+G", "Go to a month of a source that is ordered by date.",
            ["Control+g": .months]),
        Shortcut(
            .everywhere, "F5", "Show the photos one after another in full screen.",
            ["F5": .slideshow]),
        Shortcut(.everywhere, "F10", "Open the main menu.", ["F10": .menu]),
        Shortcut(
            .everywhere, "Control+Comma", "Open the preferences.",
            ["Control+comma": .preferences]),
        Shortcut(.everywhere, "Control+?", "Show the keys.", ["Control+question": .shortcuts]),
        Shortcut(.everywhere, "Control+W", "Close the window.", ["Control+w": .closeWindow]),
        Shortcut(.everywhere, "Control+Q", "End the program."),
    ]

    private static let commands = Dictionary(
        grouping: all, by: \.place
    ).mapValues { rows in
        rows.reduce(into: [:]) { $0.merge($1.commands) { first, _ in first } }
    }

    /// Returns the command of a key with its modifiers; nil if it has none.
    static func command(_ key: String, in place: Place) -> Command? { commands[place]?[key] }
}
