import Glibc
import Sandbox
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ProcessRestrictionsTests {
    @Test func `the limit of memory is effective`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                // The sanitizers have reserved far more memory than that.
                try ProcessRestrictions.limit(RLIMIT_AS.rawValue, to: 1 << 30)
                let memory = mmap(
                    nil, 2 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                precondition(memory == MAP_FAILED && errno == ENOMEM)
            }
        }
    }

    @Test func `a lower existing limit remains`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                try ProcessRestrictions.limit(RLIMIT_CORE.rawValue, to: 0)
                try ProcessRestrictions.limit(RLIMIT_CORE.rawValue, to: 1000)
                var limit = rlimit()
                getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
                precondition(limit.rlim_cur == 0 && limit.rlim_max == 0)
            }
        }
    }

    @Test func `the limit of processor time is effective`() async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            await recordErrors {
                try ProcessRestrictions.limit(RLIMIT_CPU.rawValue, to: 1)
                signal(SIGXCPU, SIG_IGN)
                while true {}
            }
        }
    }

    @Test func `descriptors from a number on are closed`() async {
        await #expect(processExitsWith: .success) {
            let open = dup2(0, 100)
            let closed = dup2(0, 200)
            ProcessRestrictions.closeDescriptors(from: 150)
            precondition(fcntl(open, F_GETFD) >= 0)
            precondition(fcntl(closed, F_GETFD) < 0 && errno == EBADF)
        }
    }
}
