import Foundation
import ImageMetadata
import Logging
import ProviderKit
import System
import TestSupport

@testable import ImageClient

extension HelperLimits {
    /// Limits that a slow machine does not exceed. A test of a limit shortens only this one.
    @MainActor static var wide: HelperLimits {
        var limits = HelperLimits()
        limits.probeTimeout = .seconds(60)
        limits.writeTimeout = .seconds(60)
        limits.stallTimeout = .seconds(60)
        limits.idleTimeout = .seconds(60)
        return limits
    }
}

extension FileThreads.Limits {
    /// Limits that a slow machine does not exceed.
    static var wide: FileThreads.Limits {
        var limits = FileThreads.Limits()
        limits.timeout = .seconds(60)
        return limits
    }
}

/// A client with the built helper, and a temporary folder.
@MainActor
final class ImageHelperFixture {
    let directory: TemporaryDirectory
    let client: ImageHelperClient

    init(
        _ limits: HelperLimits = .wide, program: String? = nil,
        files: FileThreads = FileThreads(.wide)
    ) throws {
        directory = try TemporaryDirectory()
        client = ImageHelperClient(
            program: program ?? BuiltProducts.path("imagefeed-image-helper"), limits: limits,
            files: files, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Writes a file and returns its path.
    func file(_ bytes: [UInt8], _ name: String = "photo") throws -> [UInt8] {
        let path = directory.appending(name)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        guard writeAll(bytes, to: descriptor) else { throw FileError(code: errno) }
        return Array(path.utf8)
    }

    /// Writes a copy of a sample and returns its path.
    func file(sample name: String) throws -> [UInt8] { try file(Self.sample(name)) }

    /// Returns the bytes of a file in the folder of samples.
    nonisolated static func sample(_ name: String) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return Array(try Data(contentsOf: folder.appending(path: "Samples/\(name)")))
    }

    /// Reads the facts of a file at once.
    func probe(_ file: [UInt8]) async throws -> ImageFacts {
        try await client.probe(file, inBackground: false)
    }

    /// Decodes a file.
    func pixels(
        _ file: [UInt8], width: Int = 4000, height: Int = 4000
    ) async throws -> DecodedPixels {
        let descriptor = open(file.map(CChar.init(bitPattern:)) + [0], O_RDONLY)
        defer { close(descriptor) }
        return try await client.pixels(of: descriptor, width: width, height: height)
    }

    var output: String { directory.appending("output") }

    /// Writes a smaller image to ``output``.
    func scale(_ file: [UInt8], pixels: Int = 64, texts: [String: String] = [:]) async throws {
        try await client.make(.scaled(pixels: pixels, texts: texts), from: file, to: output)
    }

    /// The size of ``output``.
    var outputSize: [Int] {
        get async throws {
            let facts = try await probe(Array(output.utf8))
            return [facts.width, facts.height]
        }
    }

    /// The first bytes of the output.
    func outputHead() -> [UInt8] {
        let descriptor = open(output, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4)
        let count = read(descriptor, &bytes, 4)
        return Array(bytes[..<max(0, count)])
    }

    func outputExists() -> Bool {
        access(output, F_OK) == 0 || access("\(output).imagefeed-part", F_OK) == 0
    }

    /// Waits until the helper process has ended.
    func waitForHelperExit() async throws { try await poll { client.processID == nil } }
}
