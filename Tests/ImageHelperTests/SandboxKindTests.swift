import Glibc
import ImageProtocol
import ProviderKit
import Sandbox
import TestSupport
import Testing

@testable import ImageClient
@testable import ImageHelper

/// What the helper could not do if an image took it over.
@Suite(.timeLimit(.minutes(1)))
struct SandboxKindTests {
    @Test(arguments: ["decode", "draw"])
    func `who decodes or draws reaches nothing of the user's`(name: String) async {
        await #expect(processExitsWith: .success) { [name] in
            let directory = try TemporaryDirectory()
            let secret = try directory.write("secret", to: "home/secret")
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let hasFileRules = FileRules.kernelVersion > 0
            let guards = try ImageHelper.confine(try #require(HelperRole(rawValue: name)))
            precondition(guards.contains(.systemCalls))
            precondition(guards.contains(.files) == hasFileRules)
            func expectRefusal(_ result: Int32, line: UInt = #line) {
                precondition(result < 0 && [EPERM, EACCES].contains(errno), line: line)
            }
            if name == "decode" || guards.contains(.files) {
                expectRefusal(open(secret, O_RDONLY))
                expectRefusal(open("/proc/self/environ", O_RDONLY))
            }
            expectRefusal(open(secret, O_WRONLY))
            expectRefusal(open(directory.appending("new"), O_WRONLY | O_CREAT, 0o600))
            expectRefusal(unlink(secret))
            expectRefusal(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
            expectRefusal(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            expectRefusal(kill(getpid(), SIGTERM))
            // Not even a socket that it has leads anywhere.
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            expectRefusal(
                withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(listener, $0, size)
                    }
                })
            precondition(malloc(700 << 20) == nil)
        }
    }

    @Test @MainActor func `the helper is confined, and has nothing but its socket`() async throws {
        let world = try WorkshopFixture()
        _ = try await world.workshop.probe(
            try world.file(TestImages.jpeg(40, 30)), urgency: .now)
        let process = try #require(world.workshop.processID)
        let status = try #require(Self.read("/proc/\(process)/status"))
        #expect(status.contains("\nSeccomp:\t2\n"))
        #expect(status.contains("\nNoNewPrivs:\t1\n"))
        // The kernel shows the descriptors of a process that is not dumpable to root only.
        guard getuid() == 0 else { return }
        let opened = (0..<256).filter { number in
            var status = stat()
            return lstat("/proc/\(process)/fd/\(number)", &status) == 0
        }
        #expect(opened == [0, 1, 2, 3])
    }

    private static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }

    @Test func `without gdk-pixbuf, what is missing is named`() {
        #expect {
            try PixbufLibrary("libgdk_pixbuf-nowhere.so.0")
        } throws: { error in
            guard case ImageFailure.notSupported(let text) = error else { return false }
            return text.contains("install") && text.contains("libgdk-pixbuf-2.0-0")
        }
    }

    @Test func `without Pango, a portrait is a colour`() throws {
        #expect(DrawingLibrary("libpangocairo-nowhere.so.0") == nil)
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        try InitialsAvatar(name: "Ada", pixels: 16).fill(to: ends[1])
        var bytes = [UInt8](repeating: 0, count: 64)
        #expect(Glibc.read(ends[0], &bytes, bytes.count) == 64)
        #expect(ImageFormat(prefix: bytes) == .png)
        for end in ends { close(end) }
    }

    @Test(arguments: [
        ("Ada Lovelace", "AL"), ("ada", "A"), ("  Jean-Luc  de la Cruz ", "JC"), ("", "?"),
        ("文 字", "文字"), ("ß", "SS"), ("(x)", "X"), ("--", "?"),
    ])
    func `initials are those of the first and the last word`(name: String, initials: String) {
        #expect(InitialsAvatar.initials(of: name) == initials)
        #expect(
            InitialsAvatar(name: name, pixels: 1).color
                == InitialsAvatar(name: name, pixels: 9).color)
    }
}
