internal import Glibc
internal import JSONFormat
internal import PluginHosting
internal import PluginProtocol
internal import ProviderKit

/// The options of the test: the members of a JSON object, the only argument. `imagefeedctl` passes it.
struct Options {
    private let json: JSON
    let manifest: String
    /// The settings that replace those of the configuration.
    let settings: [String: String]

    /// - Returns: nil if the argument is not such an object.
    init?(_ argument: String) {
        guard let json = try? JSON(parsing: Array(argument.utf8)),
            let path = json["manifest"]?.string, !path.isEmpty
        else { return nil }
        self.json = json
        // The reader of manifests requires a path with a folder.
        manifest = path.contains("/") ? path : "./\(path)"
        settings = (json["settings"]?.members ?? []).reduce(into: [:]) {
            $0[$1.name] = $1.value.string
        }
    }

    /// The ID of the provider, which is in the name of the manifest.
    var id: String { String((manifest.split(separator: "/").last ?? "").prefix { $0 != "." }) }
    var username: String { json["username"]?.string ?? "" }
    var server: String { json["server"]?.string ?? "" }
    var userAgent: String { json["user_agent"]?.string ?? "ImageFeed" }
    /// The time limit of a call; nil for the limit of the daemon.
    var timeLimit: Duration? { json["time_limit"]?.integer.map { .seconds($0) } }
    /// The only sandbox to use; nil for the strictest one that is available.
    var sandbox: SandboxKind? { json["sandbox"]?.string.flatMap(SandboxKind.init) }
    /// True if the messages are printed.
    var isVerbose: Bool { json["verbose"] == .bool(true) }
    /// True if there is a key.
    var hasKey: Bool { json["key_descriptor"] != nil }

    /// Reads the key.
    ///
    /// - Returns: The key; nil if it is missing, empty or contains anything except visible ASCII characters.
    func readKey() -> Secret? {
        guard let number = json["key_descriptor"]?.integer else { return nil }
        let descriptor = Int32(truncatingIfNeeded: number)
        var bytes = [UInt8](repeating: 0, count: Self.maximumKeyBytes)
        defer {
            bytes.wipe()
            close(descriptor)
        }
        // The pipe contains the complete key.
        let count = max(0, read(descriptor, &bytes, bytes.count))
        guard count > 0, bytes[..<count].allSatisfy({ 0x21...0x7e ~= $0 }) else { return nil }
        return Secret(bytes[..<count])
    }

    /// The largest size of a key, the same as in the daemon.
    private static let maximumKeyBytes = 64 << 10
}
