internal import CLinux
internal import Dispatch
internal import Glibc
internal import ImageProtocol
package import Logging
package import ProviderKit
package import System

/// Has images looked into and made by a process of their own, the image helper.
///
/// There is one at a time at most. It starts when it is needed and goes when nothing was asked for a while, or
/// when another trade is needed. Whatever ends it fails one job; the next has a new one. A file that ended it
/// is not tried again until it changes.
@MainActor
package final class ImageHelperClient: nonisolated ImageProcessor {
    private let program: String
    private let limits: HelperLimits
    private let logger: Logger
    private let threads: FileThreads
    private let files = DispatchQueue(label: "image-files")
    private var process: HelperProcess?
    /// Those who wait for their turn.
    private var urgent: [CheckedContinuation<Void, Never>] = []
    private var later: [CheckedContinuation<Void, Never>] = []
    private var isBusy = false
    private var harmful = CrashingFiles()
    private var isGuardsNoted = false

    /// - Parameters:
    ///   - program: The path of the helper.
    ///   - limits: How long things may take.
    ///   - files: Opens the files that are read.
    ///   - logger: Where to report to.
    package init(
        program: String, limits: HelperLimits = HelperLimits(), files: FileThreads = FileThreads(),
        logger: Logger
    ) {
        self.program = program
        threads = files
        self.limits = limits
        self.logger = logger
    }

    /// The id of the process that is there, if one is.
    package var processID: Int32? { process?.id }

    package func probe(
        _ file: [UInt8], urgency: ImageUrgency
    ) async throws(ImageProcessorError) -> ImageFacts {
        let reply = try await perform(.probe, reading: file, urgency: urgency)
        guard case .facts(let findings) = reply else { throw Self.misunderstanding }
        return ImageFacts(findings)
    }

    package func scale(
        _ file: [UInt8], pixels: Int, as encoding: ImageEncoding, to destination: String
    ) async throws(ImageProcessorError) {
        let output: ImageOutput =
            switch encoding {
            case .png(let texts): .png(texts)
            case .jpeg(let quality): .jpeg(quality: quality)
            }
        try await make(.scale(pixels: pixels, output), of: file, destination)
    }

    package func square(
        _ file: [UInt8], pixels: Int, to destination: String
    ) async throws(ImageProcessorError) {
        try await make(.square(pixels: pixels), of: file, destination)
    }

    package func initials(
        of name: String, pixels: Int, to destination: String
    ) async throws(ImageProcessorError) {
        try await make(.initials(name: name, pixels: pixels), of: nil, destination)
    }

    // MARK: Jobs

    private func make(
        _ job: ImageJob, of file: [UInt8]?, _ destination: String
    ) async throws(ImageProcessorError) {
        guard case .done = try await perform(job, reading: file, writing: destination) else {
            throw Self.misunderstanding
        }
    }

    /// Does a job when its turn has come. A file that does not respond is known before that, as far as possible, so
    /// that other jobs do not wait for it.
    private func perform(
        _ job: ImageJob, reading source: [UInt8]? = nil, writing destination: String? = nil,
        urgency: ImageUrgency = .now
    ) async throws(ImageProcessorError) -> ImageReply {
        guard let message = job.message else { throw Self.misunderstanding }
        if let source {
            let touched = await threads.run(source) { JobFiles.touch(source, $0) }
            guard let touched else { throw Self.noResponse }
            try touched.get()
        }
        await takeTurn(urgency)
        defer { endTurn() }
        var jobFiles = JobFiles()
        if let source {
            let opened = await threads.run(source) { opened in
                if case .success(let files) = opened { files.discard() }
            } _: {
                JobFiles.openSource(source, $0)
            }
            guard let opened else { throw Self.noResponse }
            jobFiles = try opened.get()
        }
        let opened = jobFiles
        jobFiles = try await onFiles { opened.with(destination) }.get()
        guard !harmful.contains(jobFiles.stamp) else {
            let discarded = jobFiles
            await onFiles { discarded.discard() }
            throw .damaged
        }
        let result: Result<ImageReply, ImageProcessorError>
        do {
            result = .success(try await ask(job, message, source, jobFiles))
        } catch {
            result = .failure(error)
        }
        let finished = jobFiles
        return try await onFiles { finished.finish(result) }.get()
    }

    private func takeTurn(_ urgency: ImageUrgency) async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { continuation in
            switch urgency {
            case .now: urgent.append(continuation)
            case .later: later.append(continuation)
            }
        }
    }

    private func endTurn() {
        if !urgent.isEmpty {
            urgent.removeFirst().resume()
        } else if !later.isEmpty {
            later.removeFirst().resume()
        } else {
            isBusy = false
        }
    }

    private func ask(
        _ job: ImageJob, _ message: [UInt8], _ source: [UInt8]?, _ files: JobFiles
    ) async throws(ImageProcessorError) -> ImageReply {
        // One that ends because it has nothing to do may end just now: the next one has.
        for _ in 0..<2 {
            let process = try helper(for: job)
            let outcome = await process.ask(
                message, files.descriptors, limits.time(for: job), stalled: limits.stalled)
            switch outcome {
            case .reply(.failure(let failure)): throw ImageProcessorError(failure)
            case .reply(let reply):
                noteGuards(of: process)
                return reply
            case .over: continue
            case .broken(let exit):
                logger.warning(
                    "The image helper broke down",
                    metadata: ["end": "\(exit)", "job": "\(job.kind)"])
                harmful.insert(files.stamp)
                throw .failed("What decodes images broke down over this one.")
            case .tooSlow(waitedForDisk: true):
                if let source { threads.suspend(source) }
                throw Self.noResponse
            case .tooSlow:
                logger.warning(
                    "The image helper took too long", metadata: ["job": "\(job.kind)"])
                harmful.insert(files.stamp)
                throw .tooLarge
            case .unusable(let exit):
                logger.error(
                    "The image helper does not work", metadata: ["end": "\(exit)"])
                throw .failed("What decodes images does not work here.")
            }
        }
        throw .failed("What decodes images ends as soon as it is started.")
    }

    /// Says once where the kernel does less than it could.
    private func noteGuards(of process: HelperProcess) {
        guard !isGuardsNoted, let guards = process.guards else { return }
        isGuardsNoted = true
        guard !guards.contains(.files) else { return }
        logger.notice("The kernel has no Landlock; images are decoded with system calls filtered")
    }

    /// A process that can do a job: the one that is there, or a new one.
    private func helper(for job: ImageJob) throws(ImageProcessorError) -> HelperProcess {
        let trade = job.inputs == 0 ? HelperProcess.HelperRole.draw : .decode
        if let process, process.trade == trade, !process.isOver { return process }
        process?.dismiss()
        let new = try HelperProcess(program, trade, idleTime: limits.idle) { [weak self] ended in
            if self?.process === ended { self?.process = nil }
        }
        process = new
        return new
    }

    private func onFiles<Value: Sendable>(
        _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            files.async { continuation.resume(returning: body()) }
        }
    }

    nonisolated private static let noResponse = ImageProcessorError.failed(
        "The disk with the photo does not respond; try again later.")

    nonisolated private static let misunderstanding = ImageProcessorError.failed(
        "What decodes images is of another version; start the daemon anew.")
}

/// How long the image helper may take.
package struct HelperLimits: Sendable {
    /// For a job that only looks.
    package var probing = Duration.seconds(10)
    /// For a job that makes an image.
    package var making = Duration.seconds(30)
    /// How long a job may wait for a disk at a time, without any work in between.
    package var stalled = Duration.seconds(5)
    /// How long it stays when it has nothing to do.
    package var idle = Duration.seconds(10)

    package init() {}

    func time(for job: ImageJob) -> Duration { job.outputs == 0 ? probing : making }
}

extension ImageJob {
    /// For the log, which names nobody's files and names.
    fileprivate var kind: String {
        switch self {
        case .probe: "probe"
        case .scale: "scale"
        case .square: "square"
        case .initials: "initials"
        }
    }
}

extension ImageProcessorError {
    nonisolated fileprivate init(_ failure: ImageFailure) {
        self =
            switch failure {
            case .damaged: .damaged
            case .tooLarge: .tooLarge
            case .notSupported(let text): .notSupported(text)
            case .cannotWrite(let code):
                [ENOSPC, EDQUOT].contains(code)
                    ? .storageFull
                    : .failed("The image cannot be written: \(String(cString: strerror(code))).")
            case .misunderstood: .failed("What decodes images is of another version.")
            }
    }
}

extension ImageFacts {
    nonisolated fileprivate init(_ findings: ImageFindings) {
        self.init(width: findings.width, height: findings.height)
        guard let shown = findings.taken else { return }
        if let offset = findings.takenOffset {
            taken = Timestamp(secondsSince1970: Int64(shown - offset))
            return
        }
        // The clock of this computer's zone showed that.
        var seconds = time_t(shown)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        parts.tm_isdst = -1
        taken = Timestamp(secondsSince1970: Int64(mktime(&parts)))
    }
}
