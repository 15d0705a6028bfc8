internal import Translation

// The limits of plugins as text, for error messages.

nonisolated extension Int {
    /// The number of bytes with a unit, such as `8 MiB`.
    var sizeText: String {
        if self >= 1 << 20, self % (1 << 20) == 0 { return "\(self >> 20) MiB" }
        if self >= 1 << 10, self % (1 << 10) == 0 { return "\(self >> 10) KiB" }
        return "\(self) bytes"
    }
}

nonisolated extension Duration {
    /// The duration in seconds with a unit, such as `15 seconds` or `0.3 seconds`.
    var secondsText: String {
        secondsMessage.english
    }

    /// ``secondsText`` for users.
    var secondsMessage: Message {
        let tenths = Int((self / .milliseconds(100)).rounded(.up))
        let number = tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        return tenths == 10
            ? Message("1 second") : Message("{number} seconds", ["number": number])
    }
}
