internal import ArgumentParser
internal import Configuration
internal import Contract
internal import Glibc
internal import ProviderKit
internal import Quoting
internal import System

/// The settings of the provider `local`, which are in the configuration file of the user.
struct LocalSettings: ParsableArguments {
    /// The order of the photos.
    enum Order: String, CaseIterable, ExpressibleByArgument {
        case taken
        case modified
    }

    @Option(
        parsing: .unconditional,
        help: .tr(
            "For local: the folder with the photos; an empty one selects the user's pictures folder.",
            valueName: "folder"))
    var directory: PathBytes?
    @Option(
        parsing: .unconditionalSingleValue,
        help: .tr(
            "For local: a pattern of files and folders that are not shown; can be repeated, and an empty one shows all.",
            valueName: "pattern"))
    var exclude: [String] = []
    @Option(help: .tr("For local: the order of the photos, by capture or by modification time."))
    var order: Order?

    /// True if a setting is given.
    var isGiven: Bool { directory != nil || !exclude.isEmpty || order != nil }

    /// Writes the given settings to the configuration file, makes the daemon read it, and waits until the accounts have
    /// the photos.
    ///
    /// - Throws: ``CommandFailure``; `BusError`.
    @MainActor func apply(to provider: ProviderProperties, of service: ServiceClient) async throws {
        try store(for: provider.id)
        guard try await service.reloadConfiguration() else {
            throw CommandFailure.tr(
                "The settings were stored, but the daemon could not read them. Restart it.")
        }
        for account in try await service.snapshot().accounts
        where account.provider == provider.path && account.isLoggedIn {
            // The state of the account has the reason for a failure.
            _ = try? await service.account(account.path).refresh()
        }
    }

    private func store(for provider: String) throws(CommandFailure) {
        var settings: [(key: String, value: String)] = []
        if let directory {
            settings.append(("Directory", RawText.text(of: try absolute(directory))))
        }
        if !exclude.isEmpty {
            settings.append(("Exclude", PathPatterns.list(of: exclude.filter { !$0.isEmpty })))
        }
        if let order { settings.append(("Order", order.rawValue)) }
        do {
            let folders = try UserFolders.ofThisProcess()
            for (key, value) in settings {
                try folders.set(value, for: key, in: "Provider \(provider)")
            }
        } catch let error as KeyFile.FileError {
            throw CommandFailure.tr(
                "{file} cannot be written: {reason}.",
                ["file": error.path, "reason": error.reason])
        } catch {
            throw CommandFailure(.failed, "\(error)")
        }
    }

    /// Returns the absolute path of a folder; an empty path stays empty.
    private func absolute(_ folder: PathBytes) throws(CommandFailure) -> [UInt8] {
        guard !folder.isEmpty else { return [] }
        guard let path = folder.withCString({ realpath($0, nil) }) else {
            throw CommandFailure.tr(
                "{folder} cannot be used: {reason}.",
                ["folder": folder.text, "reason": String(cString: strerror(errno))])
        }
        defer { free(path) }
        let resolved = [UInt8](cString: path)
        guard FileStatus(resolved)?.kind == .directory else {
            throw CommandFailure.tr("{folder} is not a folder.", ["folder": folder.text])
        }
        return folder.bytes.first == UInt8(ascii: "/") ? folder.bytes : resolved
    }
}
