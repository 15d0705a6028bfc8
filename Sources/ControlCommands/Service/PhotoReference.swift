internal import ArgumentParser
internal import Contract
internal import DBus
internal import Translation

/// A photo argument: `ACCOUNT/ID`, or the ID of a photo of the default account.
///
/// The ID may contain any character, also a slash. The text before the first slash is an account only if it has the
/// form of an account ID.
struct PhotoReference: Equatable {
    /// The account ID or a prefix of it; nil for the default account. It is empty in `/ID`, which names no account.
    let account: String?
    let id: String
    /// The word `current`, which names the current photo of the slideshow.
    static let current = PhotoReference("current")

    init(_ text: String) {
        let short = text.trimmingPrefix(ImageFeedControl.idMark)
            .trimmingPrefix(ServiceName.accounts.text + "/")
        guard let slash = short.firstIndex(of: "/"),
            short[..<slash].allSatisfy({ $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) })
        else {
            account = nil
            id = String(short)
            return
        }
        account = String(short[..<slash])
        id = String(short[short.index(after: slash)...])
    }

    /// Parses an argument.
    ///
    /// - Throws: `ValidationError` if there is no ID.
    static func parse(_ argument: String) throws -> PhotoReference {
        let reference = PhotoReference(argument)
        guard !reference.id.isEmpty else {
            throw ValidationError(tr("The photo argument has no ID."))
        }
        return reference
    }

    /// Returns the current photo of a slideshow for the word `current`; otherwise the reference itself.
    ///
    /// - Throws: ``CommandFailure`` if there is no current photo.
    func resolved(
        _ snapshot: DaemonMirror, of slideshow: ObjectPath = ServiceName.slideshow
    ) throws(CommandFailure) -> PhotoReference {
        guard self == .current else { return self }
        guard let id = snapshot.slideshow(slideshow)?.photo?.id else {
            throw CommandFailure.tr(
                "The slideshow shows no photo. Name a photo, or start it with “imagefeedctl slideshow next”.",
                status: .usage)
        }
        return PhotoReference(id)
    }
}
