/// The lines of a stream, as it comes in.
nonisolated struct LineBuffer {
    /// A line has more bytes than were allowed; nothing is to be read any more.
    struct TooLong: Error {}

    private let limit: Int
    private var rest: [UInt8] = []

    init(limit: Int) { self.limit = limit }

    /// Takes what came.
    ///
    /// - Parameters:
    ///   - bytes: What came.
    ///   - line: Called with each line that is whole now, without its end.
    /// - Throws: ``TooLong``.
    mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ line: (ArraySlice<UInt8>) -> Void
    ) throws(TooLong) {
        var bytes = bytes[...]
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
            rest += bytes[..<end]
            guard rest.count <= limit else { throw TooLong() }
            bytes = bytes[(end + 1)...]
            let whole = rest
            rest = []
            line(whole[...])
        }
        rest += bytes
        guard rest.count <= limit else { throw TooLong() }
    }

    /// What came after the last end of a line; nothing afterwards.
    mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return rest
    }
}

/// Counts what happens within a time, and begins anew after it.
nonisolated struct FlowMeter {
    private let limit: Int
    private let window: Duration
    private var count = 0
    private var start: ContinuousClock.Instant?

    init(_ limit: Int, per window: Duration) {
        self.limit = limit
        self.window = window
    }

    /// Counts.
    ///
    /// - Returns: Whether it is no more than may be.
    mutating func note(_ amount: Int = 1, at now: ContinuousClock.Instant = .now) -> Bool {
        if let start, now < start + window {
            count += amount
        } else {
            start = now
            count = amount
        }
        return count <= limit
    }
}
