internal import Contract
internal import Glibc
internal import ProviderKit
internal import System
internal import Translation

/// A program that runs for each photo of the slideshow, one process at a time.
///
/// A process that still runs when another photo is shown receives SIGTERM. The program runs for the newest photo when it
/// has exited, so that photos in between are skipped.
@MainActor
final class PhotoCommandRunner {
    private let command: [String]
    private let reportFailure: (CommandFailure) -> Void
    private var process: SpawnedProcess?
    /// True if the running process has received SIGTERM.
    private var isTerminating = false
    /// The photo for which the program runs next.
    private var next: SlideshowPhoto?
    /// The function that resumes ``stop()`` after the exit of the process.
    private var onExit: (() -> Void)?

    /// - Parameters:
    ///   - command: The program, and the arguments in front of the path.
    ///   - reportFailure: Called if the program cannot be started.
    init(_ command: [String], reportFailure: @escaping (CommandFailure) -> Void) {
        self.command = command
        self.reportFailure = reportFailure
    }

    /// Runs the program for a photo, after the exit of the running process.
    func run(_ photo: SlideshowPhoto) {
        next = photo
        if process == nil { start() } else { terminate() }
    }

    /// Ends the running process, and returns when it has exited.
    func stop() async {
        next = nil
        guard process != nil else { return }
        await withCheckedContinuation { continuation in
            onExit = { continuation.resume() }
            terminate()
        }
    }

    private func start() {
        guard let photo = next else { return }
        next = nil
        isTerminating = false
        let values = [
            "PHOTO_ID": photo.id, "PHOTO_TITLE": photo.photo?.title ?? "",
            "PHOTO_AUTHOR": photo.photo?.author ?? "",
            "PHOTO_URL": photo.photo?.url ?? "",
        ]
        // The process inherits the other variables unchanged, also those that are not UTF-8.
        for (name, value) in values { setenv(name, value, 1) }
        do {
            let process = try SpawnedProcess(
                command[0], command.dropFirst() + [photo.path],
                descriptors: [STDIN_FILENO: Console.nullDevice])
            self.process = process
            process.onExit { [weak self] in self?.processExited($0) }
        } catch {
            reportFailure(CommandFailure(.failed, error.message.translated))
        }
    }

    private func terminate() {
        guard let process, !isTerminating else { return }
        isTerminating = true
        kill(process.id, SIGTERM)
    }

    private func processExited(_ exit: SpawnedProcess.Exit) {
        process = nil
        if !isTerminating, let failure = exit.failureDescription(command[0]) {
            Console.printMessage("\(failure).")
        }
        start()
        onExit?()
    }
}
