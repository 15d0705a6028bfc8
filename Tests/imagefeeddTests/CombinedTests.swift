import Contract
import DBus
import Foundation
import ProviderKit
import TestSupport
import Testing

/// Tests of the combined account with local users.
@Suite(.privateBus, .endsDaemons, .timeLimit(.minutes(10))) @MainActor
struct CombinedTests {
    @Test func `memories are the photos of this day in earlier years of every user`() async throws {
        // Tomorrow's photo is one of today if midnight passes.
        for (name, day) in [("now", 0), ("tomorrow", 1), ("other", 7)] {
            let date = Date(timeIntervalSinceNow: Double(day) * 86_400)
            let parts = Calendar.current.dateComponents([.month, .day], from: date)
            let (month, dayOfMonth) = (try #require(parts.month), try #require(parts.day))
            // The year 2000 has 366 days.
            try add("\(name).png", "2000:\(digits(month)):\(digits(dayOfMonth)) 12:00:00")
        }
        let (_, client) = try await startDaemon()
        let users = [try await client.logIn("ada"), try await client.logIn("bob")]
        let combined = client.service.combined
        #expect(
            try await combined.sources().map(\.id.text) == ["all", "likes", "memories"])
        #expect(try await page("all", of: combined, withAtLeast: 6).photos.count == 6)
        // The dates are read in the background.
        var ids: [String] = []
        try await poll {
            _ = try await users[0].page("", cursor: "", count: 10)
            ids = try await users[0].ids("memories", count: 10)
            return !ids.isEmpty
        }
        let (photos, next) = try await page(
            "memories", of: combined, withAtLeast: 2 * ids.count)
        #expect(
            photos.compactMap { $0["id"]?.string }
                == ids.flatMap { ["local_ada/\($0)", "local_bob/\($0)"] })
        #expect(
            photos.map { $0["account"] } == ids.flatMap { _ in users.map { .objectPath($0.path) } })
        #expect(next.isEmpty)
    }

    /// Returns the first page of a source as soon as it has a number of photos. A page leaves out accounts that cannot be
    /// read within two seconds.
    private func page(
        _ source: String, of combined: AccountClient, withAtLeast count: Int
    ) async throws -> (photos: [PhotoEntry], next: String) {
        var page: (photos: [PhotoEntry], next: String) = ([], "")
        try await poll {
            page = try await combined.page(source, cursor: "", count: 10)
            return page.photos.count >= count
        }
        return page
    }

    private func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// Adds a picture with a time of capture.
    private func add(_ name: String, _ taken: String) throws {
        func long(_ value: Int) -> [UInt8] {
            (0..<4).reversed().map { UInt8(value >> ($0 * 8) & 0xff) }
        }
        func word(_ value: Int) -> [UInt8] { long(value).suffix(2) }
        let text = Array(taken.utf8) + [0]
        // A table with a link to the second one, which has the time.
        let tiff =
            Array("MM".utf8) + word(42) + long(8) + word(1) + word(0x8769) + word(4) + long(1)
            + long(26) + long(0) + word(1) + word(0x9003) + word(2) + long(text.count) + long(44)
            + long(0) + text
        // The chunk is after the signature and the header. The daemon does not check the checksum.
        var bytes = Array(Pictures.png)
        bytes.insert(
            contentsOf: long(tiff.count) + Array("eXIf".utf8) + tiff + long(0), at: 33)
        let folder = try PrivateBus.current.directory.appending(Pictures.home)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
    }
}
