import Glibc
import ImageMetadata
import ImageProtocol
import ProviderKit
import Sandbox
import TestSupport
import Testing

@testable import ImageClient
@testable import ImageHelper

/// The restrictions that protect the user if an image compromises the helper.
@Suite(.timeLimit(.minutes(10)))
struct HelperRestrictionsTests {
    @Test func `a restricted helper cannot access files, sockets and processes`() async throws {
        // The restricted process cannot remove the directory.
        let directory = try TemporaryDirectory()
        let secret = try directory.write("secret", to: "home/secret")
        let new = directory.appending("new")
        await #expect(processExitsWith: .success) {
            [secret = secret as String, new = new as String] in
            await recordErrors {
                let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                let hasFileRules = FileRules.kernelVersion > 0
                let confinesFiles = try ImageHelper.applyRestrictions()
                precondition(confinesFiles == hasFileRules)
                func expectDenied(_ result: Int32, line: UInt = #line) {
                    precondition(result < 0 && [EPERM, EACCES].contains(errno), line: line)
                }
                expectDenied(open(secret, O_RDONLY))
                expectDenied(open("/proc/self/environ", O_RDONLY))
                expectDenied(open(secret, O_WRONLY))
                expectDenied(open(new, O_WRONLY | O_CREAT, 0o600))
                expectDenied(unlink(secret))
                expectDenied(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
                expectDenied(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
                expectDenied(kill(getpid(), SIGTERM))
                // An open socket cannot be connected either.
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                let size = socklen_t(MemoryLayout<sockaddr_in>.size)
                expectDenied(
                    withUnsafePointer(to: &address) {
                        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                            connect(listener, $0, size)
                        }
                    })
                precondition(malloc(1300 << 20) == nil)
            }
        }
    }

    @Test @MainActor
    func `the helper process is restricted`() async throws {
        let fixture = try ImageHelperFixture()
        _ = try await fixture.probe(try fixture.file(TestImages.jpeg(40, 30)))
        let process = try #require(fixture.client.processID)
        let status = try #require(KernelFile.text("/proc/\(process)/status"))
        #expect(status.contains("\nSeccomp:\t2\n"))
        #expect(status.contains("\nNoNewPrivs:\t1\n"))
    }

    @Test(
        .enabled("the kernel shows the descriptors of such a process to root only") {
            getuid() == 0
        })
    @MainActor
    func `the helper process has only the socket and standard descriptors`() async throws {
        let fixture = try ImageHelperFixture()
        _ = try await fixture.probe(try fixture.file(TestImages.jpeg(40, 30)))
        let process = try #require(fixture.client.processID)
        let opened = (0..<256).filter { number in
            var status = stat()
            return lstat("/proc/\(process)/fd/\(number)", &status) == 0
        }
        #expect(opened == [0, 1, 2, 3])
    }
}
