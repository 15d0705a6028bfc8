internal import Configuration
internal import Engine
internal import Glibc
internal import ProviderKit
internal import Storage

/// The settings of providers as the configuration has them; what is set goes into the user's file.
final class ConfiguredSettings: SettingsStore {
    private(set) var configuration: Configuration
    private let folders: UserFolders

    init(_ folders: UserFolders) {
        self.folders = folders
        configuration = Configuration(paths: folders.configurationFiles)
    }

    /// Reads the files again.
    func reload() { configuration = Configuration(paths: folders.configurationFiles) }

    func settings(of provider: String) -> ProviderSettings {
        ProviderSettings(configuration.group("Provider \(provider)"))
    }

    /// Writes beside the file and renames, so that nothing is lost if that fails.
    func set(_ value: String, for key: String, of provider: String) async throws {
        // A link leads to where the user keeps the file.
        let path = Self.resolved("\(folders.configuration)/imagefeed.conf")
        try PrivateFolder.create(folders.configuration)
        let text = try Self.read(path)
        let changed = KeyFile.setting(value, for: key, in: "Provider \(provider)", of: text)
        try Self.write(changed, to: path)
        reload()
    }

    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func read(_ path: String) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return "" }
            throw failure(path)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { throw failure(path) }
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
        }
    }

    private static func write(_ text: String, to path: String) throws {
        let new = "\(path).new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        var text = text
        let isWritten = text.withUTF8 {
            Glibc.write(descriptor, $0.baseAddress, $0.count) == $0.count && fsync(descriptor) == 0
        }
        let code = errno
        close(descriptor)
        guard isWritten, rename(new, path) == 0 else {
            if isWritten { throw failure(path) }
            unlink(new)
            throw code == ENOSPC || code == EDQUOT ? StorageError.full : failure(path, code)
        }
    }

    private static func failure(_ path: String, _ code: Int32 = errno) -> StorageError {
        .cannotOpen(path, String(cString: strerror(code)))
    }
}
