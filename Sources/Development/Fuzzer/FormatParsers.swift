internal import Glibc
internal import ImageProtocol
import PluginProtocol
internal import ProviderKit
internal import System

@testable import ImageMetadata
@testable import MastodonProvider
@testable import PluginHosting

// Parsers of special formats: images, HTML, and the manifests and messages of plugins.

@MainActor func readHTML(_ bytes: [UInt8]) {
    _ = HTMLText.plain(String(decoding: bytes, as: UTF8.self))
    _ = try? ServerName(String(decoding: bytes, as: UTF8.self))
}

@MainActor func readImageHeader(_ bytes: [UInt8]) {
    guard let format = ImageFormat(prefix: bytes.prefix(ImageFormat.prefixBytes)) else { return }
    guard let header = ImageHeader(Bytes(bytes), format: format) else { return }
    precondition(header.width > 0 && header.height > 0)
    precondition((header.details.camera?.utf8.count ?? 0) <= ImageReply.maximumNameBytes)
    precondition((header.details.lens?.utf8.count ?? 0) <= ImageReply.maximumNameBytes)
    precondition(header.details.latitude.map { -90...90 ~= $0 } ?? true)
    precondition(header.details.longitude.map { -180...180 ~= $0 } ?? true)
}

/// Parses messages between the daemon and its image helper. Each of both validates the messages of the other.
@MainActor func readImageMessage(_ bytes: [UInt8]) {
    if let job = try? ImageJob(message: bytes) {
        precondition(job.message.flatMap { try? ImageJob(message: $0) } == job)
    }
    if let reply = try? ImageReply(message: bytes) {
        precondition((try? ImageReply(message: reply.message)) == reply)
    }
}

/// Parses a manifest in memory. The manifest has the name of the example plugin, because the parser checks the name.
@MainActor func readManifest(_ bytes: [UInt8]) {
    let folder = "/dev/shm/imagefeed-fuzzer.\(getpid())"
    mkdir(folder, 0o700)
    let path = "\(folder)/rss.provider"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(file >= 0)
    defer {
        close(file)
        unlink(path)
        rmdir(folder)
    }
    precondition(write(file, bytes, bytes.count) == bytes.count)
    let problems = ManifestProblems()
    _ = Manifest(path: path, settings: ProviderSettings(), problems)
}

/// Parses a line of a plugin as every kind of result and parameter.
@MainActor func readPluginMessage(_ bytes: [UInt8]) {
    var lines = LineBuffer(limit: 4096)
    for line in bytes.withUnsafeBytes({ lines.append($0) }) {
        guard let message = try? PluginMessage(parsing: line) else { continue }
        precondition((try? PluginMessage(parsing: message.line.dropLast())) == message)
        switch message {
        case .call(_, _, let parameters), .notification(_, let parameters):
            read(PluginReader(parameters, "params"))
        case .answer(_, let result): read(PluginReader(result, "result"))
        case .refusal: break
        }
    }
}

@MainActor private func read(_ reader: PluginReader) {
    _ = try? RemotePage(reader, nil)
    _ = try? RemotePhoto(reader, nil)
    _ = try? Source(reader)
    _ = try? Profile(reader, nil)
    _ = try? AccountIdentity(reader)
    _ = try? HTTPRequest(reader)
    _ = try? HTTPResponse(reader)
    _ = try? RateLimit(reader)
    _ = try? SessionStatus(reader)
}
