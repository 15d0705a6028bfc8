/// The reference model of marks.
///
/// A user sees as many likes of a content as there are files of it, and at most as many as there are likes.
struct MarkModel {
    /// For each user, the number of likes of each content.
    var likes: [String: [Int: Int]] = [:]
    /// The contents of marked photos, by their IDs.
    var contents: [Int64: Int] = [:]
    /// The contents whose last mark may have been removed from a photo while another photo of them was missing, which is
    /// then found by a later scan only.
    var uncertain: Set<Int> = []
    /// The IDs of the photos that each user has hidden.
    var hidden: [String: Set<Int64>] = [:]
    /// The time of capture of edited contents, which is that of the original or nil.
    var taken: [Int: Int?] = [:]

    func visible(_ user: String, _ files: some Sequence<Int>) -> [Int: Int] {
        var copies: [Int: Int] = [:]
        for content in files { copies[content, default: 0] += 1 }
        return (likes[user] ?? [:]).reduce(into: [:]) { visible, like in
            let count = min(like.value, copies[like.key] ?? 0)
            if count > 0 { visible[like.key] = count }
        }
    }

    /// Returns the number of the time of capture; nil for some contents.
    func takenTime(_ content: Int) -> Int? {
        if let known = taken[content] { return known }
        return content % 3 == 0 ? nil : content
    }
}
