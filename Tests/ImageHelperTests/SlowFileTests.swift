import Glibc
import ImageMetadata
import ProviderKit
import System
import TestSupport
import Testing
import Translation

@testable import ImageClient

/// Files that do not respond.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct SlowFileTests {
    private static let noResponse = ImageProcessorError.failed(
        Message(verbatim: "The disk with the photo does not respond; try again later."))

    @Test func `a hanging file does not delay other jobs`() async throws {
        let isHanging = Observed(true)
        let hasBegun = Observed(false)
        var limits = FileThreads.Limits()
        // Longer than a slow machine takes for the other job.
        limits.timeout = .seconds(20)
        let threads = FileThreads(
            limits,
            port: FileSystemPort(fault: { path in
                while isHanging.value, path.suffix(8) == Array("/hanging".utf8)[...] {
                    hasBegun.update { $0 = true }
                    var time = timespec(tv_sec: 0, tv_nsec: 1_000_000)
                    nanosleep(&time, nil)
                }
                return 0
            }))
        let fixture = try ImageHelperFixture(files: threads)
        let hanging = try fixture.file(TestImages.jpeg(40, 30), "hanging")
        let other = try fixture.file(TestImages.jpeg(50, 30), "other")
        let ended = Observed<[String]>([])
        let job = Task {
            defer { ended.append("hanging") }
            return try await fixture.probe(hanging)
        }
        try await hasBegun.wait { $0 ? true : nil }
        let next = Task {
            defer { ended.append("other") }
            return try await fixture.probe(other)
        }
        #expect(try await next.value.width == 50)
        await #expect(throws: Self.noResponse) { try await job.value }
        #expect(ended.value == ["other", "hanging"])
        isHanging.update { $0 = false }
    }

    @Test func `a helper that waits too long for a file is killed, and the file is suspended`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let program = folder.appending("helper")
        // A shell writes the program: a child process of a concurrent test could inherit a descriptor open for writing,
        // and then the program could not be executed.
        let shell = try ChildProcess(
            "/bin/sh", ["-c", "cat > \"$0\" && chmod 700 \"$0\"", program],
            environment: ["PATH": "/usr/bin:/bin"], input: "#!/bin/sh\nexec sleep 1000\n")
        #expect(try await shell.exitStatus() == .code(0))
        var limits = HelperLimits.wide
        limits.stallTimeout = .seconds(1)
        let threads = FileThreads(.wide)
        let fixture = try ImageHelperFixture(limits, program: program, files: threads)
        let photo = try fixture.file(TestImages.jpeg(40, 30))
        await #expect(throws: Self.noResponse) { try await fixture.scale(photo, pixels: 10) }
        #expect(!fixture.outputExists())
        #expect(threads.isUnavailable(photo))
        await #expect(throws: Self.noResponse) { try await fixture.probe(photo) }
        #expect(fixture.client.processID == nil)
    }
}
