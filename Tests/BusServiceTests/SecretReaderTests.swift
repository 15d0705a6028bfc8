import EngineModel
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import BusService
@testable import DBus

@Suite(.timeLimit(.minutes(10))) @MainActor
struct SecretReaderTests {
    private let clock = ManualClock()
    private let reader: SecretReader

    init() { reader = SecretReader(clock: clock) }

    private func pipe() throws -> (reading: FileDescriptor, writing: FileDescriptor) {
        var ends: [Int32] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
    }

    /// Returns the read end of a pipe that contains `text` and has no writer any more.
    private func filled(_ text: String) throws -> FileDescriptor {
        let (reading, writing) = try pipe()
        try #require(write(writing.rawValue, text, text.utf8.count) == text.utf8.count)
        return reading
    }

    private func text(_ reading: SecretReading) async throws -> String {
        try await reading.secret().withBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("secret", "secret"), ("secret\n", "secret"), ("a\n\n", "a\n"), ("", ""), ("\n", ""),
    ])
    func `a pipe is read to its end`(written: String, expected: String) async throws {
        #expect(try await text(reader.begin(filled(written), for: ":1.1")) == expected)
    }

    @Test func `a secret can arrive in parts`() async throws {
        var (reading, writing): (FileDescriptor, FileDescriptor?) = try pipe()
        let secret = try reader.begin(reading, for: ":1.1")
        let result = Task { try await text(secret) }
        for part in ["one ", "two ", "three\n"] {
            try #require(write(#require(writing).rawValue, part, part.utf8.count) > 0)
            await Task.yield()
        }
        writing = nil
        #expect(try await result.value == "one two three")
        // The flags are shared with the client.
        #expect(fcntl(reading.rawValue, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test func `a socket and a file are read`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        try #require(write(ends[1], "socket", 6) == 6)
        close(ends[1])
        let socket = FileDescriptor(owning: ends[0])
        #expect(try await text(reader.begin(socket, for: ":1.1")) == "socket")
        #expect(fcntl(socket.rawValue, F_GETFL) & O_NONBLOCK == 0)
        let directory = try TemporaryDirectory()
        let path = try directory.write("file\n", to: "secret")
        let file = FileDescriptor(owning: open(path, O_RDONLY))
        #expect(try await text(reader.begin(file, for: ":1.1")) == "file")
    }

    @Test func `a secret of more than 64 KiB is rejected`() async throws {
        let directory = try TemporaryDirectory()
        for (count, isTaken) in [(65536, true), (65537, false), (1 << 20, false)] {
            let path = try directory.write(String(repeating: "x", count: count), to: "secret")
            let file = FileDescriptor(owning: open(path, O_RDONLY))
            let secret = try reader.begin(file, for: ":1.1")
            if isTaken {
                #expect(try await text(secret).utf8.count == count)
            } else {
                await #expect(throws: EngineError.tooLarge("A secret can have at most 64 KiB.")) {
                    try await secret.secret()
                }
            }
        }
    }

    @Test func `a descriptor of another kind is rejected`() throws {
        for path in ["/", "/dev/zero", "/dev/null"] {
            let descriptor = FileDescriptor(owning: open(path, O_RDONLY))
            #expect(throws: EngineError.self) { try reader.begin(descriptor, for: ":1.1") }
        }
        // Rejected descriptors are not counted.
        for _ in 0..<100 { #expect(throws: EngineError.self) { try begin("/") } }
        _ = try reader.begin(filled(""), for: ":1.1")
    }

    private func begin(_ path: String) throws -> SecretReading {
        try reader.begin(FileDescriptor(owning: open(path, O_RDONLY)), for: ":1.1")
    }

    @Test func `an open pipe blocks no other secret and fails after ten seconds`() async throws {
        let (reading, writing) = try pipe()
        let held = try reader.begin(reading, for: ":1.1")
        _ = try await clock.sleepers.elements(1)
        #expect(try await text(reader.begin(filled("other"), for: ":1.2")) == "other")
        let failure = Task { try await text(held) }
        clock.advance(by: .seconds(10))
        await #expect(throws: EngineError.self) { try await failure.value }
        withExtendedLifetime(writing) {}
    }

    @Test func `a client that reads its own pipe does not block other secrets`() async throws {
        let (reading, writing) = try pipe()
        let secret = try reader.begin(reading, for: ":1.1")
        var byte: UInt8 = 0
        for _ in 0..<100 {
            try #require(write(writing.rawValue, "x", 1) == 1)
            _ = fcntl(reading.rawValue, F_SETFL, O_NONBLOCK)
            _ = read(reading.rawValue, &byte, 1)
            await Task.yield()
        }
        #expect(try await text(reader.begin(filled("other"), for: ":1.2")) == "other")
        withExtendedLifetime(secret) {}
    }

    @Test func `the number of concurrent reads is limited per client and in total`() async throws {
        let (reading, writing) = try pipe()
        var held: [SecretReading] = []
        for client in 1...4 {
            for _ in 0..<16 {
                held.append(try reader.begin(reading, for: BusName(unchecked: ":1.\(client)")))
            }
            let refused = #expect(throws: ErrorReply.self) {
                try reader.begin(reading, for: BusName(unchecked: ":1.\(client)"))
            }
            #expect(refused?.name == .limitsExceeded)
        }
        #expect(throws: ErrorReply.self) { try reader.begin(filled("x"), for: ":1.5") }
        // The end of one read allows another.
        held.removeFirst()
        #expect(try await text(reader.begin(filled("x"), for: ":1.5")) == "x")
        withExtendedLifetime(writing) {}
    }

    @Test func `cancelling a call ends its read`() async throws {
        let (reading, writing) = try pipe()
        let tasks = try (0..<16).map { _ in
            let secret = try reader.begin(reading, for: ":1.1")
            return Task { try await secret.secret() }
        }
        for task in tasks { task.cancel() }
        for task in tasks {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try await text(reader.begin(filled("x"), for: ":1.1")) == "x")
        withExtendedLifetime(writing) {}
    }
}
