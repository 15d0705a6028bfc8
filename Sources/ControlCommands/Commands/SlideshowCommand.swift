internal import ArgumentParser
internal import Contract
internal import DBus
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
}

/// The command without a subcommand.
struct SlideshowStateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: tr("Show the current photo and the settings."),
        shouldDisplay: false)

    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let client = try await name.client(ServiceSession())
        let details = SlideshowDetails(
            slideshow: try await client.properties())
        try output.show(details)
        if let message = details.message { Console.printMessage(message) }
    }
}

struct SlideshowNextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: tr("Show the next photo, and print its ID and title."))

    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let client = try await name.client(session)
        do {
            try await client.next()
        } catch {
            // Without an account, the remedy is a login.
            _ = try await session.snapshot().combinedAccount()
            throw error
        }
        try await output.showPhoto(of: client)
    }
}

struct SlideshowPreviousCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "previous",
        abstract: tr("Show the photo before the current one, and print its ID and title."))

    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let client = try await name.client(ServiceSession())
        try await client.previous()
        try await output.showPhoto(of: client)
    }
}

struct SlideshowPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: tr("Keep the current photo until “resume” or “next”."))

    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await name.client(ServiceSession()).setPaused(true)
        try output.show(JSONResult([.init("Paused", .bool(true))]))
    }
}

struct SlideshowResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: tr("Show a photo for each interval again."))

    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try await name.client(ServiceSession()).setPaused(false)
        try output.show(JSONResult([.init("Paused", .bool(false))]))
    }
}

struct SlideshowShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: tr("Show a photo, and print its ID and title."))

    @OptionGroup var photo: NamedPhotoArgument
    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let snapshot = try await session.snapshot()
        _ = try snapshot.loggedInAccount(photo.reference.account)
        let client = try await name.client(session)
        try await client.show(try snapshot.combinedID(of: photo.reference))
        try await output.showPhoto(of: client)
    }
}

struct SlideshowHideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hide", abstract: tr("Exclude a photo from the slideshow on this computer."))

    @OptionGroup var photo: PhotoArgument
    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let client = try await name.client(session)
        let snapshot = try await session.snapshot()
        let id = try snapshot.combinedID(
            of: photo.reference ?? snapshot.currentPhoto(of: client.path))
        try await client.hide(id)
        try output.show(HiddenPhoto(photo: id, isHidden: true))
    }
}

struct SlideshowUnhideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unhide", abstract: tr("Include a hidden photo in the slideshow again."))

    @OptionGroup var photo: NamedPhotoArgument
    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let snapshot = try await session.snapshot()
        // The account of a hidden photo may have been removed.
        let named = "\(photo.reference.account ?? "")/\(photo.reference.id)"
        let isKnown = snapshot.slideshow?.hidden.contains(named) == true
        let id = isKnown ? named : try snapshot.combinedID(of: photo.reference)
        try await name.client(session).unhide(id)
        try output.show(HiddenPhoto(photo: id, isHidden: false))
    }
}

struct SlideshowListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: tr("List the slideshows with their sources and photos."))

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        try output.show(
            SlideshowList(slideshows: try await ServiceSession().snapshot().slideshows))
    }
}

struct SlideshowRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: tr("Delete a slideshow that was created with --name."))

    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        guard let name = name.name else {
            throw CommandFailure(
                .usage, tr("Name the slideshow with --name. The default one cannot be removed."))
        }
        let session = try ServiceSession()
        let others = try await session.snapshot().slideshows.dropFirst()
        guard let path = others.first(where: { $0.name == name })?.path else {
            throw CommandFailure(
                .failed,
                tr(
                    "There is no slideshow “{slideshow}”. “imagefeedctl slideshow list” lists all.",
                    ["slideshow": TerminalText.line(name)])
            )
        }
        try await session.client.slideshow(path).remove()
        try output.show(JSONResult([.init("Removed", .string(name))]))
    }
}

/// The option that selects a slideshow.
struct SlideshowOption: ParsableArguments {
    @Option(
        help: .init(
            tr(
                "Another slideshow than the default one: 1 to 32 characters of a to z, 0 to 9 and _."
            ),
            valueName: "slideshow"))
    var name: String?

    /// Returns the slideshow, which is created if necessary.
    @MainActor func client(_ session: ServiceSession) async throws -> SlideshowClient {
        guard let name else { return session.client.slideshow }
        return session.client.slideshow(try await session.client.manager.openSlideshow(name))
    }
}

/// A photo argument that has no default.
struct NamedPhotoArgument: ParsableArguments {
    @Argument(
        help: .init(
            tr("ACCOUNT/ID as printed by the lists, or the ID of a photo of the default account."),
            valueName: "photo"),
        transform: PhotoReference.init)
    var reference: PhotoReference

    func validate() throws {
        guard !reference.id.isEmpty else {
            throw ValidationError(tr("The photo argument has no ID."))
        }
    }
}

extension OutputOptions {
    /// Prints the current photo of the slideshow.
    @MainActor fileprivate func showPhoto(of client: SlideshowClient) async throws {
        try show(SlideshowPhoto(try await client.properties()))
    }
}
