internal import ArgumentParser
internal import Contract
internal import DBus
internal import Glibc
internal import System
internal import Translation

struct SlideshowWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: tr("Run the slideshow, and print the path of each image until interrupted."),
        discussion: tr(
            """
            The slideshow has a timer while this command runs. The command continues after a restart of \
            the daemon. With --json, each line is a photo with the key “path”, also after a like; \
            without a photo, it is an empty object. With --format, a line is printed whenever it changes, \
            and an empty one if the photo ends; {path} is the path of the image.

            COMMAND is a program with arguments, in one word for the shell: “--exec 'swaybg -m fill -i'”. \
            It is split at white space, except in quotation marks, and runs without a shell. The path is \
            its last argument; PHOTO_ID, PHOTO_TITLE, PHOTO_AUTHOR and PHOTO_URL are in its environment. \
            If it still runs when the next photo is shown, and at the end, it receives SIGTERM.
            """))

    @Option(
        parsing: .unconditional,
        help: .tr("Run this command for each photo instead of printing.", valueName: "command"),
        transform: ShellWords.command)
    var exec: [String]?
    @Option(parsing: .unconditional, help: .format, transform: PhotoFormat.init)
    var format: PhotoFormat?
    @OptionGroup var options: SlideshowOptions

    func validate() throws {
        try exclude(("--format", format != nil), options.output.use)
        try exclude(("--exec", exec != nil), ("--format", format != nil))
        try exclude(("--exec", exec != nil), options.output.use)
    }

    @MainActor func run() async throws {
        let (service, slideshow) = try await options.connect()
        try await SlideshowWatch(service, slideshow, options.output, exec, format).run()
    }
}

/// A client that is attached to the slideshow, and prints its current photo or runs a program for it.
///
/// The client attaches again after a restart of the daemon, and to a slideshow that was removed and created again. Only
/// its first call starts the daemon.
@MainActor
final class SlideshowWatch {
    private let client: ServiceClient
    private let slideshow: SlideshowClient
    private let output: OutputOptions
    /// The form of the line for each photo; nil for its path.
    private let format: PhotoFormat?
    /// The line that was printed last in this form.
    private var line = ""
    /// The program that runs for each photo; nil to print the photos.
    private var runner: PhotoCommandRunner?
    /// The properties of the slideshow; nil until the first attempt to attach has succeeded.
    private var properties: SlideshowProperties?
    private var reported: SlideshowPhoto?
    /// True if this client has attached, or sent the request to attach, to the slideshow of the running daemon.
    private var isAttached = false
    private let end = OneShotResult<Void, any Error>()

    init(
        _ client: ServiceClient, _ slideshow: SlideshowClient, _ output: OutputOptions,
        _ command: [String]?, _ format: PhotoFormat? = nil
    ) {
        self.client = client
        self.slideshow = slideshow
        self.output = output
        self.format = format
        guard let command else { return }
        runner = PhotoCommandRunner(command) { [end] in end.complete(.failure($0)) }
    }

    /// Reports the photos until the program is interrupted with Ctrl-C, which is not an error, and detaches.
    ///
    /// - Throws: The error of the first attempt to attach; ``BusError/disconnected`` if the bus closes the connection;
    ///   ``CommandFailure`` if a photo cannot be printed or the program cannot be started.
    func run() async throws {
        // With a command, nothing is written.
        if runner == nil { Console.exitWithReader() }
        let result = await Result {
            try await watchPhotos()
            // After an error, this client is not attached any more. Without this condition, the call would start the
            // daemon.
            if isAttached { try? await slideshow.detach() }
        }
        await runner?.stop()
        try result.get()
    }

    private func watchPhotos() async throws {
        let watch = SignalWatch { [weak self] in self?.interrupt() }
        client.connection.onDisconnect = { [end] in end.complete(.failure(BusError.disconnected)) }
        let signals = try await slideshow.watch { [weak self] in self?.merge($0) }
        let (changes, continuation) = AsyncStream.makeStream(
            of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        let setPresent = { [weak self] (isPresent: Bool) in
            self?.isAttached = false
            continuation.yield(isPresent)
        }
        let objects = try await slideshow.watchExistence(setPresent)
        let ownerWatch = try await client.connection.watchOwner(of: ServiceName.bus) {
            setPresent($0 != nil)
        }
        try await attach()
        let restarts = Task {
            // If an attempt fails, the daemon has ended again, or has no slideshow. A later start reports another owner,
            // and a new slideshow is announced.
            for await isPresent in changes where isPresent { try? await attach() }
        }
        defer { restarts.cancel() }
        try await end.value()
        withExtendedLifetime((watch, signals, objects, ownerWatch)) {}
    }

    private func attach() async throws {
        isAttached = true
        try await slideshow.attach()
        properties = try await slideshow.properties()
        reportChange()
    }

    private func merge(_ changes: [String: Variant]) {
        properties?.merge(changes)
        reportChange()
    }

    private func reportChange() {
        guard let properties else { return }
        let photo = SlideshowPhoto(properties)
        guard photo != reported, !end.isComplete else { return }
        let previous = reported
        reported = photo
        do {
            try report(photo, after: previous)
        } catch {
            end.complete(.failure(error))
        }
    }

    private func report(
        _ photo: SlideshowPhoto, after previous: SlideshowPhoto?
    ) throws(CommandFailure) {
        if output.json { return try output.show(photo) }
        if photo.path.isEmpty, previous == nil {
            Console.printMessage(
                tr(
                    "The slideshow shows no photo. “imagefeedctl slideshow next” shows one, or says why there is none."
                )
            )
        }
        if let format {
            let line = photo.photo.map { format.line($0, path: photo.path) } ?? "\n"
            // Without a photo, an empty line clears the text of a bar.
            guard line != self.line, !photo.path.isEmpty || previous != nil else { return }
            self.line = line
            return try Console.write(line)
        }
        // Other properties of the photo, such as its likes, may have changed.
        let isNew = photo.path != previous?.path || runner != nil && photo.id != previous?.id
        guard isNew, !photo.path.isEmpty else { return }
        if let runner { return runner.run(photo) }
        try output.show(PathBytes(photo.path))
    }

    private func interrupt() {
        // A second Ctrl-C exits without waiting for the daemon.
        if end.isComplete { Glibc.exit(ProgramStatus.interrupted.rawValue) }
        // The first call may wait for an image. The disconnection from the bus detaches this client.
        if !end.hasWaiters { Glibc.exit(ProgramStatus.done.rawValue) }
        end.complete(.success(()))
    }
}
