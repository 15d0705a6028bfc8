internal import Contract
internal import Translation

/// A walk through a source of an account that prints each page when it arrives.
@MainActor
struct FeedWalk {
    let account: CombinedAccountOption
    let source: String
    /// The cursor of the first page; empty for the newest photos.
    var firstCursor = ""
    /// The largest number of photos; nil for all.
    let limit: Int?
    /// True if the photos are drawn, provided that the terminal and `chafa` allow it.
    var isGrid = false
    /// The form of the line for each photo; nil for a table.
    var format: PhotoFormat?
    /// The message if there are more photos than ``limit``.
    let continuationHint: String

    /// Prints pages until the limit or the end of the source.
    func run(_ output: OutputOptions) async throws {
        let service = try ServiceClient()
        let (client, account, known) = try await service.feed(
            account.account, isCombined: account.combined)
        let (listed, next) = try await addingHints(for: account, hasSource: true) {
            try await list(client, isCombined: account.isCombined, shortIDs: known.shortIDs, output)
        }
        let mayMissPhotos = firstCursor.isEmpty && (listed == 0 || account.isCombined)
        let snapshot = mayMissPhotos ? try? await service.snapshot() : nil
        let problems = snapshot?.feedProblems(of: account.path) ?? []
        let message = problems.map(\.message).joined(separator: " ")
        if listed == 0 {
            let start =
                firstCursor.isEmpty
                ? tr("There are no photos.") : tr("There are no more photos.")
            if let status = problems.first?.status, status != .done {
                throw CommandFailure(status, "\(start) \(message)")
            }
            if !output.json {
                Console.printMessage(message.isEmpty ? start : "\(start) \(message)")
            }
        } else if !message.isEmpty {
            Console.printMessage(message)
        } else if !next.isEmpty, !output.json, format == nil, OutputTarget.standardOutput != .pipe {
            Console.printMessage(continuationHint)
        }
    }

    /// Prints pages, and returns the number of photos and the cursor of the next page.
    private func list(
        _ client: AccountClient, isCombined: Bool, shortIDs: [String: String],
        _ output: OutputOptions
    ) async throws -> (count: Int, next: String) {
        let limit = limit ?? Int.max
        let target = OutputTarget.standardOutput
        // The pages are printed as one table.
        var layout: [VisibleColumn]?
        var page = PhotoPage(
            photos: [], next: firstCursor, isCombined: isCombined, shortIDs: shortIDs)
        var all: [PhotoEntry] = []
        var listed = 0
        let isDrawn = isGrid && Picture.canShow
        if isGrid, !isDrawn, target != .pipe {
            Console.printMessage(tr("To draw photos on the terminal, install chafa."))
        }
        repeat {
            (page.photos, page.next) = try await client.page(
                source, cursor: page.next, count: UInt32(min(100, limit - listed)))
            listed += page.photos.count
            if let format {
                try Console.write(page.photos.map { format.line($0) }.joined())
            } else if output.json {
                all += page.photos
            } else if isDrawn {
                try await client.drawPage(page)
            } else {
                try Console.write(page.table(for: target).text(for: target, continuing: &layout))
            }
            // After an empty page, the daemon requests further pages later.
        } while !page.photos.isEmpty && listed < limit && !page.next.isEmpty
        page.photos = all
        if output.json { try output.show(page) }
        return (listed, page.next)
    }
}
