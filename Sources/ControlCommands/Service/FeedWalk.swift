internal import BusAPI
internal import DBus

/// Photos of a feed, printed page by page as they come.
@MainActor
struct FeedWalk {
    let source: String
    /// The cursor to begin at; empty for the newest photo.
    var start = ""
    /// How many photos; nil for all.
    let wanted: Int?
    /// Whether to draw the photos, where that can be done.
    var isGrid = false
    /// What to say when there are more.
    let advice: String

    /// Walks to the end, or until there are enough.
    func run(_ client: AccountClient, _ output: OutputOptions) async throws {
        let wanted = wanted ?? Int.max
        var listing = FeedListing(medium: .standardOutput)
        var photos = PhotoPage(photos: [], next: start)
        var listed = 0
        let isDrawn = isGrid && Picture.canShow
        if isGrid, !isDrawn, OutputTarget.standardOutput != .pipe {
            Console.note("To see the photos here, install chafa.")
        }
        repeat {
            let (page, next) = try await client.page(
                source, cursor: photos.next, count: UInt32(min(100, wanted - listed)))
            listed += page.count
            if output.json {
                photos.photos += page
            } else if isDrawn {
                try await PhotoPreview(client: client).show(PhotoPage(photos: page, next: next))
            } else {
                try Console.write(listing.text(of: PhotoPage(photos: page, next: next)))
            }
            photos.next = next
            // An empty page that has a next one breaks the contract; walking on might never end.
            if page.isEmpty { break }
        } while listed < wanted && !photos.next.isEmpty
        if output.json { try output.show(photos) } else { explainEnd(listed, photos.next) }
    }

    private func explainEnd(_ listed: Int, _ next: String) {
        if listed == 0 {
            Console.note(start.isEmpty ? "There are no photos." : "There are no more photos.")
        } else if !next.isEmpty, OutputTarget.standardOutput != .pipe {
            Console.note(advice)
        }
    }
}
