/// The options of a call, `a{sv}`, of which only the known ones are decoded.
///
/// A message may contain 128 MiB. Unknown options and values of compound types are skipped, and their file descriptors
/// are not duplicated.
nonisolated package struct CallOptions<Key>: BusType
where Key: RawRepresentable & Hashable & Sendable, Key.RawValue == String {
    package static var signature: Signature { "a{sv}" }
    /// The largest number of entries, including unknown ones.
    static var maximumCount: Int { 64 }
    /// The longest known key and the longest value, in bytes.
    static var maximumTextBytes: Int { 64 << 10 }

    /// The known options; nil for a value that is too long or of a compound type.
    private var values: [Key: Variant?] = [:]

    package init(from decoder: inout Decoder) throws(BusError) {
        var entries = try decoder.enterArray(of: Signature(unchecked: "{sv}"))
        var count = 0
        while !entries.isAtEnd {
            count += 1
            guard count <= Self.maximumCount else { throw .invalidValue("too many options") }
            defer { entries.next() }
            var pair = entries.enter()
            guard !pair.holdsText(longerThan: Self.maximumTextBytes),
                let key = Key(rawValue: try String(from: &pair))
            else { continue }
            var value = pair.enter()
            let isUsable = value.isBasic && !value.holdsText(longerThan: Self.maximumTextBytes)
            // If two entries have the same key, the later one is used.
            values.updateValue(try isUsable ? value.anyValue() : nil, forKey: key)
        }
    }

    package func encode(into encoder: inout Encoder) throws(BusError) {
        throw .invalidValue("options are only received")
    }

    /// Returns the value of an option.
    ///
    /// - Parameters:
    ///   - key: The option.
    ///   - type: The D-Bus type of its value, for the message of the error.
    ///   - read: Returns the value, or nil for a value of another type.
    /// - Returns: The value; nil if the call does not contain the option.
    /// - Throws: An ``ErrorReply`` with the name `InvalidArgs` for a value of another type.
    package func value<Value>(
        _ key: Key, _ type: Signature, _ read: (Variant) -> Value?
    ) throws(ErrorReply) -> Value? {
        guard let value = values[key] else { return nil }
        if let value = value.flatMap(read) { return value }
        throw ErrorReply(.invalidArgs, "The option \"\(key.rawValue)\" must have the type \(type).")
    }
}

/// A variant that is skipped without decoding its value.
nonisolated struct SkippedVariant: BusType {
    static let signature: Signature = "v"

    init(from decoder: inout Decoder) throws(BusError) {
        try decoder.check(Self.signature)
        decoder.next()
    }

    func encode(into encoder: inout Encoder) throws(BusError) {
        throw .invalidValue("a skipped value cannot be sent")
    }
}
