internal import Glibc
package import Logging
package import ProviderKit
internal import Quoting
internal import System
package import Translation

/// The component that provides the installed plugins as providers. It reads their manifests, and reads them again when
/// they change.
///
/// Without plugins, only the folders are watched.
package final class PluginHost {
    /// The folders of manifests, the user's folder first. A file replaces the files of the same name in later folders.
    private let folders: [String]
    private let settings: (String) -> ProviderSettings
    private let reserved: Set<String>
    private let logger: Logger
    private let launcher: SandboxLauncher
    private let files = FileThreads()
    private var watcher: FolderWatch?
    /// The names of the manifests in each folder, as last read.
    private var names: [[String]] = []
    private var installed: [String: Installed] = [:]
    /// Called after providers were added, removed or changed, or the manifest of a disabled plugin was.
    package var onChange: ((_ change: Change) -> Void)?

    /// Called with the ID, the name and the reason when a plugin has failed too often.
    package var onDisabled: ((_ id: String, _ name: String, _ reason: Message) -> Void)?

    /// A change of the installed providers. A new version of a provider counts as added, and not as removed.
    package struct Change {
        package var removed: [String] = []
        package var added: [any InstalledProvider] = []
        /// The providers whose condition changed.
        package var changed: [any InstalledProvider] = []
    }

    private struct Installed {
        let path: String
        let stamp: FileStamps
        let settings: ProviderSettings
        let provider: any InstalledProvider
        /// The plugin; nil if the manifest cannot be used.
        let plugin: Plugin?

        /// True if both manifests are unusable for the same reason.
        func isEqual(to other: Installed) -> Bool {
            plugin == nil && other.plugin == nil && path == other.path
                && provider.condition == other.provider.condition
        }
    }

    /// - Parameters:
    ///   - folders: The folders of manifests. The first folder has the highest precedence.
    ///   - reserved: The IDs of the built-in providers.
    ///   - limits: The limits of each plugin.
    ///   - confinements: The kinds of sandbox that may be used, the strictest first.
    ///   - programs: The programs that start plugins.
    ///   - place: Places the processes of plugins in control groups; nil if there are none.
    ///   - logger: The logger for the plugins and their messages.
    ///   - settings: Returns the settings of a provider.
    package init(
        folders: [String], reserved: Set<String>, limits: PluginLimits = PluginLimits(),
        confinements: [SandboxKind], programs: SandboxPrograms = .installed,
        place: PluginPlacement? = nil, logger: Logger,
        settings: @escaping (String) -> ProviderSettings
    ) {
        self.folders = folders
        self.reserved = reserved
        self.settings = settings
        self.logger = logger
        launcher = SandboxLauncher(
            confinements, limits, programs: programs, place: place, logger: logger)
    }

    /// The providers, sorted by their IDs.
    package var providers: [any InstalledProvider] {
        installed.sorted { $0.key < $1.key }.map(\.value.provider)
    }

    /// The IDs of all manifests, also of disabled plugins.
    package var ids: [String] {
        names.joined().map { String($0.dropLast(ManifestFile.suffix.count)) }
    }

    /// Reads the manifests, and starts to watch them.
    package func start() {
        watcher = FolderWatch(folders) { [unowned self] in reload() }
        reload()
    }

    /// Ends all plugins.
    package func stop() {
        watcher = nil
        for entry in installed.values { entry.plugin?.retire() }
    }

    /// Reads the manifests if there are others than before, without waiting for the event of the folders.
    ///
    /// The folders are listed on another thread, because any client can cause a call.
    package func findInstalled() async {
        let current = await files.run(Array((folders.first ?? "").utf8)) { [folders] _ in
            folders.map(Self.manifests)
        }
        if let current, current != names { reload() }
    }

    /// Reads the manifests whose file, program or settings changed.
    package func reload() {
        let previous = names
        names = folders.map(Self.manifests)
        var found: [String: String] = [:]
        for (folder, names) in zip(folders, names).reversed() {
            for name in limited(names, folder) { found[name] = "\(folder)/\(name)" }
        }
        var change = Change()
        var now: [String: Installed] = [:]
        for (name, path) in found.sorted(by: { $0.key < $1.key }) {
            let base = String(name.dropLast(ManifestFile.suffix.count))
            // Only the daemon uses the client ID: its change does not affect the plugin.
            var settings = settings(base)
            settings["ClientId"] = nil
            // The ID of an unusable plugin must differ from the IDs of the built-in providers. It is an element of an
            // object path.
            let id =
                ManifestFile.isID(base) && !reserved.contains(base) ? base : name.utf8.escaped()
            if let known = installed[id], known.path == path, known.settings == settings,
                !known.stamp.haveChanged
            {
                now[id] = known
                continue
            }
            guard settings["Enabled"] != "false" else { continue }
            let entry = read(path, id: id, base: base, settings)
            now[id] = entry
            if let known = installed[id], known.isEqual(to: entry) { continue }
            if entry.plugin == nil {
                logger.warning(
                    "A manifest is not valid, and its plugin is not available",
                    metadata: ["path": "\(path)", "reason": "\(entry.provider.condition.reason)"])
            }
            change.added.append(entry.provider)
        }
        for (id, entry) in installed {
            guard let current = now[id] else {
                change.removed.append(id)
                entry.plugin?.retire()
                continue
            }
            if let plugin = entry.plugin, current.plugin !== plugin { plugin.retire() }
        }
        installed = now
        watcher?.watch(
            further: Set(now.values.compactMap(\.plugin).flatMap(\.manifest.commandFolders)))
        if !change.added.isEmpty || !change.removed.isEmpty || names != previous {
            onChange?(change)
        }
    }

    /// Called when a plugin is disabled, or enabled again.
    func conditionChanged(_ plugin: Plugin) { onChange?(Change(changed: [plugin])) }

    private func read(
        _ path: String, id: String, base: String, _ settings: ProviderSettings
    ) -> Installed {
        let problems = ManifestProblems()
        if reserved.contains(base) {
            problems.stamp = FileStamps([path])
            problems.add(
                "The ID “\(base)” belongs to a provider of Image Feed; choose another file name.")
        } else if let manifest = Manifest(path: path, settings: settings, problems) {
            let plugin = Plugin(manifest, settings, launcher)
            plugin.host = self
            return Installed(
                path: path, stamp: manifest.stamp, settings: settings, provider: plugin,
                plugin: plugin)
        }
        let reason = problems.all.first?.text ?? "The file cannot be read."
        return Installed(
            path: path, stamp: problems.stamp, settings: settings,
            provider: UnusableProvider(
                id: id, name: ServiceText.line(base) ?? id,
                reason: Message(verbatim: reason)),
            plugin: nil)
    }

    /// The largest number of manifests that are read from a folder.
    private static let maximumManifests = 1000

    /// Returns the names of the manifests in a folder, sorted.
    nonisolated private static func manifests(in folder: String) -> [String] {
        let entries = (try? DirectoryListing(folder))?.names ?? []
        return entries.filter { $0.hasSuffix(ManifestFile.suffix) && !$0.hasPrefix(".") }.sorted()
    }

    /// Returns the names of the manifests in a folder that are used.
    private func limited(_ names: [String], _ folder: String) -> [String] {
        guard names.count > Self.maximumManifests else { return names }
        logger.warning(
            "A folder has too many manifests; the last ones are ignored",
            metadata: [
                "path": "\(folder)", "manifests": "\(names.count)",
                "limit": "\(Self.maximumManifests)",
            ])
        return Array(names.prefix(Self.maximumManifests))
    }
}
