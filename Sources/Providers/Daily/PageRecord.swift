internal import ProviderKit

/// A page: the template of a day, or a file.
struct PageRecord {
    /// nil for a page that does not exist.
    let id: Int?
    let title: String?
    let isMissing: Bool
    /// The titles of the files that the page shows.
    private(set) var files: [String]
    /// The source text of the page.
    private(set) var text: String?
    /// The current version of the file.
    private(set) var image: ServiceRecord?

    init(_ page: ServiceRecord) {
        id = page.integer("pageid").flatMap { $0 > 0 ? $0 : nil }
        title = page.text("title")
        isMissing = page.flag("missing") ?? false
        files = page.records("images")?.compactMap { $0.text("title") } ?? []
        let revision = page.records("revisions")?.first
        text = revision?.record("slots")?.record("main")?.text("content")
        image = page.records("imageinfo")?.first
    }

    /// Adds the fields of the same page in the rest of a response.
    mutating func add(_ rest: PageRecord) {
        files += rest.files
        text = text ?? rest.text
        image = image ?? rest.image
    }

    /// The title of the file that a template of a day names; nil if it names none.
    ///
    /// The files of the page may include icons.
    var namedFile: String? {
        guard files.count > 1 else { return files.first }
        // The text can contain character references: `A &amp; B.jpg`.
        let text = HTMLText.plain(text ?? "").replacing("_", with: " ").lowercased()
        let found = files.compactMap { title -> (title: String, start: String.Index)? in
            let name = title.drop { $0 != ":" }.dropFirst().lowercased()
            guard !name.isEmpty else { return nil }
            return text.firstRange(of: name).map { (title, $0.lowerBound) }
        }
        // The name of the picture is the first argument of the template; icons follow. Of two names with the same start,
        // one is a part of the other.
        return found.min { left, right in
            left.start == right.start
                ? left.title.utf8.count > right.title.utf8.count : left.start < right.start
        }?.title
    }
}
