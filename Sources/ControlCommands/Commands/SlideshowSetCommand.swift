internal import ArgumentParser
internal import BusAPI
internal import DBus

struct SlideshowSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change settings of the slideshow.")

    @Option(
        help: .init(
            "The time per photo: a number with s, m or h, at least 5s; 0 for no timer.",
            valueName: "duration"),
        transform: SlideshowInterval.init(_:))
    var interval: SlideshowInterval?
    @Flag(
        inversion: .prefixedNo, help: "Show the photos in random order, or in that of the source.")
    var shuffle: Bool?
    @Option(
        help: .init(
            "The photos to show: ACCOUNT or ACCOUNT:SOURCE. The account “combined” is all accounts.",
            valueName: "slideshow-source"),
        transform: SlideshowSource.init(_:))
    var source: SlideshowSource?
    @Option(help: "The size of the image: thumb, small, regular or full.")
    var size: ImageSize?
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        // The parser refuses unknown options only after `validate`.
        if interval == nil, shuffle == nil, source == nil, size == nil {
            throw CommandFailure(
                .usage,
                "Give at least one setting to change. See 'imagefeedctl slideshow set --help' for more information."
            )
        }
        let session = try ServiceSession()
        let client = session.client.slideshow
        if let source {
            let path = try source.path(try await session.snapshot())
            try await addingSourceHint(isCombined: source.account == nil) {
                try await client.setSource(path, source.source)
            }
        }
        if let size { try await client.setImageSize(size.rawValue) }
        if let shuffle { try await client.setShuffle(shuffle) }
        if let interval { try await client.setInterval(interval.seconds) }
        guard output.json else { return }
        try output.show(
            SlideshowDetails(slideshow: SlideshowRecord(try await client.properties())))
    }
}
