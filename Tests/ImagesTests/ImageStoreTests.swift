import EngineModel
import FoundationEssentials
import Glibc
import ProviderKit
import TestSupport
import Testing

@testable import Images

/// The image cache on disk.
@Suite(.timeLimit(.minutes(10))) @MainActor
struct ImageStoreTests {
    private let directory: TemporaryDirectory
    private let host = ImageHost()
    private let time = Observed<Int64>(1_000_000)
    private let disk: DiskWatch

    init() throws {
        directory = try TemporaryDirectory()
        disk = DiskWatch(folder: directory.path)
    }

    private var folder: String { directory.appending("a.cache/images") }

    private func store(limitBytes: Int = 1 << 20) -> ImageStore {
        ImageStore(
            folder: folder, limitBytes: limitBytes, disk: disk, http: host
        ) { [time] in
            Timestamp(secondsSince1970: time.value)
        }
    }

    private func key(_ photo: String) -> ImageStore.Key {
        ImageStore.Key(
            account: AccountID(stored: "service_ada"), photo: PhotoID(photo),
            url: "https://images.test/\(photo)")
    }

    private func files() -> [String] {
        let path = "\(folder)/service_ada"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { !$0.hasPrefix(".") }
    }

    @Test func `concurrent requests for an image fetch it once`() async throws {
        let store = store()
        let calls = (0..<10).map { _ in
            Task { try await store.path(key("a"), allowsLoopback: false) }
        }
        let paths = Set(try await calls.asyncMap { try await $0.value })
        #expect(paths.count == 1)
        #expect(host.fetched.value == ["https://images.test/a"])
        #expect(files().count == 1)
    }

    @Test func `a host that limits images gets no request until the limit ends`() async throws {
        let store = store()
        // Source: mastodon 4.6.4, `config/initializers/rack_attack.rb`.
        host.status.update { $0 = 429 }
        host.headers.update { $0 = ["X-RateLimit-Reset": "1970-01-12T13:56:40.000000Z"] }
        let until = Timestamp(secondsSince1970: 1_000_600)
        for photo in ["a", "b", "a"] {
            await #expect(throws: ProviderError.rateLimited(until: until)) {
                try await store.path(key(photo), allowsLoopback: false)
            }
        }
        #expect(host.fetched.value.count == 1)
        host.status.update { $0 = 200 }
        time.update { $0 += 600 }
        _ = try await store.path(key("a"), allowsLoopback: false)
        #expect(host.fetched.value.count == 2)
    }

    @Test func `a fetch that ends during a call is not repeated`() async throws {
        let store = store()
        let photos = (0..<1000).map { "\($0)" }
        for photo in photos {
            let calls = (0..<4).map { _ in
                Task { try await store.path(key(photo), allowsLoopback: false) }
            }
            _ = try await calls.asyncMap { try await $0.value }
        }
        #expect(host.fetched.value == photos.map { "https://images.test/\($0)" })
    }

    @Test func `partial files of a killed process are removed, active ones are kept`() async throws
    {
        try directory.write("half", to: "a.cache/images/service_ada/0123.part1-1")
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

    @Test func `the least recently used image is evicted first`() async throws {
        // Room for two, with a margin of a twentieth.
        let store = store(limitBytes: 2 * ImageHost.image.count + 3)
        let a = try await store.path(key("a"), allowsLoopback: false)
        let b = try await store.path(key("b"), allowsLoopback: false)
        #expect(try await store.path(key("a"), allowsLoopback: false) == a)
        _ = try await store.path(key("c"), allowsLoopback: false)
        #expect(access(a, F_OK) == 0)
        #expect(access(b, F_OK) != 0)
    }

    @Test func `the metadata file of an image is evicted with it, and no other file is`()
        async throws
    {
        // Named like a metadata file, up to the first dot.
        let others = directory.appending("a.note")
        try directory.write("mine", to: "a.note")
        host.headers.update { $0 = ["ETag": "\"1\""] }
        let store = store(limitBytes: 1)
        _ = try await store.path(key("a"), allowsLoopback: false)
        #expect(files().count == 2)
        _ = try await store.path(key("b"), allowsLoopback: false)
        #expect(files().count == 2)
        #expect(access(others, F_OK) == 0)
    }

    @Test func `an empty image file is fetched again`() async throws {
        let store = store()
        let path = try await store.path(key("a"), allowsLoopback: false)
        truncate(path, 0)
        #expect(try await store.path(key("a"), allowsLoopback: false) == path)
        #expect(host.fetched.value.count == 2)
    }

    @Test func `the store reports a full disk and the end of that state`() async throws {
        var reports: [Bool] = []
        disk.onChange = { reports.append($0) }
        host.error.update { $0 = HTTPError.cannotWrite(ENOSPC) }
        let store = store()
        await #expect(throws: HTTPError.cannotWrite(ENOSPC)) {
            try await store.path(key("a"), allowsLoopback: false)
        }
        #expect(reports == [true])
        #expect(files().isEmpty)
        host.error.update { $0 = nil }
        _ = try await store.path(key("a"), allowsLoopback: false)
        #expect(reports == [true, false])
    }

    @Test func `a deleted folder is created again`() async throws {
        let store = store()
        let path = try await store.path(key("a"), allowsLoopback: false)
        unlink(path)
        rmdir("\(folder)/service_ada")
        rmdir(folder)
        rmdir(directory.appending("a.cache"))
        let descriptor = try await store.open(key("a"), allowsLoopback: false)
        defer { close(descriptor) }
        var byte: UInt8 = 0
        #expect(read(descriptor, &byte, 1) == 1 && byte == ImageHost.image[0])
    }

    @Test func `a descriptor stays readable after its image is evicted`() async throws {
        let store = store(limitBytes: 1)
        let descriptor = try await store.open(key("a"), allowsLoopback: false)
        defer { close(descriptor) }
        _ = try await store.path(key("b"), allowsLoopback: false)
        #expect(files().count == 1)
        var bytes = [UInt8](repeating: 0, count: 100)
        #expect(read(descriptor, &bytes, bytes.count) == ImageHost.image.count)
    }

    @Test func `an image is revalidated in the background after a day`() async throws {
        host.headers.update { $0 = ["ETag": "\"1\"", "Last-Modified": "yesterday"] }
        let store = store()
        let path = try await store.path(key("a"), allowsLoopback: false)
        time.update { $0 += 3600 }
        #expect(try await store.path(key("a"), allowsLoopback: false) == path)
        #expect(host.fetched.value.count == 1)
        // The host has the same image.
        time.update { $0 += 86_400 }
        host.isHeld.update { $0 = true }
        #expect(try await store.path(key("a"), allowsLoopback: false) == path)
        #expect(try await store.path(key("a"), allowsLoopback: false) == path)
        _ = try await host.fetched.elements(2)
        #expect(host.requestHeaders.value?["If-None-Match"] == "\"1\"")
        #expect(host.requestHeaders.value?["If-Modified-Since"] == "yesterday")
        host.isHeld.update { $0 = false }
        host.slow.update { $0 = nil }
        try await host.responseCount.wait { $0 == 2 ? true : nil }
        // The host has another image in another format.
        time.update { $0 += 86_400 }
        host.headers.update { $0 = ["ETag": "\"2\""] }
        host.body.update { $0 = [0xff, 0xd8, 0xff, 0xe0] }
        try await poll {
            let current = try await store.path(key("a"), allowsLoopback: false)
            #expect(current.hasPrefix(folder))
            return access(path, F_OK) != 0
        }
        let other = try await store.path(key("a"), allowsLoopback: false)
        #expect(other.hasSuffix(".jpg") && access(other, F_OK) == 0)
        #expect(host.fetched.value.count == 3)
    }

    @Test func `an image whose note has no possible time is not revalidated`() async throws {
        host.headers.update { $0 = ["ETag": "\"1\""] }
        let path = try await store().path(key("a"), allowsLoopback: false)
        let note = "\(path.prefix(through: path.lastIndex(of: ".") ?? path.startIndex))note"
        #expect(access(note, F_OK) == 0)
        try Data("\"1\"\n\n\(Int64.min)\n".utf8).write(to: URL(filePath: note))
        #expect(try await store().path(key("a"), allowsLoopback: false) == path)
        #expect(host.fetched.value.count == 1)
    }

    @Test func `an image stays cached when its revalidation fails`() async throws {
        host.headers.update { $0 = ["ETag": "\"1\""] }
        let store = store()
        let path = try await store.path(key("a"), allowsLoopback: false)
        time.update { $0 += 100_000 }
        host.body.update { $0 = Array("<html>".utf8) }
        host.headers.update { $0 = ["ETag": "\"2\""] }
        #expect(try await store.path(key("a"), allowsLoopback: false) == path)
        try await host.responseCount.wait { $0 == 2 ? true : nil }
        #expect(try await store.path(key("a"), allowsLoopback: false) == path)
        #expect(access(path, F_OK) == 0)
        // The revalidation is not repeated at once.
        #expect(host.fetched.value.count == 2)
        await store.forget(AccountID(stored: "service_ada"))
        #expect(files().isEmpty)
    }

    @Test func `a response that is no image leaves no file`() async throws {
        host.body.update { $0 = Array("<html>".utf8) }
        await #expect(throws: ProviderError.self) {
            try await store().path(key("a"), allowsLoopback: false)
        }
        #expect(files().isEmpty)
    }
}

/// A host that has one image at every address.
private final class ImageHost: HTTPClient {
    static let image: [UInt8] =
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        + Array("\0\0\0\rIHDR\0\0\0\u{1}\0\0\0\u{1}".utf8)

    let fetched = Observed<[String]>()
    let body = Observed(image)
    let isHeld = Observed(false)
    /// The address whose response is held until another one is set.
    let slow = Observed<String?>(nil)
    /// The header fields of each response.
    let headers = Observed<HTTPHeaders>([:])
    /// The header fields of the last request.
    let requestHeaders = Observed<HTTPHeaders?>(nil)
    let responseCount = Observed(0)
    /// The status of each response.
    let status = Observed(200)
    /// The error of every download.
    let error = Observed<HTTPError?>(nil)

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        throw HTTPError.unreachable("no network")
    }

    func download(
        _ request: HTTPRequest, into file: Int32,
        progress: @escaping @Sendable (HTTPProgress) -> Void
    ) async throws -> HTTPResponse {
        if isHeld.value { slow.update { $0 = request.url } }
        requestHeaders.update { $0 = request.headers }
        fetched.append(request.url)
        try await slow.wait { $0 == request.url ? nil : true }
        defer { responseCount.update { $0 += 1 } }
        if let error = error.value { throw error }
        if let tag = request.headers["If-None-Match"], tag == headers.value["ETag"] {
            return HTTPResponse(status: 304, url: request.url)
        }
        body.value.withUnsafeBytes { _ = write(file, $0.baseAddress, $0.count) }
        return HTTPResponse(status: status.value, headers: headers.value, url: request.url)
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
