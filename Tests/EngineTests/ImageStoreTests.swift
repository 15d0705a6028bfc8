import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import Engine

/// Images on the disk.
@Suite(.timeLimit(.minutes(1))) @MainActor
struct ImageStoreTests {
    private let directory: TemporaryDirectory
    private let host = ImageHost()

    init() throws { directory = try TemporaryDirectory() }

    private var folder: String { directory.appending("images") }

    private func store(limitBytes: Int = 1 << 20) -> ImageStore {
        ImageStore(folder: folder, limitBytes: limitBytes, http: host)
    }

    private func key(_ photo: String) -> ImageStore.Key {
        ImageStore.Key(
            account: AccountID(stored: "service_ada"), photo: PhotoID(photo), size: .small,
            url: "https://images.test/\(photo)")
    }

    private func files() -> [String] {
        var names: [String] = []
        guard let listing = opendir("\(folder)/service_ada") else { return [] }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.filter { !$0.hasPrefix(".") }
    }

    @Test func `an image is fetched once, however many ask`() async throws {
        let store = store()
        let calls = (0..<10).map { _ in
            Task { try await store.path(key("a"), allowsLoopback: false) }
        }
        let paths = Set(try await calls.asyncMap { try await $0.value })
        #expect(paths.count == 1)
        #expect(host.fetched.value == ["https://images.test/a"])
        #expect(files().count == 1)
    }

    @Test func `what a killed program left goes, what is being written stays`() async throws {
        try directory.write("half", to: "images/service_ada/0123.part1-1")
        let store = store(limitBytes: 1)
        host.isHeld.update { $0 = true }
        let slow = Task { try await store.path(key("slow"), allowsLoopback: false) }
        _ = try await host.fetched.elements(1)
        host.isHeld.update { $0 = false }
        host.slow.update { $0 = "https://images.test/slow" }
        _ = try await store.path(key("fast"), allowsLoopback: false)
        #expect(!files().contains("0123.part1-1"))
        host.slow.update { $0 = nil }
        let path = try await slow.value
        #expect(access(path, F_OK) == 0)
        // There is room for none but the last.
        #expect(files().count == 1)
    }

    @Test func `what was not used for longest goes first`() async throws {
        let store = store(limitBytes: 2 * ImageHost.image.count)
        let a = try await store.path(key("a"), allowsLoopback: false)
        let b = try await store.path(key("b"), allowsLoopback: false)
        #expect(try await store.path(key("a"), allowsLoopback: false) == a)
        _ = try await store.path(key("c"), allowsLoopback: false)
        #expect(access(a, F_OK) == 0)
        #expect(access(b, F_OK) != 0)
    }

    @Test func `a folder that is deleted is made again`() async throws {
        let store = store()
        let path = try await store.path(key("a"), allowsLoopback: false)
        unlink(path)
        rmdir("\(folder)/service_ada")
        rmdir(folder)
        let descriptor = try await store.open(key("a"), allowsLoopback: false)
        defer { close(descriptor) }
        var byte: UInt8 = 0
        #expect(read(descriptor, &byte, 1) == 1 && byte == ImageHost.image[0])
    }

    @Test func `what is no image leaves nothing behind`() async throws {
        host.body.update { $0 = Array("<html>".utf8) }
        await #expect(throws: ProviderError.self) {
            try await store().path(key("a"), allowsLoopback: false)
        }
        #expect(files().isEmpty)
    }
}

/// A host that has one image under every address.
private final class ImageHost: HTTPClient {
    static let image: [UInt8] =
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        + Array("\0\0\0\rIHDR\0\0\0\u{1}\0\0\0\u{1}".utf8)

    let fetched = Observed<[String]>()
    let body = Observed(image)
    let isHeld = Observed(false)
    /// The address that takes until another one is set.
    let slow = Observed<String?>(nil)

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw HTTPError.unreachable("no network")
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        if isHeld.value { slow.update { $0 = request.url } }
        fetched.append(request.url)
        try await slow.wait { $0 == request.url ? nil : true }
        body.value.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count) }
        return HTTPResponse(status: 200, url: request.url)
    }
}

extension Sequence {
    @MainActor
    fileprivate func asyncMap<Value>(
        _ transform: (Element) async throws -> Value
    ) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
