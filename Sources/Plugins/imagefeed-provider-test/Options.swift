internal import Glibc
internal import Plugins
internal import ProviderKit

/// The arguments of the program.
struct Options {
    private(set) var manifest = ""
    private(set) var username = ""
    private(set) var server = ""
    /// The settings that replace those of the configuration.
    private(set) var settings: [String: String] = [:]
    private(set) var userAgent = "ImageFeed"
    /// The time limit of a call; nil for the limit of the daemon.
    private(set) var timeLimit: Duration?
    /// The only sandbox to use; nil for the strictest one that is available.
    private(set) var sandbox: SandboxKind?
    private var keyDescriptor: Int32?

    static let usage = """
        Usage: imagefeed-provider-test [--username NAME] [--server HOST] [--key-descriptor NUMBER]
            [--setting KEY=VALUE]... [--sandbox KIND] [--user-agent TEXT] [--time-limit SECONDS] MANIFEST
        imagefeedctl starts this program; see “imagefeedctl provider test --help”.

        """

    /// Parses the arguments.
    ///
    /// - Returns: The options; nil if the arguments are not valid.
    init?(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                guard manifest.isEmpty, !word.isEmpty else { return nil }
                manifest = word
                continue
            }
            guard let value = rest.popFirst() else { return nil }
            switch word {
            case "--username": username = value
            case "--server": server = value
            case "--user-agent": userAgent = value
            case "--key-descriptor":
                guard let number = Int32(value), number > STDERR_FILENO else { return nil }
                keyDescriptor = number
            case "--time-limit":
                guard let seconds = Int(value), seconds > 0 else { return nil }
                timeLimit = .seconds(seconds)
            case "--sandbox":
                guard let kind = SandboxKind(rawValue: value), kind != .none else { return nil }
                sandbox = kind
            case "--setting":
                guard let equals = value.firstIndex(of: "="), equals > value.startIndex else {
                    return nil
                }
                settings[String(value[..<equals])] = String(value[value.index(after: equals)...])
            default: return nil
            }
        }
        guard !manifest.isEmpty else { return nil }
        // The reader of manifests requires a path with a folder.
        if !manifest.contains("/") { manifest = "./\(manifest)" }
    }

    /// True if there is a key.
    var hasKey: Bool { keyDescriptor != nil }

    /// Reads the key.
    ///
    /// - Returns: The key; nil if it is missing, empty or contains anything except visible ASCII characters.
    func readKey() -> Secret? {
        guard let keyDescriptor else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.maximumKeyBytes)
        var chunk = [UInt8](repeating: 0, count: 4096)
        defer {
            chunk.wipe()
            bytes.wipe()
            close(keyDescriptor)
        }
        while bytes.count <= Self.maximumKeyBytes - chunk.count {
            let count = read(keyDescriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        let secret = Secret(bytes)
        let isPlain = secret.withBytes { !$0.isEmpty && $0.allSatisfy { 0x21...0x7e ~= $0 } }
        return isPlain ? secret : nil
    }

    /// The largest size of a key, the same as in the daemon.
    private static let maximumKeyBytes = 64 << 10
}
