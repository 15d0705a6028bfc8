internal import CLinux
internal import Glibc
internal import ImageProtocol
internal import Sandbox

/// The process that reads and converts untrusted image files. It receives open descriptors and can access nothing else.
///
/// The process ends when it has been idle for a while, when the daemon has ended, and after a limited amount of work,
/// because libraries leak memory. The exit status is 0 in these cases, so that the daemon can distinguish them from a
/// crash.
package enum ImageHelper {
    /// The descriptor of the socket to the daemon.
    package static let socket: Int32 = 3

    /// The limits for jobs, in addition to the libraries loaded at the start. HEIF and JPEG XL need up to 12 bytes for a
    /// pixel. The file and the shared pixels are mapped in addition.
    private static let memoryBytes = 1200 << 20
    private static let mappedFileBytes = ImageLimits.fileBytes + PixelSize.maximumBytes
    private static let processorSeconds = 300
    private static let fileBytes = 64 << 20

    /// Serves jobs until the process must end.
    ///
    /// - Parameter arguments: The role, a ``HelperRole``; the ID of the parent process; the time in milliseconds
    ///   after which an idle process ends.
    /// - Returns: The exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 3, let role = HelperRole(rawValue: arguments[0]),
            let parent = Int32(arguments[1]), let idleTimeoutMilliseconds = Int32(arguments[2]),
            idleTimeoutMilliseconds > 0
        else { return EX_USAGE }
        let socket = MessageSocket(descriptor: socket)
        do {
            try limitResources(parent)
            let decoders = ImageDecoders(role)
            let confinesFiles = try applyRestrictions()
            guard socket.send(ImageReply.ready(confinesFiles: confinesFiles).message) else {
                return EXIT_SUCCESS
            }
            return serve(socket, decoders, idleTimeoutMilliseconds)
        } catch {
            let reason = "Images cannot be decoded safely on this system: \(error)."
            _ = socket.send(ImageReply.failure(.notSupported(reason)).message)
            return EX_UNAVAILABLE
        }
    }

    private static func limitResources(_ parent: Int32) throws(SandboxError) {
        ProcessRestrictions.closeDescriptors(from: socket + 1)
        try ProcessRestrictions.dieWithParent(parent)
        // Failed writes are reported as errors, not as signals.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        // The mapped file was truncated, or its disk failed: not a fault of the image.
        signal(SIGBUS) { _ in _exit(EX_IOERR) }
        // Some libraries end the process if memory is missing.
        for fault in [SIGABRT, SIGILL, SIGTRAP, SIGSEGV] {
            signal(fault) { number in
                if errno == ENOMEM { _exit(EX_OSERR) }
                signal(number, SIG_DFL)
            }
        }
        // One arena, because each further arena would reserve a large part of the address space limit.
        mallopt(M_ARENA_MAX, 1)
        ProcessRestrictions.raiseOutOfMemoryScore()
        try ProcessRestrictions.limit(RLIMIT_CORE.rawValue, to: 0)
        try ProcessRestrictions.limit(RLIMIT_CPU.rawValue, to: processorSeconds)
        try ProcessRestrictions.limit(RLIMIT_FSIZE.rawValue, to: fileBytes)
        try ProcessRestrictions.limit(RLIMIT_NOFILE.rawValue, to: 64)
    }

    /// Applies all restrictions. Libraries must be loaded before.
    ///
    /// - Returns: False if the kernel does not support the rules for files.
    static func applyRestrictions() throws(SandboxError) -> Bool {
        // The private memory that can be written.
        try ProcessRestrictions.limit(RLIMIT_DATA.rawValue, to: usedBytes(5) + memoryBytes)
        // The mapped address space. About a tenth of it is resident.
        try ProcessRestrictions.limit(
            RLIMIT_AS.rawValue, to: usedBytes(0) + memoryBytes + mappedFileBytes)
        try ProcessRestrictions.forbidInspection()
        try ProcessRestrictions.forbidNewPrivileges()
        let confinesFiles = try FileRules().enforce()
        try SystemCallFilter.computing.enforce()
        return confinesFiles
    }

    /// Source: proc_pid_statm(5).
    private static func usedBytes(_ field: Int) -> Int {
        guard let text = KernelFile.text("/proc/self/statm") else { return 128 << 20 }
        let fields = text.split(separator: " ")
        let pages = fields.count > field ? Int(fields[field]) : nil
        return (pages ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func serve(
        _ socket: MessageSocket, _ decoders: ImageDecoders, _ idleTimeoutMilliseconds: Int32
    ) -> Int32 {
        while !isExhausted {
            var poll = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            let count = Glibc.poll(&poll, 1, idleTimeoutMilliseconds)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? EXIT_SUCCESS : EXIT_FAILURE }
            switch socket.receive() {
            case .end: return EXIT_SUCCESS
            case .nothing: return EX_PROTOCOL
            case .message(let message, let descriptors):
                let reply = decoders.reply(to: message, descriptors)
                for descriptor in descriptors { close(descriptor) }
                guard socket.send(reply.message) else { return EXIT_SUCCESS }
                malloc_trim(0)
            }
        }
        return EXIT_SUCCESS
    }

    /// True if the remaining processor time may not suffice for another job.
    private static var isExhausted: Bool {
        clock() / CLOCKS_PER_SEC > processorSeconds - 60
    }
}
