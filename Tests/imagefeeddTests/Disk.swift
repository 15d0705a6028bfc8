import Glibc
import Storage
import TestSupport
import Testing

/// Mounts that are visible only to the daemon.
@MainActor
enum Disk {
    static let cache = "home/.cache/imagefeed"
    static let data = "home/.local/share/imagefeed"

    /// Opens the file with the accounts and marks.
    static func database() throws -> Database {
        let path = try PrivateBus.current.directory.appending("\(data)/data.sqlite")
        return try Database(path: path, isDurable: true)
    }

    nonisolated static var canMount: Bool {
        geteuid() == 0 && access("/usr/bin/unshare", X_OK) == 0
    }

    /// Returns a launcher that runs `script` before the program. `$0` in the script is the folder.
    private static func launcher(_ folder: String, _ script: String) throws -> [String] {
        let path = try PrivateBus.current.directory.appending(folder)
        return [
            "/usr/bin/unshare", "-m", "--propagation", "private", "/bin/sh", "-ec",
            "mkdir -p \"$0\"; \(script); exec \"$@\"", path,
        ]
    }

    /// Mounts an empty disk of the given size.
    static func small(_ folder: String, kibibytes: Int) throws -> [String] {
        try launcher(folder, "mount -t tmpfs -o size=\(kibibytes)k none \"$0\"")
    }

    /// Mounts a full disk with the current contents of the folder.
    static func full(_ folder: String) throws -> [String] {
        try launcher(
            folder,
            """
            cp -a "$0" "$0.copy"; mount -t tmpfs -o size=8m none "$0"; cp -a "$0.copy/." "$0"
            rm -r "$0.copy"; chmod 700 "$0"; head -c 20M /dev/zero > "$0/filling" 2>/dev/null || true
            """)
    }

    static func readOnly(_ folder: String) throws -> [String] {
        try launcher(folder, "mount --bind \"$0\" \"$0\"; mount -o remount,ro,bind \"$0\"")
    }

    static func remove(_ folder: String) async throws {
        let directory = try PrivateBus.current.directory
        let removal = try ChildProcess(
            "/bin/rm", ["-r", directory.appending(folder)], environment: directory.environment)
        #expect(try await removal.exitStatus() == .code(0))
    }
}
