internal import Contract
internal import DBus
internal import Glibc
internal import ProviderKit
internal import Translation

/// A photo of a feed, as the daemon sends it.
typealias Photo = PhotoEntry

extension Photo {
    /// The texts of the photo, which are empty if they are unknown.
    subscript(dynamicMember member: WritableKeyPath<ProviderKit.Photo, String?>) -> String {
        photo[keyPath: member] ?? ""
    }

    /// Returns a number of photos as text.
    static func text(ofCount count: some BinaryInteger) -> String {
        trn("{count} photo", "{count} photos", Int(clamping: count))
    }

    /// The size in pixels; nil if it is unknown.
    var size: (width: Int, height: Int)? {
        guard let width = photo.width, let height = photo.height, width > 0, height > 0 else {
            return nil
        }
        return (width, height)
    }

    /// The state that the user wants.
    var wantsLike: Bool { photo.isLiked != photo.isPending }

    /// Width divided by height, limited so that a panorama remains visible beside others.
    var ratio: Double { size.map { Self.limited(Double($0.width) / Double($0.height)) } ?? 1.5 }
    static func limited(_ ratio: Double) -> Double { min(max(ratio, 0.4), 3) }

    /// Returns true if each word, in lower case, occurs in the texts of the photo.
    func contains(_ words: [String]) -> Bool {
        let text = [self.title, self.description, self.author, self.album, self.camera, month]
            .joined(separator: "\n").lowercased()
        return words.allSatisfy(text.contains)
    }

    /// The name for screen readers.
    var accessibleName: String {
        let name = photo.title ?? photo.description ?? tr("Photo")
        return photo.author.map { tr("{photo}, by {author}", ["photo": name, "author": $0]) }
            ?? name
    }

    /// The name in a list for screen readers, with the date and the state.
    var listName: String {
        let like =
            switch (wantsLike, photo.isPending) {
            case (true, false): tr("liked")
            case (true, true): tr("liked, not confirmed yet")
            case (false, true): tr("no longer liked, not confirmed yet")
            case (false, false): ""
            }
        return [accessibleName, day, like, isAnimated ? tr("animated") : ""].filter { !$0.isEmpty }
            // Translators: the separator of facts in a list, for screen readers.
            .joined(separator: tr(", "))
    }

    /// The author and the date on one line.
    var facts: String { [day, self.author].filter { !$0.isEmpty }.joined(separator: " · ") }

    /// The date in the user's language and time zone; empty if it is unknown.
    // Translators: a date, as a format of strftime(3). %B is the month beside a day, %OB the month alone.
    var day: String { date(tr("%-e %B %Y")) }
    var dayAndTime: String {
        // Translators: as above, with the time of day. %-I and %p are for locales with 12 hours.
        date(Self.hasTwelveHours ? tr("%-e %B %Y, %-I:%M %p") : tr("%-e %B %Y, %H:%M"))
    }
    var month: String { date(MonthList.titleFormat) }
    private func date(_ format: String) -> String { photo.created?.localText(format) ?? "" }

    /// True if the clock of the user's locale has 12 hours.
    private static var hasTwelveHours: Bool {
        String(cString: nl_langinfo(nl_item(T_FMT))).contains(#/%[Ilr]/#)
    }

    /// True if the original has several frames, of which the first one is shown.
    var isAnimated: Bool { photo.isAnimated == true }
}

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
    var combinedID: String { "\(account.lastElement)/\(id)" }

    /// Returns the ID in the feed of an account or of the combined account; nil if that feed cannot contain the photo.
    func id(in feed: ObjectPath) -> String? {
        feed == ServiceName.combined ? combinedID : feed == account ? id : nil
    }
}
