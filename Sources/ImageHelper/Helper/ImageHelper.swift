internal import CLinux
internal import Glibc
internal import ImageProtocol
internal import Sandbox

/// The process that reads what strangers made: it looks into image files and makes images of them, by
/// descriptors that it is given, and can reach nothing else.
///
/// It ends by itself when nothing was asked for a while, when the daemon is gone, and now and then in between,
/// since libraries leak; with 0, so that the daemon knows that nobody's file was the reason.
package enum ImageHelper {
    /// Where the socket to the daemon is.
    package static let socket: Int32 = 3

    /// What jobs may take, in addition to what is loaded at the start.
    private static let memoryBytes = 576 << 20
    private static let processorSeconds = 300
    private static let fileBytes = 64 << 20

    /// Serves jobs until it is time to end.
    ///
    /// - Parameter arguments: Its trade, `decode` or `draw`; the id of the process that started it; how many
    ///   milliseconds it waits for work.
    /// - Returns: The exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 3, let trade = HelperRole(rawValue: arguments[0]),
            let parent = Int32(arguments[1]), let patience = Int32(arguments[2]), patience > 0
        else { return EX_USAGE }
        let socket = MessageSocket(descriptor: socket)
        do {
            try limitResources(parent)
            let workbench = JobExecutor(trade)
            let guards = try confine(trade)
            return serve(socket, workbench, guards, patience)
        } catch {
            let reason = "Images cannot be decoded safely here: \(error)."
            _ = socket.send(ImageReply.failure(.notSupported(reason)).message)
            return EX_UNAVAILABLE
        }
    }

    private static func limitResources(_ parent: Int32) throws(SandboxError) {
        ProcessRestrictions.closeDescriptors(from: socket + 1)
        try ProcessRestrictions.dieWithParent(parent)
        // A write that fails says so.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        // One heap: that of each thread would reserve a good part of what there is.
        mallopt(M_ARENA_MAX, 1)
        ProcessRestrictions.raiseOutOfMemoryScore()
        try ProcessRestrictions.limit(.coreBytes, to: 0)
        try ProcessRestrictions.limit(.processorSeconds, to: processorSeconds)
        try ProcessRestrictions.limit(.fileBytes, to: fileBytes)
        try ProcessRestrictions.limit(.descriptors, to: 64)
    }

    /// Gives everything up but what the trade takes. Libraries have to be loaded by now.
    static func confine(_ trade: HelperRole) throws(SandboxError) -> ImageGuards {
        try ProcessRestrictions.limit(.addressSpace, to: mappedBytes() + memoryBytes)
        try ProcessRestrictions.forbidInspection()
        try ProcessRestrictions.forbidNewPrivileges()
        var guards: ImageGuards = []
        var rules = FileRules()
        var filter = SystemCallFilter.computing
        if trade == .draw {
            rules.readable = fontFolders()
            filter.allowReadingFiles()
        }
        if try rules.enforce() { guards.insert(.files) }
        try filter.enforce()
        guards.insert(.systemCalls)
        return guards
    }

    /// How much of the address space is taken, little more than a tenth of it in use.
    private static func mappedBytes() -> Int {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 128 << 20 }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 64)
        let count = read(file, &text, text.count)
        let pages = String(decoding: text[..<max(0, count)], as: UTF8.self).prefix { $0 != " " }
        return (Int(pages) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func fontFolders() -> [String] {
        var folders = [
            "/etc/fonts", "/etc/ld.so.cache", "/nix/store", "/run/current-system/sw/share",
            "/usr/lib", "/usr/local/share/fonts", "/usr/share", "/var/cache/fontconfig",
        ]
        if let home = getenv("HOME").map({ String(cString: $0) }) {
            folders += [
                "\(home)/.cache/fontconfig", "\(home)/.config/fontconfig", "\(home)/.fonts",
                "\(home)/.local/share/fonts",
            ]
        }
        return folders
    }

    private static func serve(
        _ socket: MessageSocket, _ workbench: JobExecutor, _ guards: ImageGuards, _ patience: Int32
    ) -> Int32 {
        guard socket.send(ImageReply.ready(guards).message) else { return EXIT_SUCCESS }
        while !isWornOut {
            var poll = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            let count = Glibc.poll(&poll, 1, patience)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? EXIT_SUCCESS : EXIT_FAILURE }
            switch socket.receive() {
            case .end: return EXIT_SUCCESS
            case .nothing: return EX_PROTOCOL
            case .message(let message):
                let reply = workbench.reply(to: message)
                for descriptor in message.descriptors { close(descriptor) }
                guard socket.send(reply.message) else { return EXIT_SUCCESS }
                malloc_trim(0)
            }
        }
        return EXIT_SUCCESS
    }

    /// Whether the next job might not have time enough.
    private static var isWornOut: Bool {
        clock() / CLOCKS_PER_SEC > processorSeconds - 60
    }
}

/// What a helper can do. What it takes is loaded before it is confined.
enum HelperRole: String {
    /// Opens nothing at all.
    case decode
    /// Reads fonts, and sees no file of anybody's.
    case draw
}
