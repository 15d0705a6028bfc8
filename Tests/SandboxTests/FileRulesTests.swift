import Glibc
import Sandbox
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled(if: FileRules.kernelVersion > 0))
struct FileRulesTests {
    @Test func `files can be opened only according to the rules`() async throws {
        // The restricted process cannot remove the directory.
        let directory = try TemporaryDirectory()
        for name in ["secret", "given", "own"] { try directory.write("", to: "\(name)/file") }
        await #expect(processExitsWith: .success) { [folder = directory.path as String] in
            await recordErrors {
                try ProcessRestrictions.forbidNewPrivileges()
                var rules = FileRules()
                rules.readable = ["\(folder)/given", "/nowhere"]
                rules.writable = ["\(folder)/own"]
                let isInForce = try rules.enforce()
                precondition(isInForce)
                func expectDenial(_ result: Int32, line: UInt = #line) {
                    precondition(result < 0 && errno == EACCES, "\(errno)", line: line)
                }
                expectDenial(open("\(folder)/secret/file", O_RDONLY))
                expectDenial(open("/etc/passwd", O_RDONLY))
                precondition(open("\(folder)/given/file", O_RDONLY) >= 0)
                expectDenial(open("\(folder)/given/file", O_WRONLY))
                expectDenial(open("\(folder)/given/new", O_WRONLY | O_CREAT, 0o600))
                precondition(open("\(folder)/own/new", O_WRONLY | O_CREAT, 0o600) >= 0)
                precondition(unlink("\(folder)/own/file") == 0)
                expectDenial(unlink("\(folder)/secret/file"))
                expectDenial(unlink("\(folder)/given/file"))
            }
        }
    }

    @Test func `without rules nothing can be opened`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                try ProcessRestrictions.forbidNewPrivileges()
                _ = try FileRules().enforce()
                precondition(open("/", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES)
                precondition(open("/dev/null", O_RDONLY) < 0 && errno == EACCES)
            }
        }
    }
}
