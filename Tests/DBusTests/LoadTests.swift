import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import DBus

/// Large messages and many calls. They occupy the main thread and are compared by the memory of the process, so they run
/// after the other tests.
@Suite(.privateBus, .timeLimit(.minutes(10)), .serialized) @MainActor
struct LoadTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func `the limit of running calls applies per client`() async throws {
        let calls = (0..<256).map { _ in server.startWaiting() }
        try await server.object.waiting.wait { $0 == 256 ? true : nil }
        let refused = await errorName {
            let _: UInt32 = try await server.proxy.call(.test, "Wait")
        }
        #expect(refused == .limitsExceeded)
        let other = try PrivateBus.current.connect()
        let served = Task.immediate { () throws -> UInt32 in
            try await BusProxy(other, server.connection.uniqueName, .test)
                .call(.test, "Wait", timeout: nil)
        }
        try await server.object.waiting.wait { $0 == 257 ? true : nil }
        server.object.isReleased.update { $0 = true }
        for call in calls { #expect(try await call.value == 1) }
        #expect(try await served.value == 1)
        let again: UInt32 = try await server.proxy.call(.test, "Wait")
        #expect(again == 1)
    }

    @Test func `held calls have the same limit`() async throws {
        let server = try TestServer(started: false)
        let calls = (0..<257).map { _ in Task.immediate { try await server.addOnes(timeout: nil) } }
        let refused = await errorName { _ = try await calls[256].value }
        #expect(refused == .limitsExceeded)
        server.tree.start()
        for call in calls.dropLast() { #expect(try await call.value == 2) }
    }

    @Test func `a call of 64 MiB gets a reply and its memory is freed`() async throws {
        let text = String(repeating: "x", count: 63 << 20)
        func call() async throws {
            let refused = await errorName {
                try await server.proxy.perform(.test, "Add", text, timeout: nil)
            }
            #expect(refused == .invalidArgs)
        }
        try await call()
        let before = try residentMebibytes()
        for _ in 0..<2 { try await call() }
        // Two leaked messages would take 126 MiB.
        #expect(try residentMebibytes() - before < 100)
    }

    @Test func `a running large call does not block other calls`() async throws {
        let text = String(repeating: "x", count: 64 << 20)
        let late = Task.immediate { () throws -> UInt32 in
            try await server.proxy.call(.test, "WaitWith", text, timeout: nil)
        }
        try await server.object.waiting.wait { $0 == 1 ? true : nil }
        // The handler's own calls use the same connection.
        try await BusProxy(server.connection, server.client.uniqueName, "/")
            .perform("org.freedesktop.DBus.Peer", "Ping", timeout: nil)
        server.object.isReleased.update { $0 = true }
        #expect(try await late.value == 64 << 20)
    }

    @Test func `calls of a disconnected caller do not block others`() async throws {
        var caller: BusConnection? = try PrivateBus.current.connect()
        for _ in 0..<10 { caller?.send(try BusMessage(server.call("Wait"))) }
        try await server.object.waiting.wait { $0 == 10 ? true : nil }
        caller = nil
        server.object.isReleased.update { $0 = true }
        #expect(try await server.addOnes() == 2)
        withExtendedLifetime(caller) {}
    }

    @Test func `a client that sends many calls does not block others`() async throws {
        let flooder = try PrivateBus.current.connect()
        let header = server.call("Record")
        for number in 0..<20_000 as Range<UInt32> {
            flooder.send(try BusMessage(header, number))
        }
        #expect(try await server.addOnes(timeout: nil) == 2)
        // Calls above the limit of unfinished calls are refused, until the client has sent fewer.
        let isRefused = ErrorName.limitsExceeded
        var isRecorded = false
        while !isRecorded {
            do {
                _ = try await flooder.call(BusMessage(header, 20_000 as UInt32), timeout: nil)
                isRecorded = true
            } catch BusError.reply(let reply) where reply.name == isRefused {}
        }
        let numbers = server.object.recordedNumbers.value
        #expect(numbers.last == 20_000)
        #expect(numbers == numbers.sorted())
        #expect(numbers.count > 256)
    }

    private func residentMebibytes() throws -> Int {
        let statm = try String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)
        let pages = statm.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return try #require(pages) * Int(sysconf(Int32(_SC_PAGESIZE))) >> 20
    }
}
