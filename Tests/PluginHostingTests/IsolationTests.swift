import Foundation
import Glibc
import PluginHosting
import ProviderKit
import TestSupport
import Testing

/// Attacks on the limits of a plugin, as a user that is subject to all limits.
///
/// Each test continues as a user without privileges in a process of its own, because the kernel exempts root from
/// the limit of tasks and from the permissions of files.
@Suite(.timeLimit(.minutes(10)))
struct IsolationTests {
    /// A part of a test, for a process of its own.
    typealias Scenario =
        @MainActor @Sendable (OrdinaryPrograms, _ sandbox: String) async throws -> Void

    @Test(arguments: isolation.keys.sorted(), sandboxes)
    func `a plugin is isolated in each sandbox`(_ scenario: String, _ sandbox: String) async {
        await run(scenario, in: sandbox)
    }

    @Test(arguments: availability.keys.sorted() + retries.keys.sorted())
    func `bubblewrap is replaced only if it never worked`(_ scenario: String) async {
        await run(scenario, in: "bubblewrap")
    }

    private func run(_ scenario: String, in sandbox: String) async {
        await #expect(processExitsWith: .success) { [scenario, sandbox] in
            await recordErrors { try await IsolationTests.run(scenario, in: sandbox) }
        }
    }

    @MainActor
    private static func run(_ name: String, in sandbox: String) async throws {
        let scenario = try #require(isolation[name] ?? availability[name] ?? retries[name])
        try await scenario(OrdinaryPrograms(), sandbox)
    }

    /// Returns a scenario of a plugin that shows a text.
    private static func shows(_ text: String, opening: String = "", _ script: String) -> Scenario {
        { programs, sandbox in
            let plugin = try programs.plugin(script, opening: opening, in: sandbox)
            #expect(try await plugin.shown() == text)
        }
    }

    private static let isolation: [String: Scenario] = [
        // MARK: Memory

        "memory that was made read-only counts as memory of the plugin": { programs, sandbox in
            let plugin = try programs.plugin(
                """
                import ctypes
                libc = ctypes.CDLL(None)
                libc.mmap.restype = ctypes.c_void_p
                part = 16 << 20
                def more():
                    address = libc.mmap(None, ctypes.c_size_t(part), 3, 0x22, -1, ctypes.c_size_t(0))
                    if address == ctypes.c_void_p(-1).value: return False
                    ctypes.memset(address, 1, part)
                    return libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(part), 1) == 0
                total = 0
                while total < 1200 << 20 and more(): total += part
                show(total >> 20)
                """, in: sandbox)
            let total = try #require(Int(try await plugin.shown() ?? ""))
            // Less than the limit, because programs and libraries take a part of the address space.
            #expect(300...560 ~= total, "\(total) MiB")
        },
        // Each place of a pipe holds a page that the plugin can unmap, and pipes in transit are in no table of
        // descriptors.
        "a plugin cannot put pages into pipes, or pass descriptors": shows(
            "[-1, -1, 'OSError', 'PermissionError', 'done: 1']",
            """
            import array, ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            end, pipe = os.pipe()
            file = os.open(sys.argv[0], os.O_RDONLY)
            page = ctypes.create_string_buffer(16)
            vector = (ctypes.c_size_t * 2)(ctypes.addressof(page), 1)
            one, two = socket.socketpair()
            passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [end]))]
            show([libc.vmsplice(pipe, vector, ctypes.c_size_t(1), 0),
                  libc.splice(file, None, pipe, None, ctypes.c_size_t(1), 0),
                  attempt(lambda: os.sendfile(pipe, file, 0, 1)),
                  attempt(lambda: one.sendmsg([b"x"], passed)), attempt(lambda: one.send(b"x"))])
            """),
        "a plugin cannot lock files or parts of them": shows(
            list("PermissionError", 5),
            """
            import fcntl, struct
            file = os.open(sys.argv[0], os.O_RDONLY)
            lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 1, 0)
            show([attempt(lambda: fcntl.fcntl(file, command, lock))
                  for command in (fcntl.F_SETLK, fcntl.F_SETLKW, 37, 38)]
                 + [attempt(lambda: fcntl.flock(file, fcntl.LOCK_SH))])
            """),
        "the working directory of a plugin is the root": shows("/", "show(os.getcwd())"),
        "a plugin cannot write to files of proc": { programs, sandbox in
            let plugin = try programs.plugin(
                """
                show([attempt(lambda: open("/proc/self/" + name, "r+b").close())
                      for name in ("mem", "oom_score_adj", "coredump_filter", "autogroup", "timerslack_ns", "comm")])
                """, in: sandbox)
            let shown = try #require(try await plugin.shown())
            #expect(!shown.contains("done"), "\(shown)")
        },

        // MARK: Threads

        // The main thread counts, too.
        "a plugin has no more threads than its limit": shows(
            "31", opening: Threads.opening, Threads.all),
        "threads that start threads at the same time have the same limit": { programs, sandbox in
            let plugin = try programs.plugin(
                """
                started, finished = [], []
                def start():
                    started.append(1)
                    isStarted = attempt(lambda: threading.Thread(target=grow, daemon=True).start()) == "done: None"
                    if not isStarted: started.pop()
                    return isStarted
                def grow():
                    while start(): pass
                    finished.append(1)
                    done.wait()
                start()
                while len(finished) < len(started): time.sleep(0.01)
                show(len(started)); done.set()
                """, opening: Threads.opening, in: sandbox)
            let count = try #require(Int(try await plugin.shown() ?? ""))
            #expect(16...32 ~= count, "\(count) threads")
        },
        "a plugin can start threads in the place of threads that ended": shows(
            list("done: None", 6), opening: Threads.opening,
            """
            def round():
                # Those of the round before may not have ended yet, and still count.
                threads = [threading.Thread(target=done.wait, args=(0.01,)) for _ in range(15)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
            show([attempt(round) for _ in range(6)])
            """),
        // The kernel limits the descriptors of all processes of the user that are in transit.
        "a plugin starts threads while other programs pass many descriptors": { programs, sandbox in
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            defer { for end in ends { close(end) } }
            // More than the number of descriptors that a plugin may have open.
            for _ in 0..<100 { try #require(passDescriptor(0, over: ends[0])) }
            let plugin = try programs.plugin(Threads.all, opening: Threads.opening, in: sandbox)
            let count = try #require(Int(try await plugin.shown() ?? ""))
            #expect(count >= 31)
        },
        "two plugins with all threads leave room for a third one in the unit": {
            programs, sandbox in
            let text = try #require(try Unit.value("TasksMax"))
            let limit = try #require(Int(text))
            try limitTasks(to: limit)
            let greedy = try (0..<2).map { _ in
                try programs.plugin(Threads.all, opening: Threads.opening, in: sandbox)
            }
            for plugin in greedy { #expect(try await plugin.shown() == "31") }
            let third = try programs.plugin("show('here')", in: sandbox)
            #expect(try await third.shown() == "here")
            withExtendedLifetime(greedy) {}
        },

        // MARK: Other processes of the user

        "a plugin cannot send datagrams to sockets by their paths": { programs, sandbox in
            let directory = try TemporaryDirectory()
            // In the folder of the plugin, which it sees in either sandbox.
            try directory.write("", to: "home/.local/share/imagefeed/providers/odd/README")
            let path = directory.appending("home/.local/share/imagefeed/providers/odd/log")
            let receiver = try boundSocket(SOCK_DGRAM, at: path)
            defer { close(receiver) }
            let plugin = try programs.plugin(
                """
                def send(kind):
                    one, two = socket.socketpair(socket.AF_UNIX, kind)
                    return one.sendto(b"forged", "\(path)")
                def stream():
                    one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
                    one.sendall(b"own"); return two.recv(3)
                show([attempt(lambda: send(socket.SOCK_DGRAM)), attempt(lambda: send(socket.SOCK_RAW)),
                      attempt(lambda: send(socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)),
                      attempt(lambda: send(socket.SOCK_SEQPACKET)), attempt(lambda: send(socket.SOCK_STREAM)),
                      attempt(lambda: socket.socketpair(30, socket.SOCK_DGRAM)), attempt(stream)])
                """, in: sandbox, directory: directory)
            let shown = try #require(try await plugin.shown())
            var byte: UInt8 = 0
            #expect(recv(receiver, &byte, 1, Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN)
            #expect(
                shown.hasPrefix("['PermissionError', 'PermissionError', 'PermissionError', "),
                "\(shown)")
            #expect(shown.hasSuffix("'PermissionError', \"done: b'own'\"]"), "\(shown)")
        },
        "a plugin cannot list the shared memory of the user": { programs, sandbox in
            let number = shmget(IPC_PRIVATE, 4096, 0o600)
            try #require(number >= 0)
            defer { shmctl(number, IPC_RMID, nil) }
            let plugin = try programs.plugin(
                """
                import ctypes
                libc = ctypes.CDLL(None, use_errno=True)
                def listed(): return len(open("/proc/sysvipc/shm").readlines()) - 1
                info = ctypes.create_string_buffer(256)
                show([attempt(listed), libc.shmctl(0, 14, info), libc.shmctl(0, 13, info)])
                """, in: sandbox)
            let shown = try #require(try await plugin.shown())
            #expect(
                ["['done: 0', -1, -1]", "['PermissionError', -1, -1]"].contains(shown), "\(shown)")
        },
    ]

    private static let availability: [String: Scenario] = [
        "bubblewrap stays in use while there are no tasks left": { programs, _ in
            let neighbour = try programs.plugin(
                Threads.all, opening: Threads.opening, in: "bubblewrap")
            #expect(try await neighbour.shown() == "31")
            var failures = 0
            // Threads may end after they were counted, and leave room for the start. Then another plugin is started.
            var others: [PluginFixture] = []
            repeat {
                let third = try programs.replaceable("show('here')")
                others.append(third)
                // Without a task left, the daemon cannot start bwrap; with one, bwrap cannot start the plugin.
                for count in 0..<2 {
                    try limitTasks(to: tasks() + count)
                    do {
                        _ = try await third.page()
                        break
                    } catch {
                        failures += 1
                        #expect("\(error)".contains("cannot be started at present"), "\(error)")
                    }
                    #expect(third.provider.condition.sandbox == "bubblewrap")
                    #expect(third.provider.condition.state == .ready)
                }
                #expect(third.disablements.value.isEmpty)
                try limitTasks(to: 4096)
                #expect(try await third.shown() == "here")
                #expect(third.provider.condition.sandbox == "bubblewrap")
            } while programs.isAlone && failures == 0 && others.count < 10
            // Other processes of the user may end, too, unless the user is a new one.
            if programs.isAlone { #expect(failures > 0) }
            withExtendedLifetime(neighbour) {}
        },
        "bubblewrap that never worked is replaced": { programs, _ in
            var programs = programs
            try programs.replaceBubblewrap(
                "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
            let plugin = try programs.replaceable("show('here')")
            #expect(try await plugin.shown() == "here")
            #expect(plugin.provider.condition.sandbox == "landlock")
        },
        "bubblewrap that worked once is never replaced": { programs, _ in
            var programs = programs
            let stop = programs.directory.appending("stop")
            try programs.replaceBubblewrap(
                "if [ -e \(stop) ]; then echo 'bwrap: No permissions to create new namespace' >&2; exit 1; fi"
            )
            let plugin = try programs.replaceable("show('here'); os._exit(0)")
            #expect(try await plugin.shown() == "here")
            try await plugin.logged("A plugin has ended")
            try programs.directory.write("", to: "stop")
            await plugin.expectFailure("cannot be started")
            #expect(plugin.provider.condition.sandbox == "bubblewrap")
        },
    ]

    private static let retries: [String: Scenario] = [
        "a full table of processes is no failure of the plugin":
            failedStart("Resource temporarily unavailable"),
        "a lack of memory is no failure of the plugin": failedStart("Cannot allocate memory"),
    ]

    private static func failedStart(_ error: String) -> Scenario {
        { programs, _ in
            var programs = programs
            let stop = try programs.directory.write("", to: "stop")
            try programs.replaceBubblewrap(
                "if [ -e \(stop) ]; then echo 'bwrap: Creating new namespace failed: \(error)' >&2; exit 1; fi"
            )
            let plugin = try programs.replaceable("show('here')")
            for _ in 0..<7 { await plugin.expectFailure("cannot be started") }
            #expect(plugin.provider.condition.sandbox == "bubblewrap")
            #expect(plugin.provider.condition.state == .ready)
            unlink(stop)
            #expect(try await plugin.shown() == "here")
        }
    }

    // MARK: The unit of systemd

    @Test func `the unit permits the namespaces of bubblewrap`() async throws {
        let permitted = try #require(try Unit.value("RestrictNamespaces")).split(separator: " ")
        let used = SandboxKind.namespaces
        #expect(Set(permitted.map(String.init)) == Set(used).union(["mnt"]))
    }
}

private let sandboxes = [SandboxKind.bubblewrap, .landlock].map(\.rawValue)

/// The unit file of the daemon.
enum Unit {
    static func value(_ key: String) throws -> String? {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../dist/imagefeedd.service.in").standardized.path
        return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            .last { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.count + 1)) }
    }
}

/// The programs that an ordinary user can run, and the directory that contains them.
@MainActor
struct OrdinaryPrograms {
    let directory: TemporaryDirectory
    var programs: SandboxPrograms
    /// True if the user has no other processes.
    let isAlone: Bool

    /// Continues the process as an ordinary user.
    init() throws {
        // As in the daemon.
        signal(SIGPIPE, SIG_IGN)
        isAlone = geteuid() == 0
        directory = try OrdinaryUser.become(copying: ["imagefeed-plugin-launcher"])
        programs = .installed
        programs.launcher = directory.appending("imagefeed-plugin-launcher")
    }

    func plugin(
        _ script: String, opening: String = "", in sandbox: String, fallbacks: [SandboxKind] = [],
        limits: PluginLimits = PluginFixture.quick, directory: TemporaryDirectory? = nil
    ) throws -> PluginFixture {
        try PluginFixture(
            script, opening: opening, limits: limits,
            level: try #require(SandboxKind(rawValue: sandbox)), fallbacks: fallbacks,
            programs: programs, directory: directory)
    }

    /// Creates a plugin whose sandbox of bubblewrap may be replaced.
    func replaceable(_ script: String) throws -> PluginFixture {
        try plugin(script, in: "bubblewrap", fallbacks: [.landlock])
    }

    /// Makes `bwrap` a script that runs the real program unless the script fails before.
    mutating func replaceBubblewrap(_ script: String) throws {
        let bubblewrap = try #require(programs.bubblewrap)
        let path = try directory.write(
            "#!/bin/sh\n\(script)\nexec \(bubblewrap) \"$@\"\n", to: "bwrap")
        chmod(path, 0o755)
        programs.bubblewrap = path
    }
}

/// Sends a descriptor to a socket, where it stays in transit.
private func passDescriptor(_ descriptor: Int32, over socket: Int32) -> Bool {
    var byte: UInt8 = 0
    return withUnsafeMutablePointer(to: &byte) { byte in
        var part = iovec(iov_base: byte, iov_len: 1)
        // struct cmsghdr, the descriptor, and padding: SOL_SOCKET is 1, SCM_RIGHTS is 1.
        var control: (size_t, Int32, Int32, Int32, Int32) = (20, 1, 1, descriptor, 0)
        return withUnsafeMutablePointer(to: &part) { part in
            withUnsafeMutableBytes(of: &control) { control in
                var message = msghdr()
                message.msg_iov = part
                message.msg_iovlen = 1
                message.msg_control = control.baseAddress
                message.msg_controllen = control.count
                return sendmsg(socket, &message, 0) == 1
            }
        }
    }
}

private enum Threads {
    static let opening = """
        import threading
        done = threading.Event()
        threading.stack_size(64 << 10)
        """

    /// Starts as many threads as possible, which wait, and shows their number.
    static let all = """
        count = 0
        while count < 200 and attempt(lambda: threading.Thread(target=done.wait, daemon=True).start()) == "done: None":
            count += 1
        show(count)
        """
}

/// Limits the number of tasks of the user, as seen by this process and by those that it starts.
private func limitTasks(to limit: Int) throws {
    // RLIMIT_NPROC, which Glibc's module lacks.
    let resource = __rlimit_resource_t(6)
    var limits = rlimit()
    try #require(getrlimit(resource, &limits) == 0)
    limits.rlim_cur = min(rlim_t(limit), limits.rlim_max)
    try #require(setrlimit(resource, &limits) == 0)
}

/// Counts the tasks of the user.
private func tasks() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").reduce(into: 0) { count, name in
        var status = stat()
        guard Int(name) != nil, stat("/proc/\(name)", &status) == 0, status.st_uid == getuid()
        else { return }
        let tasks = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(name)/task")
        count += tasks?.count ?? 0
    }
}
