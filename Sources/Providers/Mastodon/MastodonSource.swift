internal import ProviderKit
internal import WebService

/// A source of a server.
typealias MastodonSource = ServiceSource<MastodonKind>

/// The kinds of sources of a server.
enum MastodonKind: String, SourceKind {
    /// The statuses of the accounts that the user follows.
    case home
    /// The public statuses of the server's users.
    case local
    /// The public statuses of all servers, as far as this server receives them.
    case `public`
    /// The statuses that the user likes.
    case likes
    case tag
    /// A user, by the handle, which includes the domain for users of other servers.
    case user

    /// The maximum length of a name, in bytes.
    private static let maximumLength = 256

    /// Returns true if a name is a single path segment after escaping. `.`, `..` and slashes have no escaped form that
    /// every server accepts as a name.
    func accepts(_ name: String?) -> Bool {
        guard self == .tag || self == .user else { return name == nil }
        guard let name else { return false }
        return name.utf8.count <= Self.maximumLength && name != "." && name != ".."
            && ServiceText.line(name) == name && !name.contains { $0 == " " || $0 == "/" }
    }
}

/// The ID of a photo: the ID of its status, a dot, and the ID of the attachment. Both IDs are opaque.
///
/// An ID of an attachment that is not plain, such as an address, is replaced by its hash.
struct StatusPhotoID: Hashable, Sendable {
    let status: String
    let attachment: String

    var id: PhotoID { PhotoID("\(status).\(attachment)") }

    /// The prefix that the IDs of all photos of the status have in common.
    var idPrefix: String { "\(status)." }

    /// Creates an ID from the IDs of a server; nil if that of the status has an unexpected form, or if one is empty.
    init?(status: String, attachment: String) {
        guard Self.isPart(status), !attachment.isEmpty else { return nil }
        self.status = status
        if Self.isPart(attachment) {
            self.attachment = attachment
        } else {
            self.attachment = StableHash(of: attachment.utf8).value.hexDigits
        }
    }

    init?(_ id: PhotoID) {
        let parts = id.text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isPart(parts[0]), Self.isPart(parts[1]) else { return nil }
        status = String(parts[0])
        attachment = String(parts[1])
    }

    private static func isPart(_ text: some StringProtocol) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-_".utf8.contains($0) }
    }
}
