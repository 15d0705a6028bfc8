internal import FoundationEssentials
internal import Glibc
internal import LoopbackHTTP
internal import Synchronization

/// A temporary directory for a test, with a home and the XDG directories. It is removed when the last reference is
/// released, and again when the process exits: a task that still runs may create a database after the removal.
package final class TemporaryDirectory: Sendable {
    private static let paths: Mutex<[String]> = {
        atexit { for path in TemporaryDirectory.paths.withLock({ $0 }) { remove(path) } }
        return Mutex([])
    }()

    package let path: String

    package init() throws {
        var template = Array("/tmp/imagefeed-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp", errno) }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.path = path
        Self.paths.withLock { $0.append(path) }
        for directory in Set(directories.values) {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
    }

    deinit { remove(path) }

    /// Returns the path of a file or directory in the directory.
    package func appending(_ name: String) -> String { "\(path)/\(name)" }

    /// Returns true if the directory has a file or directory of this name.
    package func has(_ name: String) -> Bool { access(appending(name), F_OK) == 0 }

    /// Writes a file in the directory and creates its parent directories.
    ///
    /// - Returns: The path of the file.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let file = appending(name)
        let directory = String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: file))
        return file
    }

    /// Changes the owner of the directory and of all its contents.
    func changeOwner(to user: uid_t) throws {
        for name in [""] + (try FileManager.default.subpathsOfDirectory(atPath: path)) {
            guard chown(appending(name), user, user) == 0 else { throw SystemError("chown", errno) }
        }
    }

    /// The environment of a program without access to the user's files and session bus.
    package var environment: [String: String] {
        // Programs inherit the sanitizer options and the shifted clock of the tests.
        let shared = ProcessInfo.processInfo.environment.filter { name, _ in
            name.hasSuffix("SAN_OPTIONS") || ["CLOCK_SHIFT", "LD_PRELOAD"].contains(name)
        }
        return directories.merging(shared) { $1 }.merging(
            ["PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"], uniquingKeysWith: { $1 })
    }

    private var directories: [String: String] {
        [
            "HOME": appending("home"),
            "TMPDIR": appending("tmp"),
            "XDG_CACHE_HOME": appending("home/.cache"),
            "XDG_CONFIG_HOME": appending("home/.config"),
            "XDG_DATA_HOME": appending("home/.local/share"),
            "XDG_PICTURES_DIR": appending("home/Pictures"),
            "XDG_RUNTIME_DIR": appending("run"),
            "XDG_STATE_HOME": appending("home/.local/state"),
        ]
    }
}

private func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
