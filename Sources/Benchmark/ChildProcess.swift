internal import Glibc

/// A program that we have started.
final class ChildProcess {
    private static var running: [ChildProcess] = []

    let id: Int32

    /// Starts a program with no signal blocked or ignored; `descriptors` are what it has besides its
    /// standard ones, by their numbers there.
    init(
        _ path: String, _ arguments: [String] = [], environment: [String: String],
        descriptors: [Int32: Int32] = [:]
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors {
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var argv = ([path] + arguments).map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var id: Int32 = 0
        let code = posix_spawnp(&id, path, &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw BenchmarkError.system(path, code) }
        self.id = id
        Self.running.append(self)
    }

    /// Tells it to end, and waits until it has.
    func end() {
        guard let index = Self.running.firstIndex(where: { $0 === self }) else { return }
        Self.running.remove(at: index)
        kill(id, SIGTERM)
        while waitpid(id, nil, 0) < 0 && errno == EINTR {}
    }

    /// Ends them all, the last one first.
    static func endAll() { running.reversed().forEach { $0.end() } }
}
