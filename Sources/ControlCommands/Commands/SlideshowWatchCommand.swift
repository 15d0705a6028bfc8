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
        help: .tr("Run this command for each photo instead of printing.", valueName: "command"),
        transform: CommandWords.init)
    var exec: CommandWords?
    @OptionGroup var options: SlideshowOptions

    func validate() throws {
        if exec != nil, options.output.json {
            throw ValidationError(tr("--exec cannot be combined with --json."))
        }
    }

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let output = options.output
        var runner: PhotoCommandRunner?
        var shown: SlideshowPhoto?
        let watch = SlideshowWatch(service, try await options.client(service)) { photo in
            if output.json { return try output.show(photo) }
            if shown == nil { Self.explainMissing(photo) }
            // Other properties of the photo, such as its likes, may have changed.
            let isNew = photo.path != shown?.path || runner != nil && photo.id != shown?.id
            shown = photo
            guard isNew, !photo.path.isEmpty else { return }
            if let runner { return runner.run(photo) }
            try output.show(FilePath(path: PathBytes(photo.path)))
        }
        runner = exec.map { PhotoCommandRunner($0) { [weak watch] in watch?.fail($0) } }
        let result = await Result {
            try await watch.run()
            await watch.detach()
        }
        await runner?.stop()
        try result.get()
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
}
