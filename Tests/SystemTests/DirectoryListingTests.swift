import Glibc
import System
import TestSupport
import Testing

struct DirectoryListingTests {
    @Test func `all names of a directory are returned as they are stored`() throws {
        let directory = try TemporaryDirectory()
        // The names fill more than one buffer of the C library, and end at different positions in it.
        let names = (0..<600).map { number in
            String(repeating: "x", count: 1 + number * 7 % 250) + "\(number)"
        }
        for name in names { try directory.write("", to: "folder/\(name)") }
        try directory.write("", to: "folder/inner/file")
        let listing = try DirectoryListing(directory.appending("folder"))
        #expect(Set(listing.names) == Set(names).union(["inner"]))
        #expect(listing.entries.count == names.count + 1)
        #expect(
            listing.entries.filter { $0.kind == .directory }.map(\.name) == [Array("inner".utf8)])
    }

    @Test func `a path and names need not be valid UTF-8`() throws {
        let directory = try TemporaryDirectory()
        let path = Array(directory.appending("folder").utf8) + [0xff]
        try directory.write("", to: "other/file")
        let made = (path + [0]).withUnsafeBytes { bytes in
            bytes.assumingMemoryBound(to: CChar.self).baseAddress.map { mkdir($0, 0o700) }
        }
        #expect(made == 0)
        #expect(try DirectoryListing(path).entries.isEmpty)
        let listing = try DirectoryListing(directory.path)
        #expect(listing.entries.contains { $0.name == Array("folder".utf8) + [0xff] })
        #expect(listing.names.contains("other"))
        #expect(listing.names.count == listing.entries.count - 1)
    }
}
