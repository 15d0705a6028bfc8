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
        let body = entries.map(\.text).joined(separator: ";")
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
        let body = String(text.utf8.dropFirst(Self.version.utf8.count + Self.tagLength)) ?? ""
        let entries = body.split(separator: ";").map(Entry.init(parsing:))
        let known = entries.compactMap(\.self)
        guard text.utf8.elementsEqual((Self.version + Self.tag(source, body) + body).utf8),
            entries.count <= Self.maximumEntries, known.count == entries.count,
            Set(known.map(\.login)).count == entries.count
        else {
            throw .invalidArgument(
                "The cursor does not belong to this source of the combined account.")
        }
        self.entries = known
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

nonisolated extension CombinedCursor.Entry {
    /// The numbers to the base 36, and the escaped position if there is one.
    fileprivate var text: String {
        let numbers = [
            String(login, radix: 36), String(source, radix: 36),
            created.map { String($0, radix: 36) } ?? "",
        ]
        return (numbers + [position.map(URLEncoding.escape)].compactMap(\.self))
            .joined(separator: ",")
    }

    fileprivate init?(parsing text: Substring) {
        let fields = text.split(separator: ",", omittingEmptySubsequences: false)
        guard 3...4 ~= fields.count, let login = UInt32(fields[0], radix: 36),
            let source = UInt32(fields[1], radix: 36),
            fields[2].isEmpty || Int64(fields[2], radix: 36) != nil
        else { return nil }
        self.init(login: login, source: source, created: Int64(fields[2], radix: 36))
        guard fields.count == 4 else { return }
        guard let position = URLEncoding.unescape(fields[3]) else { return nil }
        self.position = position
    }
}
