internal import DBus
internal import Engine

/// What a notification service can do, of what matters to us.
nonisolated struct DesktopAbilities: Hashable {
    let showsBodies: Bool
    let readsMarkup: Bool
    let hasActions: Bool

    /// - Parameter names: What `GetCapabilities` gave.
    init(_ names: [String]) {
        showsBodies = names.contains("body")
        readsMarkup = names.contains("body-markup")
        hasActions = names.contains("actions")
    }
}

/// A notice in the terms of the notification service that is there.
///
/// Source: Desktop Notifications Specification 1.2, `Notify`.
nonisolated struct DesktopNotification {
    /// As many bytes are shown at most: a service may have put anything into its words.
    private static let longestText = 600

    let summary: String
    let body: String
    /// Keys and labels in turn.
    let actions: [String]
    let hints: [String: Variant]
    /// A name of the icon theme.
    let icon = "dialog-warning"

    init(_ notice: NotificationContent, _ abilities: DesktopAbilities) {
        actions = abilities.hasActions ? notice.actions.flatMap { [$0.rawValue, $0.label] } : []
        var text = Self.shortened(notice.text)
        if !abilities.hasActions, !notice.advice.isEmpty { text += " \(notice.advice)" }
        if abilities.showsBodies {
            summary = notice.title
            body = abilities.readsMarkup ? Self.escaped(text) : text
        } else {
            summary = "\(notice.title): \(Self.onOneLine(text))"
            body = ""
        }
        hints = [
            "urgency": .byte(1),
            "category": .string(notice.category),
            "desktop-entry": .string("org.imagefeed.ImageFeed1"),
        ]
    }

    /// Text that stands for itself where markup is read.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            default: escaped.append(character)
            }
        }
        return escaped
    }

    private static func shortened(_ text: String) -> String {
        // Lines end where we end them; other control characters, and a NUL above all, are for nobody.
        var scalars = String.UnicodeScalarView()
        var bytes = 0
        for scalar in text.unicodeScalars where scalar == "\n" || !isControl(scalar) {
            bytes += UTF8.width(scalar)
            guard bytes <= longestText else { return String(scalars) + "…" }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }

    private static func onOneLine(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: " ")
    }
}
