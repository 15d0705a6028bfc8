import Glibc
import Sandbox
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ProcessRestrictionsTests {
    @Test func `memory ends where it is limited`() async {
        await #expect(processExitsWith: .success) {
            // The sanitizers have reserved far more than that.
            try ProcessRestrictions.limit(.addressSpace, to: 1 << 30)
            let memory = mmap(
                nil, 2 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            precondition(memory == MAP_FAILED && errno == ENOMEM)
        }
    }

    @Test func `a limit that is narrower already stays`() async {
        await #expect(processExitsWith: .success) {
            try ProcessRestrictions.limit(.coreBytes, to: 0)
            try ProcessRestrictions.limit(.coreBytes, to: 1000)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
            precondition(limit.rlim_cur == 0 && limit.rlim_max == 0)
        }
    }

    @Test func `time on the processor ends where it is limited`() async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            try ProcessRestrictions.limit(.processorSeconds, to: 1)
            signal(SIGXCPU, SIG_IGN)
            while true {}
        }
    }

    @Test func `descriptors are closed from a number on`() async {
        await #expect(processExitsWith: .success) {
            let kept = dup2(0, 100)
            let closed = dup2(0, 200)
            ProcessRestrictions.closeDescriptors(from: 150)
            precondition(fcntl(kept, F_GETFD) >= 0)
            precondition(fcntl(closed, F_GETFD) < 0 && errno == EBADF)
        }
    }
}
