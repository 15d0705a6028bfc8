internal import Contract
internal import DBus
internal import Translation

/// A walk through a source that prints each page when it arrives.
@MainActor
struct FeedWalk {
    let source: String
    /// The cursor of the first page; empty for the newest photos.
    var firstCursor = ""
    /// The largest number of photos; nil for all.
    let limit: Int?
    /// True if the photos are drawn, provided that the terminal and `chafa` allow it.
    var isGrid = false
    /// True if the photos have IDs of the combined account.
    var isCombined = false
    /// The message if there are more photos than ``limit``.
    let continuationHint: String
    /// Returns the problems for which photos may be missing.
    var problems: () async -> [AccountProblem] = { [] }

    /// Prints pages until the limit or the end of the source.
    func run(_ client: AccountClient, _ output: OutputOptions) async throws {
        let limit = limit ?? Int.max
        var listing = FeedListing(target: .standardOutput)
        var photos = PhotoPage(photos: [], next: firstCursor, isCombined: isCombined)
        var listed = 0
        let isDrawn = isGrid && Picture.canShow
        if isGrid, !isDrawn, OutputTarget.standardOutput != .pipe {
            Console.printMessage(tr("To draw photos on the terminal, install chafa."))
        }
        repeat {
            let (page, next) = try await client.page(
                source, cursor: photos.next, count: UInt32(min(100, limit - listed)))
            listed += page.count
            let current = PhotoPage(photos: page, next: next, isCombined: isCombined)
            if output.json {
                photos.photos += page
            } else if isDrawn {
                try await PhotoPreview(client: client).show(current)
            } else {
                try Console.write(listing.text(of: current))
            }
            photos.next = next
            // An empty page with a cursor violates the D-Bus contract; the walk might never end.
            if page.isEmpty { break }
        } while listed < limit && !photos.next.isEmpty
        if output.json { try output.show(photos) }
        try await end(listed, photos.next, isQuiet: output.json)
    }

    /// Prints the message after the list.
    ///
    /// - Throws: ``CommandFailure`` if there are no photos because of a problem.
    private func end(_ listed: Int, _ next: String, isQuiet: Bool) async throws {
        let mayMissPhotos = firstCursor.isEmpty && (listed == 0 || isCombined)
        let problems = mayMissPhotos ? await problems() : []
        let message = problems.map(\.message).joined(separator: " ")
        if listed == 0 {
            let start =
                firstCursor.isEmpty
                ? tr("There are no photos.") : tr("There are no more photos.")
            if let status = problems.first?.status, status != .done {
                throw CommandFailure(status, "\(start) \(message)")
            }
            if !isQuiet {
                Console.printMessage(message.isEmpty ? start : "\(start) \(message)")
            }
        } else if !message.isEmpty {
            Console.printMessage(message)
        } else if !next.isEmpty, !isQuiet, OutputTarget.standardOutput != .pipe {
            Console.printMessage(continuationHint)
        }
    }
}
