internal import Contract
internal import DBus

/// A photo of an account, regardless of the feed that shows it.
nonisolated struct PhotoReference: Hashable {
    let account: ObjectPath
    let id: String

    /// - Parameters:
    ///   - id: The ID of the photo in a feed.
    ///   - feed: The account or the combined account of the feed.
    init(_ id: String, in feed: ObjectPath) {
        if feed == ServiceName.combined, let slash = id.firstIndex(of: "/"),
            let account = try? ObjectPath("\(ServiceName.accounts.text)/\(id[..<slash])")
        {
            self.account = account
            self.id = String(id[id.index(after: slash)...])
        } else {
            account = feed
            self.id = id
        }
    }

    /// The ID in the combined account.
    var combinedID: String { "\(account.text.split(separator: "/").last ?? "")/\(id)" }

    /// Returns the ID in the feed of an account or of the combined account; nil if that feed cannot contain the photo.
    func id(in feed: ObjectPath) -> String? {
        feed == ServiceName.combined ? combinedID : feed == account ? id : nil
    }
}
