internal import ArgumentParser
internal import Contract
internal import DBus
internal import Translation

struct SlideshowSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: tr("Change settings of the slideshow."))

    @Option(
        help: .tr(
            "The time per photo: a number with s, m or h, at least 5s; 0 for no timer.",
            valueName: "duration"),
        transform: SlideshowSetCommand.seconds(ofInterval:))
    var interval: UInt32?
    @Flag(
        inversion: .prefixedNo,
        help: .tr("Show the photos in random order, or in that of the source."))
    var shuffle: Bool?
    @Option(
        help: .tr(
            "The photos to show: ACCOUNT or ACCOUNT:SOURCE. The account “combined” is all accounts. Several sources follow one another.",
            valueName: "slideshow-source"),
        transform: SlideshowSource.init(_:))
    var source: [SlideshowSource] = []
    @Option(help: .tr("The photos to show by their form: any, landscape or portrait."))
    var orientation: Orientation?
    @Option(help: .tr("The size of the image: thumb, small, regular or full."))
    var size: ImageSize?
    @OptionGroup var options: SlideshowOptions

    enum Orientation: String, CaseIterable, ExpressibleByArgument {
        case any, landscape, portrait
    }

    @MainActor func run() async throws {
        // The parser refuses unknown options only after `validate`.
        if interval == nil, shuffle == nil, source.isEmpty, orientation == nil, size == nil {
            throw CommandFailure.tr(
                "Give at least one setting to change. See 'imagefeedctl slideshow set --help' for more information.",
                status: .usage)
        }
        let (service, client) = try await options.connect()
        if !source.isEmpty {
            let snapshot = try await service.snapshot()
            let sources = try source.map { (account: try $0.path(snapshot), source: $0.source) }
            let isCombined = source.contains { $0.account == nil }
            try await addingHints(for: isCombined ? snapshot.combined : nil, hasSource: true) {
                guard sources.count == 1 else { return try await client.setSources(sources) }
                try await client.setSource(sources[0].account, sources[0].source)
            }
        }
        if let orientation { try await client.setOrientation(orientation.rawValue) }
        if let size { try await client.setImageSize(size.rawValue) }
        if let shuffle { try await client.setShuffle(shuffle) }
        if let interval { try await client.setInterval(interval) }
        guard options.output.json else { return }
        try options.output.show(try await client.properties())
    }
}

/// The value of `slideshow set --source`: `ACCOUNT[:SOURCE]` or `combined[:SOURCE]`, split at the first colon.
struct SlideshowSource: Equatable {
    /// The account ID or a prefix of it; nil for the combined account.
    let account: String?
    /// The ID of a source; empty for the default source.
    let source: String

    /// Parses a value.
    ///
    /// - Parameter text: The value. Its account must not be empty.
    /// - Throws: `ValidationError`.
    init(_ text: String) throws {
        let account = text.prefix { $0 != ":" }
        guard !account.isEmpty else {
            throw ValidationError(tr("The source has no account."))
        }
        self.account = account == "combined" ? nil : String(account)
        source = String(text.dropFirst(account.count + 1))
    }

    /// Returns the object path of the account.
    ///
    /// - Throws: ``CommandFailure`` if there is no such account, or if it is logged out.
    func path(_ snapshot: DaemonMirror) throws(CommandFailure) -> ObjectPath {
        guard let account else { return ServiceName.combined }
        return try snapshot.loggedInAccount(account).path
    }
}

/// The value of `--interval`: a number with `s`, `m` or `h`, or 0.
extension SlideshowSetCommand {
    /// The smallest time per photo.
    private static let minimumSeconds: UInt32 = 5

    /// Parses a value.
    ///
    /// - Parameter text: `0`, or a number with a unit that is at least ``minimumSeconds``.
    /// - Returns: The time per photo in seconds; 0 for no timer.
    /// - Throws: `ValidationError`.
    static func seconds(ofInterval text: String) throws -> UInt32 {
        guard text != "0" else { return 0 }
        let units: [Character: UInt32] = ["s": 1, "m": 60, "h": 3600]
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[$0] }), !digits.isEmpty,
            digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { throw ValidationError(tr("The interval is 0, or a number with s, m or h.")) }
        guard let number = UInt32(digits), number <= UInt32.max / unit else {
            throw ValidationError(
                tr(
                    "The interval is at most {interval}.",
                    ["interval": "\(UInt32.max / 3600)h"]))
        }
        let seconds = number * unit
        guard seconds == 0 || seconds >= minimumSeconds else {
            throw ValidationError(
                trn(
                    "The interval is 0 or at least {count} second.",
                    "The interval is 0 or at least {count} seconds.", Int(minimumSeconds)))
        }
        return seconds
    }

    /// Returns an interval in the form of the option, in the largest unit without a remainder.
    static func text(ofInterval seconds: UInt32) -> String {
        switch seconds {
        case 0: "0"
        case let seconds where seconds % 3600 == 0: "\(seconds / 3600)h"
        case let seconds where seconds % 60 == 0: "\(seconds / 60)m"
        default: "\(seconds)s"
        }
    }
}
