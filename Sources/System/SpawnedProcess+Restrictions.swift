internal import CProcesses
internal import Glibc

/// A child process with fewer rights than its parent: resource limits, file rules, only the given descriptors, no
/// terminal and no new privileges.
extension SpawnedProcess {
    /// The properties of a process with fewer rights.
    package struct Setup: Sendable {
        /// The path of the program. `PATH` is not searched.
        package var program: String
        /// The arguments after the name of the program.
        package var arguments: [String] = []
        /// The complete environment.
        package var environment: [String: String] = [:]
        /// The descriptors of this process that become 0, 1, 2 and so on. The child has no others.
        package var descriptors: [Int32] = []
        /// The limits of resources by their numbers, such as `RLIMIT_CORE`.
        ///
        /// Source: setrlimit(2).
        package var limits: [(resource: UInt32, value: Int)] = []
        /// The nice value: 0 to 19.
        package var niceness = 0
        /// The descriptor of a Landlock ruleset; nil for none.
        package var fileRules: Int32?

        package init(program: String) { self.program = program }
    }

    /// Starts a program with fewer rights.
    ///
    /// The kernel kills the process when the thread that started it ends. Start it from the main thread, so that it
    /// ends with this process.
    ///
    /// - Throws: ``SpawnError``, also if a restriction cannot be applied. A program that starts and then fails is not
    ///   an error.
    package init(_ setup: Setup) throws(SpawnError) {
        var arguments = ([setup.program] + setup.arguments).map { strdup($0) } + [nil]
        var variables = setup.environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        // The duplicates must have higher numbers than the descriptors in the child.
        let lowest = Int32(setup.descriptors.count) + 1
        let descriptors = setup.descriptors.map { fcntl($0, F_DUPFD_CLOEXEC, lowest) }
        defer { for descriptor in descriptors where descriptor >= 0 { close(descriptor) } }
        guard !descriptors.contains(where: { $0 < 0 }) else {
            throw SpawnError(program: setup.program, code: errno)
        }
        let limits = setup.limits.map {
            shim_limit(resource: Int32($0.resource), value: rlim_t(max(0, $0.value)))
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
                        start.path = UnsafePointer(arguments[0])
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
        self.init(id: id)
    }

    /// Kills the process. Must not be called after its exit was awaited.
    package func kill() { _ = Glibc.kill(id, SIGKILL) }
}
