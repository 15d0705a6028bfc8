internal import ArgumentParser
internal import Contract
internal import JSONFormat
internal import Translation

/// The commands of the slideshow; without a subcommand, its state.
struct SlideshowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slideshow",
        abstract: tr("Show the current photo of the slideshow and its settings, or control it."),
        discussion: tr(
            """
            The slideshow is the photo that all widgets show. The time per photo runs only while a \
            widget or “imagefeedctl slideshow watch” is attached. With --name, a command uses another \
            slideshow, which is created if necessary: it has its own photo and its own settings.
            """),
        subcommands: [
            SlideshowStateCommand.self, SlideshowNextCommand.self, SlideshowPreviousCommand.self,
            SlideshowPauseCommand.self, SlideshowResumeCommand.self, SlideshowShowCommand.self,
            SlideshowHideCommand.self, SlideshowUnhideCommand.self, SlideshowSetCommand.self,
            SlideshowWatchCommand.self, SlideshowListCommand.self, SlideshowRemoveCommand.self,
        ],
        defaultSubcommand: SlideshowStateCommand.self)

    @OptionGroup var options: SlideshowOptions
}

/// The command without a subcommand.
struct SlideshowStateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: tr("Show the current photo and the settings."),
        shouldDisplay: false)

    @OptionGroup var options: SlideshowOptions

    @MainActor func run() async throws {
        let client = try await options.connect().slideshow
        let slideshow = try await client.properties()
        try options.output.show(slideshow)
        if slideshow.photo == nil {
            Console.printMessage(
                tr("The slideshow shows no photo. Start it with “imagefeedctl slideshow next”."))
        }
    }
}

struct SlideshowNextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: tr("Show the next photo, and print its ID and title."))

    @OptionGroup var options: SlideshowOptions

    @MainActor func run() async throws {
        let (service, client) = try await options.connect()
        do {
            try await client.next()
        } catch {
            // Without an account, the remedy is a login.
            _ = try await service.snapshot().combinedAccount()
            throw error
        }
        try await options.showPhoto(of: client)
    }
}

struct SlideshowPreviousCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "previous",
        abstract: tr("Show the photo before the current one, and print its ID and title."))

    @OptionGroup var options: SlideshowOptions

    @MainActor func run() async throws {
        let client = try await options.connect().slideshow
        try await client.previous()
        try await options.showPhoto(of: client)
    }
}

struct SlideshowPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: tr("Keep the current photo until “resume” or “next”."))

    @OptionGroup var options: SlideshowOptions

    @MainActor func run() async throws {
        try await options.setPaused(true)
    }
}

struct SlideshowResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: tr("Show a photo for each interval again."))

    @OptionGroup var options: SlideshowOptions

    @MainActor func run() async throws {
        try await options.setPaused(false)
    }
}

struct SlideshowShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: tr("Show a photo, and print its ID and title."))

    @Argument(help: .namedPhoto, transform: PhotoReference.parse)
    var photo: PhotoReference
    @OptionGroup var options: SlideshowOptions

    @MainActor func run() async throws {
        let (service, client) = try await options.connect()
        let snapshot = try await service.snapshot()
        let reference = try photo.resolved(snapshot, of: client.path)
        _ = try snapshot.loggedInAccount(reference.account)
        try await client.show(try snapshot.combinedID(of: reference))
        try await options.showPhoto(of: client)
    }
}

struct SlideshowHideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hide", abstract: tr("Exclude a photo from the slideshow on this computer."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var options: SlideshowOptions

    @MainActor func run() async throws {
        try photo.requireIntent()
        let (service, client) = try await options.connect()
        let snapshot = try await service.snapshot()
        let reference = try (photo.reference ?? .current).resolved(snapshot, of: client.path)
        _ = try snapshot.loggedInAccount(reference.account)
        let id = try snapshot.combinedID(of: reference)
        try await client.hide(id)
        try options.showHidden(id, true)
    }
}

struct SlideshowUnhideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unhide", abstract: tr("Include a hidden photo in the slideshow again."))

    @Argument(help: .namedPhoto, transform: PhotoReference.parse)
    var photo: PhotoReference
    @OptionGroup var options: SlideshowOptions

    @MainActor func run() async throws {
        let (service, client) = try await options.connect()
        let snapshot = try await service.snapshot()
        let reference = try photo.resolved(snapshot, of: client.path)
        // The account of a hidden photo may be logged out, or have been removed.
        let named = "\(reference.account ?? "")/\(reference.id)"
        let isKnown = snapshot.slideshow?.hidden.contains(named) == true
        let id =
            isKnown ? named : try snapshot.combinedID(of: reference, prefersLoggedIn: false)
        try await client.unhide(id)
        try options.showHidden(id, false)
    }
}

struct SlideshowListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: tr("List the slideshows with their sources and photos."))

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let snapshot = try await ServiceClient().snapshot()
        try output.show(SlideshowList(slideshows: snapshot.slideshows, shortIDs: snapshot.shortIDs))
    }
}

struct SlideshowRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: tr("Delete a slideshow that was created with --name."))

    @OptionGroup var options: SlideshowOptions

    @MainActor func run() async throws {
        guard let name = options.name else {
            throw CommandFailure.tr(
                "Name the slideshow with --name. The default one cannot be removed.", status: .usage
            )
        }
        let service = try ServiceClient()
        let others = try await service.snapshot().slideshows.dropFirst()
        guard let path = others.first(where: { $0.name == name })?.path else {
            throw CommandFailure.tr(
                "There is no slideshow “{slideshow}”. “imagefeedctl slideshow list” lists all.",
                ["slideshow": TerminalText.line(name)])
        }
        try await service.slideshow(path).remove()
        try options.output.show(["Removed": JSON(name)])
    }
}

/// The options of the commands for one slideshow.
struct SlideshowOptions: ParsableArguments {
    @Option(
        help: .tr(
            "Another slideshow than the default one: 1 to 32 characters of a to z, 0 to 9 and _.",
            valueName: "slideshow"))
    var name: String?
    @OptionGroup var output: OutputOptions

    /// Connects to the daemon, and returns the slideshow, which is created if necessary.
    ///
    /// The first call has a time limit, unlike calls that wait for an image: the daemon may not respond.
    @MainActor func connect() async throws -> (service: ServiceClient, slideshow: SlideshowClient) {
        let service = try ServiceClient()
        guard let name else {
            _ = try await service.slideshow.properties()
            return (service, service.slideshow)
        }
        return (service, service.slideshow(try await service.openSlideshow(name)))
    }

    /// Prints the current photo of the slideshow.
    @MainActor func showPhoto(of client: SlideshowClient) async throws {
        try output.show(SlideshowPhoto(try await client.properties()))
    }

    @MainActor func setPaused(_ isPaused: Bool) async throws {
        try await connect().slideshow.setPaused(isPaused)
        try output.show(["Paused": JSON(isPaused)])
    }

    /// Prints the result of `hide` and `unhide`.
    ///
    /// - Parameters:
    ///   - photo: The ID of the photo in the combined account.
    ///   - isHidden: True if the photo is hidden.
    /// - Throws: ``CommandFailure`` if it cannot be written.
    @MainActor func showHidden(_ photo: String, _ isHidden: Bool) throws {
        let json: JSON = ["photo": JSON(photo), "hidden": JSON(isHidden)]
        try output.show(json) { target in
            guard target != .pipe else { return [photo, isHidden ? "hidden" : "not hidden"] }
            return [
                isHidden
                    ? tr("Hid {photo}", ["photo": photo])
                    : tr("{photo} is not hidden any more", ["photo": photo])
            ]
        }
    }
}

extension ArgumentHelp {
    /// The help of a photo argument that has no default.
    fileprivate static var namedPhoto: ArgumentHelp {
        .tr(
            "ACCOUNT/ID as printed by the lists, or the ID of a photo of the default account.",
            valueName: "photo")
    }
}
