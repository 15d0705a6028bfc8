import Glibc
import Sandbox
import TestSupport
import Testing

/// Tests in separate processes, because a filter cannot be removed.
@Suite(.timeLimit(.minutes(10)))
struct SystemCallFilterTests {
    @Test func `the computing filter refuses files, processes and sockets`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                let pipe = try readyPipe()
                try ProcessRestrictions.forbidNewPrivileges()
                try SystemCallFilter.computing.enforce()
                expectRefusal(open("/etc/hostname", O_RDONLY))
                expectRefusal(open("/tmp/imagefeed-sandbox-test", O_WRONLY | O_CREAT, 0o600))
                expectRefusal(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
                expectRefusal(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
                expectRefusal(kill(getpid(), 0))
                expectRefusal(unlink("/tmp/imagefeed-sandbox-test"))
                expectRefusal(chdir("/"))
                var status = stat()
                expectRefusal(stat("/etc/hostname", &status))
                var id = pid_t()
                var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
                let code = posix_spawn(&id, "/bin/true", nil, nil, &arguments, environ)
                precondition(code == EPERM, "A program was started, or failed with \(code)")
                // Open descriptors can be used.
                var byte: UInt8 = 0
                precondition(read(pipe, &byte, 1) == 1 && fstat(pipe, &status) == 0)
            }
        }
    }

    @Test func `memory cannot be executable`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                try ProcessRestrictions.forbidNewPrivileges()
                try SystemCallFilter.computing.enforce()
                let flags = MAP_PRIVATE | MAP_ANONYMOUS
                let code = mmap(nil, 4096, PROT_READ | PROT_EXEC, flags, -1, 0)
                precondition(code == MAP_FAILED && errno == EPERM)
                let data = mmap(nil, 4096, PROT_READ | PROT_WRITE, flags, -1, 0)
                precondition(data != MAP_FAILED)
                expectRefusal(mprotect(data, 4096, PROT_READ | PROT_EXEC))
            }
        }
    }

    @Test func `threads can be started and inherit the filter`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                try ProcessRestrictions.forbidNewPrivileges()
                try SystemCallFilter.computing.enforce()
                var thread = pthread_t()
                let code = pthread_create(
                    &thread, nil,
                    { _ in
                        expectRefusal(open("/etc/hostname", O_RDONLY))
                        return nil
                    }, nil)
                precondition(code == 0, "No thread was started: \(code)")
                pthread_join(thread, nil)
            }
        }
    }

    @Test func `a program can abort`() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            await recordErrors {
                try ProcessRestrictions.forbidNewPrivileges()
                try SystemCallFilter.computing.enforce()
                abort()
            }
        }
    }

    @Test func `System V shared memory and semaphores are refused`() async {
        await #expect(processExitsWith: .success) {
            await recordErrors {
                // The number of a segment is sufficient to access it.
                let number = shmget(IPC_PRIVATE, 4096, 0o600)
                precondition(shmat(number, nil, 0) != UnsafeMutableRawPointer(bitPattern: -1))
                // The kernel deletes the segment with its last process.
                precondition(shmctl(number, IPC_RMID, nil) == 0)
                try ProcessRestrictions.forbidNewPrivileges()
                try SystemCallFilter.program(
                    seesOthers: false, refusesSignals: false, consultsAboutThreads: false
                ).enforce()
                expectRefusal(shmget(IPC_PRIVATE, 4096, 0o600))
                precondition(shmat(number, nil, 0) == UnsafeMutableRawPointer(bitPattern: -1))
                expectRefusal(shmctl(number, IPC_RMID, nil))
                var operation = sembuf(sem_num: 0, sem_op: 1, sem_flg: 0)
                expectRefusal(semop(0, &operation, 1))
            }
        }
    }
}

/// Returns the read end of a pipe that contains one byte.
private func readyPipe() throws -> Int32 {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0 && write(ends[1], "x", 1) == 1)
    return ends[0]
}

func expectRefusal(_ result: Int32, line: UInt = #line) {
    precondition(
        result < 0 && errno == EPERM, "It was allowed, or failed with \(errno)", line: line)
}
