internal import DBus
internal import EngineCore
internal import ProviderKit
internal import Translation

/// A notification in the form that a notification service supports.
///
/// Source: Desktop Notifications Specification 1.2, `Notify`.
nonisolated extension NotificationContent {
    /// The limit of the text in bytes. The text may come from a service.
    private static let maximumTextBytes = 600

    /// Returns the texts, and the keys and labels of the actions, alternating.
    ///
    /// - Parameter capabilities: The result of `GetCapabilities`.
    /// - Returns: The arguments of `Notify`.
    func form(_ capabilities: [String]) -> (summary: String, body: String, actions: [String]) {
        let hasActions = capabilities.contains("actions")
        let actions = hasActions ? self.actions.flatMap { [$0.rawValue, $0.label] } : []
        var text = Self.shortened(self.text)
        for remedy in remedies where !hasActions || remedy.needsTerminal {
            if let command = remedy.command {
                text += " " + tr("Run “{command}”.", ["command": command])
            }
        }
        guard capabilities.contains("body") else {
            let line = text.split(separator: "\n").joined(separator: " ")
            return ("\(title): \(line)", "", actions)
        }
        return (title, capabilities.contains("body-markup") ? Self.escaped(text) : text, actions)
    }

    var hints: [String: Variant] {
        [
            "urgency": .byte(1),
            "category": .string(category),
            "desktop-entry": .string("org.imagefeed.ImageFeed1"),
        ]
    }

    /// Returns text with escaped markup characters.
    private static func escaped(_ text: String) -> String {
        // The ampersand is first, because the other references contain it.
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    private static func shortened(_ text: String) -> String {
        // Line breaks are kept. Other control characters are removed; libdbus rejects NUL.
        var scalars = String.UnicodeScalarView()
        var bytes = 0
        for scalar in text.unicodeScalars
        where scalar == "\n" || scalar.properties.generalCategory != .control {
            bytes += UTF8.width(scalar)
            guard bytes <= maximumTextBytes else { return String(scalars) + "…" }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}

nonisolated extension IssueRemedy {
    /// The command line that performs the action; nil if there is none.
    var command: String? {
        switch (remedy, target) {
        case (.login, .account(let id, let provider)):
            "imagefeedctl login \(provider) --account \(id)"
        case (.login, .provider(let provider, let server)):
            "imagefeedctl login \(provider)" + (server.isEmpty ? "" : " --server \(server)")
        case (.unlock, .account(let id, _)), (.installKeyring, .account(let id, _)),
            (.retry, .account(let id, _)):
            // A refresh accesses the keyring again, which prompts to unlock it.
            "imagefeedctl refresh --account \(id)"
        case (.retry, .like(let photo, isWanted: let isWanted, let account)):
            "imagefeedctl \(isWanted.map { $0 ? "like" : "unlike" } ?? "toggle") \(account)/\(photo)"
        default: nil
        }
    }
}
