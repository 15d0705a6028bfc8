internal import JSONFormat
internal import Translation

/// The number of new photos that a refresh found.
struct RefreshResult: Renderable {
    let count: UInt32

    var json: JSON { .object([.init("new", .integer(Int64(count)))]) }

    func text(for target: OutputTarget) -> String {
        guard target != .pipe else { return "\(count)\n" }
        let text =
            count == 0
            ? tr("No new photos") : trn("{count} new photo", "{count} new photos", Int(count))
        return text + "\n"
    }
}
