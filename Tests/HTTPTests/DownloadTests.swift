import Glibc
import TestSupport
import Testing
import Web

@testable import HTTP

@Suite(.timeLimit(.minutes(10))) @MainActor
struct DownloadTests {
    private let image: ImageFile
    private var file: Int32 { image.descriptor }

    init() throws { image = try ImageFile() }

    @Test(arguments: [0, 1, 100_000, 5_000_000])
    func `a download writes the body to the file and reports progress`(count: Int) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
        let server = try LoopbackServer(LoopbackResponse(body: bytes))
        let progress = Observed<[HTTPProgress]>()
        let request = HTTPRequest(.get, server.origin).with { $0.maximumBytes = 20_000_000 }
        let response = try await makeClient().download(request, into: file) { progress.append($0) }
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(image.contents == bytes)
        #expect(progress.value.last == HTTPProgress(received: count, total: count))
        #expect(progress.value.map(\.received) == progress.value.map(\.received).sorted())
        withExtendedLifetime(server) {}
    }

    @Test func `progress is reported at most ten times a second`() async throws {
        let pieces = [[UInt8]](repeating: [1], count: 100)
        let server = try LoopbackServer(.dripping(pieces: pieces, pause: .milliseconds(5)))
        let progress = Observed<[HTTPProgress]>()
        let start = ContinuousClock.now
        _ = try await makeClient().download(HTTPRequest(.get, server.origin), into: file) {
            progress.append($0)
        }
        // The first and the last report are not delayed.
        let maximum = (ContinuousClock.now - start) / .milliseconds(100) + 2
        #expect(Double(progress.value.count) <= maximum)
    }

    @Test func `progress is reported while bytes arrive slowly`() async throws {
        let half = [UInt8](repeating: 1, count: 15_000)
        // The second half is sent after a report about the first one.
        let gate = Gate()
        let wait: @Sendable () -> Void = { gate.wait() }
        let head = LoopbackResponse.head(200, [], length: 30_000)
        let server = try LoopbackServer(
            LoopbackResponse(steps: [.send(head + half), .run(wait), .send(half)]))
        let progress = Observed<[HTTPProgress]>()
        _ = try await makeClient().download(HTTPRequest(.get, server.origin), into: file) {
            progress.append($0)
            if 1..<30_000 ~= $0.received { gate.open() }
        }
        #expect(progress.value.first == HTTPProgress(received: 0, total: 30_000))
        #expect(progress.value.contains { 1..<30_000 ~= $0.received })
        #expect(progress.value.last == HTTPProgress(received: 30_000, total: 30_000))
    }

    @Test func `delayed progress is reported while no bytes arrive`() async throws {
        let bytes = [UInt8](repeating: 1, count: 1000)
        let server = try LoopbackServer(.truncated(body: bytes, promised: 2000, end: .silence))
        let client = makeClient()
        let progress = Observed<[HTTPProgress]>()
        let running = Task { [file] in
            _ = try? await client.download(HTTPRequest(.get, server.origin), into: file) {
                progress.append($0)
            }
        }
        // The bytes arrive immediately after the report of the length.
        try await progress.wait {
            $0.last == HTTPProgress(received: 1000, total: 2000) ? true : nil
        }
        running.cancel()
        await running.value
    }

    @Test func `a download may exceed the time limit while bytes arrive`() async throws {
        let pieces = [[UInt8]](repeating: [1], count: 100)
        let server = try LoopbackServer(.dripping(pieces: pieces, pause: .milliseconds(80)))
        let request = HTTPRequest(.get, server.origin).with { $0.timeLimit = .seconds(6) }
        _ = try await makeClient().download(request, into: file) { _ in }
        #expect(image.contents.count == 100)
    }

    @Test func `a download without a response or without further bytes fails`() async throws {
        let client = makeClient(makeLimits { $0.silence = .seconds(6) })
        let mute = try LoopbackServer(.silence)
        let request = HTTPRequest(.get, mute.origin).with { $0.timeLimit = .seconds(5) }
        #expect(await client.failure(of: request, into: file) == .failed)
        let stuck = try LoopbackServer(.truncated(body: [1], promised: 9, end: .silence))
        #expect(await client.failure(of: HTTPRequest(.get, stuck.origin), into: file) == .failed)
    }

    @Test func `an error response is returned with its body and not written`() async throws {
        let server = try LoopbackServer(LoopbackResponse(404, text: "gone"))
        let request = HTTPRequest(.get, server.origin)
        let response = try await makeClient().download(request, into: file) { _ in }
        #expect(response.status == 404)
        #expect(response.body == Array("gone".utf8))
        #expect(image.contents.isEmpty)
    }

    @Test func `the body of an error response has a limit`() async throws {
        let server = try LoopbackServer(
            LoopbackResponse(500, body: [UInt8](repeating: 1, count: 2000)))
        let client = makeClient(makeLimits { $0.failureBytes = 1000 })
        #expect(await client.failure(of: HTTPRequest(.get, server.origin), into: file) == .tooLarge)
    }

    @Test func `an endless download ends at the limit`() async throws {
        let server = try LoopbackServer(.endless())
        let request = HTTPRequest(.get, server.origin).with { $0.maximumBytes = 5_000_000 }
        #expect(await makeClient().failure(of: request, into: file) == .tooLarge)
        #expect(image.contents.count <= 5_000_000)
    }

    @Test func `a full disk is reported`() async throws {
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        for response in [LoopbackResponse(text: "small"), .endless()] {
            let server = try LoopbackServer(response)
            let request = HTTPRequest(.get, server.origin)
            await #expect(throws: HTTPError.cannotWrite(ENOSPC)) {
                try await makeClient().download(request, into: full) { _ in }
            }
        }
    }

    @Test func `a fast server is throttled to the speed of the disk`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (readEnd, writeEnd) = (ends[0], ends[1])
        let count = 30_000_000
        let sent = Observed(false)
        let server = try LoopbackServer { _ in
            let bytes = [UInt8](repeating: 7, count: count)
            let end: @Sendable () -> Void = { sent.update { $0 = true } }
            return LoopbackResponse(steps: LoopbackResponse(body: bytes).steps + [.run(end)])
        }
        let request = HTTPRequest(.get, server.origin).with { $0.maximumBytes = count }
        let client = makeClient(makeLimits { $0.silence = .seconds(6) })
        let running = Task { try await client.download(request, into: writeEnd) { _ in } }
        // Nothing reads the pipe for much longer than the time limit of a silent server.
        _ = try await server.requests.elements(1)
        let pause = try LoopbackServer(LoopbackResponse().delayed(by: .seconds(9)))
        _ = try await makeClient().send(HTTPRequest(.get, pause.origin))
        #expect(!sent.value)
        let reader = Observed(0)
        drain(readEnd, count, reader)
        let response = try await running.value
        #expect(response.status == 200)
        #expect(try await reader.wait { $0 == count ? $0 : nil } == count)
        close(writeEnd)
        close(readEnd)
    }

    @Test func `a cancelled download does not access the file again`() async throws {
        let server = try LoopbackServer(.endless())
        let client = makeClient()
        let progress = Observed<[HTTPProgress]>()
        let request = HTTPRequest(.get, server.origin).with { $0.maximumBytes = .max }
        let file = dup(image.descriptor)
        let running = Task {
            do {
                _ = try await client.download(request, into: file) { progress.append($0) }
                return Failure?.none
            } catch {
                // The next opened file gets the same descriptor.
                close(file)
                return Failure(error)
            }
        }
        _ = try await progress.elements(1)
        running.cancel()
        #expect(await running.value == .cancelled)
        try await server.connections.wait { $0.open == 0 ? true : nil }
    }
}

/// Reads from a descriptor on a new thread until the total is reached.
private func drain(_ descriptor: Int32, _ count: Int, _ total: Observed<Int>) {
    onThread {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while total.value < count {
            let readCount = read(descriptor, &buffer, buffer.count)
            guard readCount > 0 else { return }
            total.update { $0 += readCount }
        }
    }
}
