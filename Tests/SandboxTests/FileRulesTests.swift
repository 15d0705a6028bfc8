import Glibc
import Sandbox
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)), .enabled(if: FileRules.kernelVersion > 0))
struct FileRulesTests {
    @Test func `files can be opened only according to the rules`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                let folder = try TemporaryDirectory()
                for name in ["secret", "given", "own"] {
                    precondition(mkdir("\(folder.path)/\(name)", 0o700) == 0)
                    let file = open("\(folder.path)/\(name)/file", O_WRONLY | O_CREAT, 0o600)
                    precondition(file >= 0)
                }
                try ProcessRestrictions.forbidNewPrivileges()
                var rules = FileRules()
                rules.readable = ["\(folder.path)/given", "/nowhere"]
                rules.writable = ["\(folder.path)/own"]
                let isInForce = try rules.enforce()
                precondition(isInForce)
                func expectDenial(_ result: Int32, line: UInt = #line) {
                    precondition(result < 0 && errno == EACCES, "\(errno)", line: line)
                }
                expectDenial(open("\(folder.path)/secret/file", O_RDONLY))
                expectDenial(open("/etc/passwd", O_RDONLY))
                precondition(open("\(folder.path)/given/file", O_RDONLY) >= 0)
                expectDenial(open("\(folder.path)/given/file", O_WRONLY))
                expectDenial(open("\(folder.path)/given/new", O_WRONLY | O_CREAT, 0o600))
                precondition(open("\(folder.path)/own/new", O_WRONLY | O_CREAT, 0o600) >= 0)
                precondition(unlink("\(folder.path)/own/file") == 0)
                expectDenial(unlink("\(folder.path)/secret/file"))
                expectDenial(unlink("\(folder.path)/given/file"))
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
