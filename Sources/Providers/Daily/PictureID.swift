internal import ProviderKit

/// The ID of a picture: the day and the page ID of the file, `2026-11-22-12345`.
///
/// The day distinguishes a file that is the picture of two days. The page ID distinguishes a file from one that
/// replaces it on that day.
struct PictureID: Hashable, Sendable {
    let day: Day
    let page: Int

    init(day: Day, page: Int) {
        self.day = day
        self.page = page
    }

    /// Creates an ID from that of a photo; nil if it has another form.
    init?(_ photo: PhotoID) {
        let text = photo.text
        guard text.utf8.count <= 24, let day = Day(text.prefix(10)) else { return nil }
        let rest = text.dropFirst(10)
        guard rest.first == "-", rest.dropFirst().first != "0",
            rest.dropFirst().utf8.allSatisfy(\.isDigit), let page = Int(rest.dropFirst())
        else { return nil }
        self.init(day: day, page: page)
    }

    var photo: PhotoID { PhotoID("\(day.text)-\(page)") }
}
