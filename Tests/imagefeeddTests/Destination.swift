import DBus
import Dispatch
import Foundation
import Glibc
import TestSupport
import Testing

/// The flag to open a file as a path only; hidden by the feature macros of Swift's Glibc module.
let O_PATH: Int32 = 0o10_000_000

/// Files into which clients download photos.
@MainActor
enum Destination {
    /// Opens a file of the running test.
    static func file(
        _ name: String = "photo", _ flags: Int32 = O_RDWR | O_CREAT
    ) throws -> FileDescriptor {
        try open(PrivateBus.current.directory.appending(name), flags)
    }

    static func open(_ path: String, _ flags: Int32) throws -> FileDescriptor {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("open \(path)", errno) }
        return FileDescriptor(owning: descriptor)
    }

    /// Returns the content of a file of the running test.
    static func content(_ name: String = "photo") throws -> [UInt8] {
        try read(file(name, O_RDONLY))
    }

    /// Reads to the end of the file.
    nonisolated static func read(_ descriptor: FileDescriptor) throws -> [UInt8] {
        let file = FileHandle(fileDescriptor: descriptor.rawValue, closeOnDealloc: false)
        return Array(try file.readToEnd() ?? Data())
    }
}

/// A pipe or a socket pair that is read only on request, so that it fills up.
@MainActor
final class SlowPipe {
    private var writer: FileDescriptor?
    private var reader: FileDescriptor?

    init(isSocket: Bool = false) throws {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue)
        let result = isSocket ? socketpair(AF_UNIX, type, 0, &ends) : pipe(&ends)
        guard result == 0 else { throw SystemError("pipe", errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reader, writer) = (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
    }

    /// Passes the write end to `body` and then closes it, so that the receiver has the last descriptor.
    func handOver<Result>(
        _ body: (FileDescriptor) async throws -> Result
    ) async throws -> Result {
        let result = try await body(#require(writer))
        writer = nil
        return result
    }

    func stopReading() { reader = nil }

    /// Reads to the end of the file on another thread.
    func read() async throws -> [UInt8] {
        guard let reader else { return [] }
        let result = Observed<[UInt8]?>(nil)
        DispatchQueue(label: "reader").async {
            let bytes = (try? Destination.read(reader)) ?? []
            result.update { $0 = bytes }
        }
        return try await result.wait { $0 }
    }
}
