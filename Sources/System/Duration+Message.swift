package import Translation

extension Duration {
    /// Returns the duration in tenths of a second, such as `1 second`, `13.9 seconds` or `14 seconds`.
    package func secondsMessage(
        rounded rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero
    ) -> Message {
        let tenths = Int((self / .milliseconds(100)).rounded(rule))
        let number = tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
        return tenths == 10
            ? Message("1 second") : Message("{number} seconds", ["number": number])
    }
}
