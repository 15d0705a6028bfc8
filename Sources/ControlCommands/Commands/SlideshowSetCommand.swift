internal import ArgumentParser
internal import Contract
internal import DBus
internal import Translation

struct SlideshowSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: tr("Change settings of the slideshow."))

    @Option(
        help: .init(
            tr("The time per photo: a number with s, m or h, at least 5s; 0 for no timer."),
            valueName: "duration"),
        transform: SlideshowInterval.init(_:))
    var interval: SlideshowInterval?
    @Flag(
        inversion: .prefixedNo,
        help: .init(tr("Show the photos in random order, or in that of the source.")))
    var shuffle: Bool?
    @Option(
        help: .init(
            tr(
                "The photos to show: ACCOUNT or ACCOUNT:SOURCE. The account “combined” is all accounts. Several sources follow one another."
            ),
            valueName: "slideshow-source"),
        transform: SlideshowSource.init(_:))
    var source: [SlideshowSource] = []
    @Option(help: .init(tr("The photos to show by their form: any, landscape or portrait.")))
    var orientation: Orientation?
    @Option(help: .init(tr("The size of the image: thumb, small, regular or full.")))
    var size: ImageSize?
    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    enum Orientation: String, CaseIterable, ExpressibleByArgument {
        case any, landscape, portrait
    }

    @MainActor func run() async throws {
        // The parser refuses unknown options only after `validate`.
        if interval == nil, shuffle == nil, source.isEmpty, orientation == nil, size == nil {
            throw CommandFailure(
                .usage,
                tr(
                    "Give at least one setting to change. See 'imagefeedctl slideshow set --help' for more information."
                )
            )
        }
        let session = try ServiceSession()
        let client = try await name.client(session)
        if !source.isEmpty {
            let snapshot = try await session.snapshot()
            let sources = try source.map { (account: try $0.path(snapshot), source: $0.source) }
            try await addingSourceHint(isCombined: source.contains { $0.account == nil }) {
                guard sources.count == 1 else { return try await client.setSources(sources) }
                try await client.setSource(sources[0].account, sources[0].source)
            }
        }
        if let orientation { try await client.setOrientation(orientation.rawValue) }
        if let size { try await client.setImageSize(size.rawValue) }
        if let shuffle { try await client.setShuffle(shuffle) }
        if let interval { try await client.setInterval(interval.seconds) }
        guard output.json else { return }
        try output.show(
            SlideshowDetails(slideshow: try await client.properties()))
    }
}
