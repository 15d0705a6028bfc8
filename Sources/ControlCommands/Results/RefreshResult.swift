internal import JSONFormat

/// The number of new photos that a refresh found.
struct RefreshResult: Renderable {
    let count: UInt32

    var json: JSON { .object([.init("new", .integer(Int64(count)))]) }

    func text(for target: OutputTarget) -> String {
        guard target != .pipe else { return "\(count)\n" }
        return switch count {
        case 0: "No new photos\n"
        case 1: "1 new photo\n"
        default: "\(count) new photos\n"
        }
    }
}
