internal import CLinux
internal import Dispatch
internal import Glibc
package import ImageMetadata
internal import ImageProtocol
package import Logging
internal import ProviderKit
package import System
internal import Translation

/// An image processor that runs in a separate process, the image helper.
///
/// At most one process exists. It starts on demand and ends when it has been idle for a while, or when another role is
/// needed. If the process crashes, one job fails and the next job starts a new process. The file of the failed job is
/// rejected until the file changes.
@MainActor
package final class ImageHelperClient: nonisolated ImageProcessor {
    private let program: String
    private let limits: HelperLimits
    private let logger: Logger
    private let threads: FileThreads
    private let files = DispatchQueue(label: "image-files")
    private var process: HelperProcess?
    private let turns = ChangeQueue()
    /// The versions of the last thousand files that crashed the helper, or exceeded a limit, and their errors.
    private var rejectedFiles: [(stamp: JobFiles.Stamp, error: ImageProcessorError)] = []
    private var hasLoggedRestrictions = false

    /// - Parameters:
    ///   - program: The path of the helper.
    ///   - limits: The time limits of jobs.
    ///   - files: Opens the files that are read.
    ///   - logger: Receives problems of the helper.
    package init(
        program: String, limits: HelperLimits = HelperLimits(), files: FileThreads = FileThreads(),
        logger: Logger
    ) {
        self.program = program
        threads = files
        self.limits = limits
        self.logger = logger
    }

    /// The ID of the current process, if there is one.
    package var processID: Int32? { process?.id }

    package func probe(
        _ file: [UInt8], inBackground: Bool
    ) async throws(ImageProcessorError) -> ImageFacts {
        let reply = try await perform(.probe, reading: file, inBackground: inBackground)
        guard case .facts(let facts) = reply else { throw Self.versionMismatch }
        return facts
    }

    package func make(
        _ image: NewImage, from file: [UInt8], to destination: String
    ) async throws(ImageProcessorError) {
        guard case .done = try await perform(.make(image), reading: file, writing: destination)
        else { throw Self.versionMismatch }
    }

    /// Decodes an image: upright, in sRGB, scaled down to fit into a size, with at most 64 megapixels.
    ///
    /// - Parameters:
    ///   - file: A file that is open for reading; its position is not used. The caller closes it after the call.
    ///   - width: The largest width in pixels, 1 to 65,535.
    ///   - height: The largest height in pixels, 1 to 65,535.
    /// - Returns: The pixels.
    /// - Throws: ``ImageProcessorError``.
    package func pixels(
        of file: Int32, width: Int, height: Int
    ) async throws(ImageProcessorError) -> DecodedPixels {
        let job = ImageJob.pixels(width: width, height: height)
        guard let message = job.message else { throw Self.versionMismatch }
        let opened = try await files.run { () throws(ImageProcessorError) in
            try JobFiles.forPixels(of: file)
        }
        await turns.begin()
        defer { turns.end() }
        return try await complete(job, message, nil, opened) { reply throws(ImageProcessorError) in
            guard case .pixels(let size) = reply else { throw ImageHelperClient.versionMismatch }
            return try opened.pixels(size)
        }
    }

    // MARK: Jobs

    /// Waits for the preceding jobs, then performs a job.
    ///
    /// The first bytes of the file are read before that, if possible, so that other jobs do not wait for a file that
    /// does not respond.
    private func perform(
        _ job: ImageJob, reading source: [UInt8], writing destination: String? = nil,
        inBackground: Bool = false
    ) async throws(ImageProcessorError) -> ImageReply {
        guard let message = job.message else { throw Self.versionMismatch }
        let readsHeader = job == .probe
        _ = try await openSource(source, readsHeader)
        await turns.begin(inBackground: inBackground)
        defer { turns.end() }
        let opened = try await openSource(source, readsHeader)
        if let destination {
            try await files.run { () throws(ImageProcessorError) in
                try opened.openDestination(destination)
            }
        }
        return try await complete(job, message, source, opened) {
            reply throws(ImageProcessorError) in
            try opened.finish()
            return reply
        }
    }

    private func openSource(
        _ path: [UInt8], _ readsHeader: Bool
    ) async throws(ImageProcessorError) -> JobFiles {
        let opened = await threads.run(path) {
            JobFiles.openSource(path, $0, readsHeader: readsHeader)
        }
        guard let opened else { throw Self.noResponse }
        return try opened.get()
    }

    /// Sends a job and takes its result from the files; deletes the new one if that fails.
    private func complete<Value: Sendable>(
        _ job: ImageJob, _ message: [UInt8], _ source: [UInt8]?, _ opened: JobFiles,
        _ result: @escaping @Sendable (ImageReply) throws(ImageProcessorError) -> Value
    ) async throws(ImageProcessorError) -> Value {
        do throws(ImageProcessorError) {
            let reply = try await send(job, message, source, opened)
            return try await files.run { () throws(ImageProcessorError) in try result(reply) }
        } catch {
            await files.run { opened.deleteNew() }
            throw error
        }
    }

    private func send(
        _ job: ImageJob, _ message: [UInt8], _ source: [UInt8]?, _ files: JobFiles
    ) async throws(ImageProcessorError) -> ImageReply {
        if let stamp = files.stamp, let file = rejectedFiles.first(where: { $0.stamp == stamp }) {
            throw file.error
        }
        // An idle process may end at this moment. The second attempt then uses a new process.
        for _ in 0..<2 {
            let process = try helper(for: HelperRole(job, files.format))
            let outcome = await process.perform(
                message, files.descriptors, limits.time(for: job), stalled: limits.stallTimeout)
            switch outcome {
            case .reply(.failure(let failure)): throw ImageProcessorError(failure)
            case .reply(let reply):
                logMissingRestrictions(of: process)
                return reply
            case .ended: continue
            case .crashed(.code(EX_IOERR)):
                throw .notReadable(
                    Message("The file changed or its disk failed while it was read."))
            case .crashed(.code(EX_OSERR)):
                rejectLater(files.stamp, .tooLarge)
                throw .tooLarge
            case .crashed(let exit):
                logger.warning(
                    "The image helper crashed",
                    metadata: ["end": "\(exit)", "job": "\(job.kind)"])
                rejectLater(files.stamp, .damaged)
                throw .failed(Message("The image helper crashed on this file; use another image."))
            case .timedOut(waitedForDisk: true):
                if let source { threads.suspend(source) }
                throw Self.noResponse
            case .timedOut:
                logger.warning(
                    "The image helper exceeded the time limit", metadata: ["job": "\(job.kind)"])
                rejectLater(files.stamp, .tooLarge)
                throw .tooLarge
            case .failedToStart(let exit):
                logger.error(
                    "The image helper cannot run", metadata: ["end": "\(exit)"])
                throw .failed(
                    Message(
                        "The image helper cannot run on this system; see the log of the daemon."))
            }
        }
        throw .failed(Message("The image helper ended right after its start; try again."))
    }

    /// Rejects later jobs with a version of a file.
    private func rejectLater(_ stamp: JobFiles.Stamp?, _ error: ImageProcessorError) {
        guard let stamp else { return }
        rejectedFiles.append((stamp, error))
        if rejectedFiles.count > 1000 { rejectedFiles.removeFirst() }
    }

    /// Logs once if the kernel does not support all restrictions.
    private func logMissingRestrictions(of process: HelperProcess) {
        guard process.confinesFiles == false, !hasLoggedRestrictions else { return }
        hasLoggedRestrictions = true
        logger.notice(
            "Landlock is not available; only the system call filter protects image decoding")
    }

    /// Returns a process with a role: the current one, or a new one.
    private func helper(for role: HelperRole) throws(ImageProcessorError) -> HelperProcess {
        if let process, process.role.includes(role), !process.hasEnded { return process }
        process?.disconnect()
        let new = try HelperProcess(program, role, idleTimeout: limits.idleTimeout) {
            [weak self] ended in
            if self?.process === ended { self?.process = nil }
        }
        process = new
        return new
    }

    nonisolated private static let noResponse = ImageProcessorError.failed(
        Message("The disk with the photo does not respond; try again later."))

    nonisolated fileprivate static let versionMismatch = ImageProcessorError.failed(
        Message("The image helper has another version than the daemon; restart the daemon."))
}

/// The time limits of the image helper.
package struct HelperLimits: Sendable {
    /// The limit of a job that only reads.
    package var probeTimeout = Duration.seconds(10)
    /// The limit of a job that writes an image.
    package var writeTimeout = Duration.seconds(30)
    /// The longest wait for a disk without any work in between.
    package var stallTimeout = Duration.seconds(5)
    /// The time after which an idle process ends.
    package var idleTimeout = Duration.seconds(10)

    package init() {}

    func time(for job: ImageJob) -> Duration { job.outputs == 0 ? probeTimeout : writeTimeout }
}

extension ImageJob {
    /// The kind of the job, for the log. File names and user names are not logged.
    fileprivate var kind: String {
        switch self {
        case .probe: "probe"
        case .make(.scaled): "scale"
        case .make(.square): "square"
        case .pixels: "pixels"
        }
    }
}

extension HelperRole {
    /// The role of a process that can perform a job with a file.
    init(_ job: ImageJob, _ format: ImageFormat?) {
        self =
            switch (job, format) {
            case (.probe, _): .decode
            case (_, .heic), (_, .avif): .decodeHEIF
            case (_, .jpegXL): .decodeJPEGXL
            case (_, .tiff): .decodeTIFF
            default: .decode
            }
    }
}

extension ImageProcessorError {
    nonisolated fileprivate init(_ failure: ImageFailure) {
        self =
            switch failure {
            case .damaged: .damaged
            case .tooLarge: .tooLarge
            case .notSupported(let text): .notSupported(Message(verbatim: text))
            case .cannotWrite(let code): JobFiles.unwritable(code)
            case .misunderstood: ImageHelperClient.versionMismatch
            }
    }
}
