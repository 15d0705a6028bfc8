package import EngineModel
package import ProviderKit

/// The settings of the slideshow, which clients change.
nonisolated package struct SlideshowSettings: Hashable, Sendable {
    /// The shortest time for which a photo is shown, in seconds.
    static let shortestIntervalSeconds: UInt32 = 5
    package static let maximumSources = 8

    /// True if the timer is stopped.
    package var isPaused = false
    /// The time for which each photo is shown, in seconds; 0 for no timer.
    package var intervalSeconds: UInt32 = 1800
    /// True for a random order, false for the order of the source.
    package var isShuffled = false
    /// The sources, which follow one another: 1 to ``maximumSources``, none twice.
    package var sources = [SlideshowSource.initial]
    package var orientation = SlideshowOrientation.any
    package var imageSize = ImageSize.regular

    /// Creates the settings of a new slideshow.
    package init() {}

    /// Returns true if one of the sources is of this account only.
    func hasSource(of account: AccountID) -> Bool { sources.contains { $0.account == account } }

    /// A text that is equal for settings with which the same photos are read in the same order.
    var order: String {
        let sources = sources.map { "\($0.account?.text ?? "")/\($0.source.text)" }
        return
            "\(isShuffled ? "shuffle" : "order") \(orientation) \(sources.joined(separator: "\n"))"
    }
}

/// The photos that are shown, by their form.
nonisolated package enum SlideshowOrientation: String, CaseIterable, Sendable {
    case any
    /// At least as wide as high.
    case landscape
    /// Higher than wide.
    case portrait

    /// Returns true for a photo that is shown. A photo of unknown size is shown with ``any`` only.
    package func accepts(_ photo: Photo) -> Bool {
        guard self != .any else { return true }
        guard let width = photo.width, let height = photo.height else { return false }
        return (width >= height) == (self == .landscape)
    }
}

/// A source of the slideshow.
nonisolated package struct SlideshowSource: Hashable, Sendable {
    /// The account; nil for the combined account.
    package let account: AccountID?
    /// The source of the account; empty for its default source.
    package let source: SourceID

    package init(account: AccountID?, source: SourceID) {
        self.account = account
        self.source = source
    }

    /// The default source of the combined account.
    static let initial = SlideshowSource(account: nil, source: SourceID(""))
}

/// A source of one account that the source of the slideshow consists of.
nonisolated package struct SlideshowPart: Hashable, Sendable {
    package let account: AccountID
    package let source: SourceID
    /// True if the photos and their order are on this computer, so that reading pages costs little.
    package let isLocal: Bool
    /// True if photos leave the source without being removed, such as the liked photos.
    let isSelection: Bool
    /// The source, with the date for the photos of a date: on another date, the source has other photos.
    let edition: String
    /// True if the photos depend on the date.
    var isDated: Bool { edition != source.text }

    package init(
        account: AccountID, source: SourceID, isLocal: Bool, isSelection: Bool,
        date: String? = nil
    ) {
        self.account = account
        self.source = source
        edition = date.map { "\(source.text)/\($0)" } ?? source.text
        self.isLocal = isLocal
        self.isSelection = isSelection
    }
}
