internal import ArgumentParser
internal import Contract
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
            without a photo, it is an empty object.

            COMMAND is a program with arguments, in one word for the shell: “--exec 'swaybg -m fill -i'”. \
            It is split at white space, except in quotation marks, and runs without a shell. The path is \
            its last argument; PHOTO_ID, PHOTO_TITLE, PHOTO_AUTHOR and PHOTO_URL are in its environment. \
            If it still runs when the next photo is shown, and at the end, it receives SIGTERM.
            """))

    @Option(
        parsing: .unconditional,
        help: .init(
            tr("Run this command for each photo instead of printing."), valueName: "command"),
        transform: CommandWords.init)
    var exec: CommandWords?
    @OptionGroup var name: SlideshowOption
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if exec != nil, output.json {
            throw ValidationError(tr("--exec cannot be combined with --json."))
        }
    }

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let output = output
        let slideshow = try await name.client(session)
        guard let exec else {
            var path: String?
            return try await run(
                SlideshowWatch(session.client, slideshow) { photo in
                    if output.json { return try output.show(photo) }
                    if path == nil { Self.explainMissing(photo) }
                    // Other properties of the photo, such as its likes, may have changed.
                    defer { path = photo.path }
                    guard !photo.path.isEmpty, photo.path != path else { return }
                    try output.show(FilePath(path: PathBytes(photo.path)))
                })
        }
        var fail: (CommandFailure) -> Void = { _ in }
        let runner = PhotoCommandRunner(exec) { fail($0) }
        var shown: (id: String, path: String)?
        let watch = SlideshowWatch(session.client, slideshow) { photo in
            if shown == nil { Self.explainMissing(photo) }
            let last = shown ?? ("", "")
            shown = (photo.id, photo.path)
            guard !photo.path.isEmpty, (photo.id, photo.path) != last else { return }
            runner.run(photo)
        }
        fail = { [weak watch] in watch?.fail($0) }
        do {
            try await run(watch)
        } catch {
            await runner.stop()
            throw error
        }
        await runner.stop()
    }

    /// Prints a message if the slideshow shows no photo at the start.
    private static func explainMissing(_ photo: SlideshowPhoto) {
        guard photo.path.isEmpty else { return }
        Console.printMessage(
            tr(
                "The slideshow shows no photo. “imagefeedctl slideshow next” shows one, or says why there is none."
            )
        )
    }

    @MainActor private func run(_ watch: SlideshowWatch) async throws {
        try await watch.run()
        await watch.detach()
    }
}
