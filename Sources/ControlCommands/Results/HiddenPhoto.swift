internal import JSONFormat
internal import Translation

/// The result of `slideshow hide` and `slideshow unhide`.
struct HiddenPhoto: Renderable {
    /// The ID of the photo in the combined account.
    let photo: String
    let isHidden: Bool

    var json: JSON { .object([.init("photo", .string(photo)), .init("hidden", .bool(isHidden))]) }

    func text(for target: OutputTarget) -> String {
        guard target != .pipe else {
            return "\(TerminalText.line(photo))\t\(isHidden ? "hidden" : "not hidden")\n"
        }
        return TerminalText.line(
            isHidden
                ? tr("Hid {photo}", ["photo": photo])
                : tr("{photo} is not hidden any more", ["photo": photo]))
            + "\n"
    }
}
