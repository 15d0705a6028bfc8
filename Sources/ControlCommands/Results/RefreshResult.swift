/// How many photos a refresh found.
struct NewPhotos: Renderable {
    let count: UInt32

    var json: JSON { .object([.init("new", .unsigned(UInt64(count)))]) }

    func text(for medium: OutputTarget) -> String {
        guard medium != .pipe else { return "\(count)\n" }
        return switch count {
        case 0: "No new photos\n"
        case 1: "1 new photo\n"
        default: "\(count) new photos\n"
        }
    }
}
