internal import EngineModel
internal import ProviderKit

/// A position in the combined feed: the position in the source of each account that has not reached its end.
///
/// The text consists of a version, a checksum over the source and the rest, and one entry for each account that has not
/// reached its end. An entry identifies the account by the number of its login, so an account that logs out, or logs in
/// later, is not in the walk. A position takes about 50 bytes.
nonisolated struct CombinedCursor: Equatable {
    /// The position of an account.
    struct Entry: Equatable {
        /// The ``AccountRecord/loginNumber`` of the account.
        let login: UInt32
        /// The ``hash(of:)`` of the account's source.
        var source: UInt32
        /// The last known creation time of a photo of the account in this walk, in seconds since 1970.
        var created: Int64?
        /// The cursor of the account's session, which is empty at the beginning of the source; nil for an account that
        /// could not be read yet.
        var position: String?
    }

    /// The entries. Of photos with the same time, that of the earliest entry is next.
    let entries: [Entry]

    /// The maximum length of a cursor in bytes. A client can pass texts of at most 64 KiB.
    static let maximumBytes = 48 << 10

    private static let version = "c1"
    private static let tagLength = 16
    private static let maximumEntries = 4096

    init(_ entries: [Entry]) { self.entries = entries }

    /// Returns the cursor for clients.
    ///
    /// - Throws: ``EngineError/tooLarge(_:)`` if it would exceed ``maximumBytes``.
    func text(of source: SourceID) throws(EngineError) -> String {
        var body = ""
        for entry in entries {
            let created = entry.created.map { String($0, radix: 36) } ?? ""
            let position = entry.position.map { "\($0.utf8.count):\($0)" } ?? ":"
            body +=
                "\(String(entry.login, radix: 36)),\(String(entry.source, radix: 36)),\(created),"
            body += position
        }
        let text = Self.version + Self.tag(source, body) + body
        guard text.utf8.count <= Self.maximumBytes else {
            throw .tooLarge(
                "The combined feed has too many accounts; read the accounts one by one.")
        }
        return text
    }

    /// Parses a cursor from a client.
    ///
    /// A checksum detects cursors that are damaged or belong to another source. It is no protection against forgery: a
    /// forged cursor affects only the walk of the client that uses it.
    ///
    /// - Throws: ``ProviderError/invalidArgument(_:)`` if it is not a cursor of this source.
    init(parsing text: String, of source: SourceID) throws(ProviderError) {
        let body = text.utf8.dropFirst(Self.version.utf8.count + Self.tagLength)
        guard let rest = String(body),
            text.utf8.elementsEqual((Self.version + Self.tag(source, rest) + rest).utf8),
            let entries = Self.entries(body)
        else {
            throw .invalidArgument(
                "The cursor does not belong to this source of the combined account.")
        }
        self.entries = entries
    }

    private static func entries(_ body: Substring.UTF8View) -> [Entry]? {
        var body = body
        var entries: [Entry] = []
        while !body.isEmpty {
            guard entries.count < maximumEntries,
                let login = field(&body, ",").flatMap({ UInt32($0, radix: 36) }),
                let source = field(&body, ",").flatMap({ UInt32($0, radix: 36) }),
                let created = field(&body, ","), let length = field(&body, ":"),
                created.isEmpty || Int64(created, radix: 36) != nil
            else { return nil }
            var position: String?
            if !length.isEmpty {
                guard let length = Int(length), length >= 0, length <= body.count,
                    let text = String(body.prefix(length))
                else { return nil }
                body.removeFirst(length)
                position = text
            }
            entries.append(
                Entry(
                    login: login, source: source, created: Int64(created, radix: 36),
                    position: position))
        }
        return Set(entries.map(\.login)).count == entries.count ? entries : nil
    }

    /// Removes the text before a separator, and the separator.
    private static func field(
        _ text: inout Substring.UTF8View, _ separator: Unicode.Scalar
    ) -> String? {
        guard let end = text.firstIndex(of: UInt8(ascii: separator)) else { return nil }
        defer { text = text[text.index(after: end)...] }
        return String(text[..<end])
    }

    private static func tag(_ source: SourceID, _ body: String) -> String {
        StableHash.digits(of: [source.text, body])
    }

    /// Returns a short hash of a source of an account, which detects that the account has another default source now.
    static func hash(of source: SourceID) -> UInt32 {
        let hash = StableHash(of: source.text.utf8).value
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32)
    }
}
