internal import CLinux
internal import CProcesses
internal import Dispatch
internal import Glibc
internal import Synchronization

/// The process that runs this code.
package enum CurrentProcess {
    /// The name of the host in printable ASCII, without spaces.
    package static var hostName: String {
        var name = utsname()
        guard uname(&name) == 0 else { return "localhost" }
        return withUnsafeBytes(of: &name.nodename) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }.filter { 0x21...0x7e ~= $0 }, as: UTF8.self)
        }
    }

    /// Returns the path of another program of this package: in the folder of the running program, as in a build folder,
    /// or as installed. The programs of `bin/imagefeedd` are `libexec/imagefeed/NAME`.
    ///
    /// - Returns: The installed path if there is no program in either place.
    package static func path(ofProgram name: String) -> String {
        let folder = parent(of: PathBytes("/proc/self/exe").linkTarget?.text ?? "")
        let beside = "\(folder)/\(name)"
        if access(beside, X_OK) == 0 { return beside }
        return "\(parent(of: folder))/libexec/imagefeed/\(name)"
    }

    /// Returns the path without its last element and the slash before it.
    private static func parent(of path: String) -> String {
        String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    }

    // MARK: Memory

    /// Releases memory that is not needed until the next request: free heap, and the read-only pages of programs and
    /// libraries, which the kernel reads from their files again on access.
    ///
    /// Takes about a millisecond. The first accesses to the released memory take about another millisecond in total.
    package static func trimMemory() {
        malloc_trim(0)
        dl_iterate_phdr(
            { object, _, _ in
                if let object { CurrentProcess.dropReadOnlyPages(of: object.pointee) }
                return 0
            }, nil)
    }

    private static func dropReadOnlyPages(of object: shim_loaded_object) {
        let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
        for header in UnsafeBufferPointer(start: object.headers, count: Int(object.header_count))
        // The memory of a segment that is writable, even temporarily during relocation, differs from the file.
        where header.p_type == PT_LOAD && header.p_flags & UInt32(PF_W) == 0 {
            let start = UInt(object.address + header.p_vaddr)
            let end = (start + UInt(header.p_filesz) + page - 1) & ~(page - 1)
            let first = start & ~(page - 1)
            madvise(UnsafeMutableRawPointer(bitPattern: first), Int(end - first), MADV_DONTNEED)
        }
    }

    // MARK: Resource limits

    /// The soft limit of descriptors before it was raised; 0 if it was not raised.
    private static let originalDescriptorLimit = Atomic<UInt64>(0)
    private static let minimumDescriptors = 64
    private static let minimumThreads = 12
    private static let minimumFileMebibytes = 16

    /// Returns a sentence about a limit within which the daemon cannot work, and the remedy; nil if there is none.
    ///
    /// A write beyond the limit of file sizes fails from now on; it ends the process otherwise.
    package static func limitProblem() -> String? {
        signal(SIGXFSZ, SIG_IGN)
        if let limit = limit(RLIMIT_NOFILE, \.rlim_max), limit < minimumDescriptors {
            return
                "the limit of open files is \(limit); raise it to at least \(minimumDescriptors) with “ulimit -n” or LimitNOFILE="
        }
        if let limit = limit(RLIMIT_FSIZE, \.rlim_cur), limit < minimumFileMebibytes << 20 {
            return
                "the limit of file sizes is \(limit) bytes; raise it to at least \(minimumFileMebibytes) MiB with “ulimit -f” or LimitFSIZE="
        }
        if let limit = limit(__RLIMIT_NPROC, \.rlim_cur), limit < 4096,
            !canStartThreads(minimumThreads)
        {
            return
                "the limit of processes and threads, \(limit), is reached; raise it with “ulimit -u” or LimitNPROC="
        }
        return nil
    }

    /// Returns a limit; nil if there is none.
    private static func limit(
        _ resource: __rlimit_resource, _ bound: KeyPath<rlimit, rlim_t>
    ) -> Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return nil }
        return Int(exactly: limit[keyPath: bound])
    }

    /// Starts threads that exist at the same time, and ends them.
    ///
    /// - Returns: False if one of them cannot be started.
    private static func canStartThreads(_ count: Int) -> Bool {
        let gate = DispatchSemaphore(value: 0)
        var threads: [pthread_t] = []
        for _ in 0..<count {
            var thread = pthread_t()
            let code = pthread_create(
                &thread, nil,
                { context in
                    if let context {
                        Unmanaged<DispatchSemaphore>.fromOpaque(context).takeUnretainedValue()
                            .wait()
                    }
                    return nil
                }, Unmanaged.passUnretained(gate).toOpaque())
            guard code == 0 else { break }
            threads.append(thread)
        }
        for _ in threads { gate.signal() }
        for thread in threads { pthread_join(thread, nil) }
        return threads.count == count
    }

    /// Raises the soft limit of descriptors, as far as the hard limit permits.
    ///
    /// Programs that are started with ``SpawnedProcess`` get the former soft limit back, because select(2) fails
    /// with descriptors above 1023.
    ///
    /// - Parameter count: The requested limit.
    package static func raiseDescriptorLimit(to count: Int) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return }
        let wanted = min(rlim_t(count), limit.rlim_max)
        guard limit.rlim_cur < wanted else { return }
        let former = limit.rlim_cur
        limit.rlim_cur = wanted
        if setrlimit(resource, &limit) == 0 {
            originalDescriptorLimit.store(UInt64(former), ordering: .relaxed)
        }
    }

    /// Restores the former soft limit in a program that was just started.
    ///
    /// - Parameter process: A child that has not been waited for.
    static func restoreDescriptorLimit(in process: pid_t) {
        let former = originalDescriptorLimit.load(ordering: .relaxed)
        if former > 0 { shim_lower_descriptor_limit(process, rlim_t(former)) }
    }

    // MARK: Exit

    /// Ends the process with status 0 after 1.5 seconds, regardless of its other threads. Later calls have no effect.
    ///
    /// All confirmed changes are on the disk, so an exit without cleanup loses nothing. The cleanup can block: in a
    /// write to a bus that does not read, or in a file system that does not respond.
    package static func startExitDeadline() { exitDeadline }

    /// The timer, which is started at most once.
    private static let exitDeadline: Void = {
        var thread = pthread_t()
        // A thread, because a signal handler does not run while a file system blocks the main thread.
        let code = pthread_create(
            &thread, nil,
            { _ in
                usleep(1_500_000)
                _exit(EXIT_SUCCESS)
            }, nil)
        guard code != 0 else { return }
        signal(SIGALRM) { _ in _exit(EXIT_SUCCESS) }
        alarm(1)
    }()
}

/// The signals that end or reload the daemon.
///
/// They are handled from the start of the process, also while it waits for a lock or for the bus.
@MainActor
package final class SignalHandlers {
    /// Ends the process. Called on the main queue after `SIGTERM` or `SIGINT`, with the time limit of the exit running.
    package var onEnd: () -> Void = { exit(EXIT_SUCCESS) }
    /// Reads the configuration again. Called on the main queue after `SIGHUP`.
    package var onReload: () -> Void = {}
    private var sources: [any DispatchSourceSignal] = []

    package init() {
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGTERM, SIGINT] {
            sources.append(Self.makeEndSource(number) { [unowned self] in onEnd() })
        }
        signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .main)
        source.setEventHandler { [unowned self] in onReload() }
        source.activate()
        sources.append(source)
    }

    /// Returns a source that starts the deadline on its own queue, because the main thread may be blocked.
    nonisolated private static func makeEndSource(
        _ number: Int32, _ end: @escaping @MainActor @Sendable () -> Void
    ) -> any DispatchSourceSignal {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(
            signal: number, queue: DispatchQueue(label: "signals"))
        source.setEventHandler {
            CurrentProcess.startExitDeadline()
            DispatchQueue.main.async { MainActor.assumeIsolated { end() } }
        }
        source.activate()
        return source
    }
}
