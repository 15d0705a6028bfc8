internal import CProcesses
internal import Glibc

/// A program that is started with less than we have: limits, rules about files, none of our descriptors, no
/// terminal, no new privileges.
///
/// It dies with the thread that starts it: start it from the main thread, and it dies with us.
package struct SandboxedProcess: Sendable {
    /// Stays taken until ``waitForExit()`` has returned.
    package let id: Int32

    /// What a program is started with.
    package struct Setup {
        /// Its path: no folder is searched.
        package var program: String
        /// What follows the name of the program.
        package var arguments: [String] = []
        /// All of its environment.
        package var environment: [String: String] = [:]
        /// Its descriptors, from 0 on. It has no others.
        package var descriptors: [Int32] = []
        package var limits: [(resource: Resource, value: Int)] = []
        /// How much it stands back for others: 0 to 19.
        package var niceness = 0
        /// A ruleset of Landlock; nil for none.
        package var fileRules: Int32?

        package init(program: String) { self.program = program }
    }

    /// What a process can be given less of.
    package enum Resource: Sendable {
        /// Bytes of memory, all mappings counted.
        case addressSpace
        /// Bytes of memory that is its own and can be written.
        case data
        /// Bytes of the stack of the main thread, and by default of other threads.
        case stack
        case processorSeconds
        case descriptors
        /// Bytes of a file that it writes.
        case fileBytes
        case coreBytes
        /// Signals that wait, and timers, of all processes of the user.
        case pendingSignals

        fileprivate var number: Int32 {
            switch self {
            case .addressSpace: Int32(RLIMIT_AS.rawValue)
            case .data: Int32(RLIMIT_DATA.rawValue)
            case .stack: Int32(RLIMIT_STACK.rawValue)
            case .processorSeconds: Int32(RLIMIT_CPU.rawValue)
            case .descriptors: Int32(RLIMIT_NOFILE.rawValue)
            case .fileBytes: Int32(RLIMIT_FSIZE.rawValue)
            case .coreBytes: Int32(RLIMIT_CORE.rawValue)
            // RLIMIT_SIGPENDING, which Glibc's module lacks.
            case .pendingSignals: 11
            }
        }
    }

    /// Starts a program.
    ///
    /// - Throws: ``SpawnError``, also where a restriction cannot be put in force. A program that starts and
    ///   fails at once is no error.
    package init(_ setup: Setup) throws(SpawnError) {
        var arguments = ([setup.program] + setup.arguments).map { strdup($0) } + [nil]
        var variables = setup.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        let path = strdup(setup.program)
        defer {
            for text in arguments + variables { free(text) }
            free(path)
        }
        // Above the numbers that they get.
        let lowest = Int32(setup.descriptors.count) + 1
        let descriptors = setup.descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, lowest) }
        defer { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }
        guard !descriptors.contains(where: { $0 < 0 }) else {
            throw SpawnError(program: setup.program, code: errno)
        }
        let limits = setup.limits.map {
            shim_limit(resource: $0.resource.number, value: rlim_t(max(0, $0.value)))
        }
        var start = shim_start()
        start.niceness = Int32(setup.niceness)
        start.landlock = setup.fileRules ?? -1
        start.descriptor_count = Int32(descriptors.count)
        start.limit_count = Int32(limits.count)
        let id = arguments.withUnsafeMutableBufferPointer { arguments in
            variables.withUnsafeMutableBufferPointer { variables in
                descriptors.withUnsafeBufferPointer { descriptors in
                    limits.withUnsafeBufferPointer { limits in
                        start.path = UnsafePointer(path)
                        start.arguments = UnsafePointer(arguments.baseAddress)
                        start.environment = UnsafePointer(variables.baseAddress)
                        start.descriptors = descriptors.baseAddress
                        start.limits = limits.baseAddress
                        return shim_start_process(&start)
                    }
                }
            }
        }
        guard id > 0 else { throw SpawnError(program: setup.program, code: errno) }
        self.id = id
    }

    /// A descriptor that can be read from once it has ended; -1 where the kernel has none. The caller closes it.
    ///
    /// The corresponding C function is `pidfd_open`.
    package func endDescriptor() -> Int32 { shim_pidfd_open(id) }

    /// Ends it at once. Not to be called after ``waitForExit()``.
    package func kill() { _ = Glibc.kill(id, SIGKILL) }

    /// Blocks until its end. To be called once.
    package func waitForExit() -> SpawnedProcess.Exit { SpawnedProcess.waitForExit(id) }
}
