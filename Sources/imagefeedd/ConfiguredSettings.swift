internal import Configuration
internal import Contract
internal import Dispatch
internal import Glibc
internal import ProviderKit
internal import Storage
internal import System

/// The provider settings from the configuration files. Changes are written to the user's file.
final class ConfiguredSettings {
    private(set) var configuration: Configuration
    /// Called after the files were read again.
    var onReload: (Configuration) -> Void = { _ in }
    private let folders: UserFolders
    private static let queue = DispatchQueue(label: "settings")

    init(_ folders: UserFolders) {
        self.folders = folders
        configuration = Configuration(paths: folders.configurationFiles)
    }

    /// Reads the files again.
    func reload() {
        configuration = Configuration(paths: folders.configurationFiles)
        onReload(configuration)
    }

    /// The user agent of requests to services.
    var userAgent: String { makeUserAgent(homepage: homepage, contact: configuration.contact) }

    /// True if the user agent has an address at which a service reaches the publisher or the user.
    var hasContact: Bool { !homepage.isEmpty || configuration.contact != nil }

    func settings(of provider: String) -> ProviderSettings {
        ProviderSettings(configuration.group("Provider \(provider)"))
    }

    func set(_ value: String, for key: String, of provider: String) async throws {
        do {
            // Another process may hold the lock of the folder.
            try await Self.queue.run { [folders] in
                try createPrivateFolder(folders.configuration)
                try KeyFile.set(
                    value, for: key, in: "Provider \(provider)",
                    at: "\(folders.configuration)/imagefeed.conf")
            }
        } catch let error as KeyFile.FileError {
            throw error.code == ENOSPC || error.code == EDQUOT
                ? StorageError.full : StorageError.cannotOpen(error.path, error.reason)
        }
        reload()
    }
}
