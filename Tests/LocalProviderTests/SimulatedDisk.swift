import Glibc
import Logging
import ProviderKit
import Storage
import Synchronization
import System
import TestSupport
import Testing

@testable import LocalProvider

/// A file on the simulated disk.
struct SimulatedFile: Equatable {
    var content: Int
    var inode: Int64
    var birth: Int64?
    var modified: Int64
    var changed: Int64
    /// The number of a capture time; photos of a burst have the same one.
    var taken: Int64?

    /// One of few sizes, so that many files have the same size.
    var size: Int64 { Int64(content % 3 + 1) }

    var stamp: FileStamp { FileStamp(inode: inode, sizeBytes: size, modified: modified) }

    var digest: FileDigest {
        FileDigest(
            bytes: Array("\(content)".utf8), stamp: stamp, birth: birth, changed: changed,
            taken: taken.map { CaptureTime(seconds: $0, fraction: "") })
    }
}

/// The files on the simulated disk that the provider reads.
final class SimulatedFiles: Sendable {
    let files = Mutex<[RelativePath: SimulatedFile]>([:])

    func set(_ files: [RelativePath: SimulatedFile]) { self.files.withLock { $0 = files } }

    func digest(_ path: RelativePath) -> FileDigest? { files.withLock { $0[path]?.digest } }
}

/// The simulated disk and its index.
final class SimulatedDisk: PictureSearch {
    let files: SimulatedFiles
    let index: DatabaseQueue

    init(_ files: SimulatedFiles) {
        self.files = files
        index = DatabaseQueue(label: "index") {
            let database = try Database(path: ":memory:", durability: .process)
            try database.migrate(PictureIndex.migrations)
            return database
        }
    }

    func inspect<Value: Sendable>(
        _ body: @escaping @Sendable (PictureIndex) throws -> Value
    ) async throws -> Value {
        try await index.run { try body(PictureIndex($0)) }
    }

    func store(_ contents: [Int64: FileDigest]) async {
        try? await index.run { database in
            for (row, content) in contents {
                try PictureIndex(database).setContent(content, of: row)
            }
        }
    }

    func digest(_ path: RelativePath, _ reader: DigestReader) async -> FileDigest? {
        files.digest(path)
    }
}

/// The reference model: for each user, the number of likes of each content.
///
/// A user sees as many likes of a content as there are files of it, and at most as many as there are likes.
struct LikeModel {
    var likes: [String: [Int: Int]] = [:]

    func visible(_ user: String, _ files: some Sequence<SimulatedFile>) -> [Int: Int] {
        var copies: [Int: Int] = [:]
        for file in files { copies[file.content, default: 0] += 1 }
        return (likes[user] ?? [:]).reduce(into: [:]) { visible, like in
            let count = min(like.value, copies[like.key] ?? 0)
            if count > 0 { visible[like.key] = count }
        }
    }
}
