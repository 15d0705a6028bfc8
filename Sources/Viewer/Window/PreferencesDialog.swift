internal import Configuration
internal import Contract
internal import Dispatch
internal import Glibc
internal import System
internal import Toolkit
internal import Translation

/// The settings of the window, and those of the daemon that most users need.
///
/// The daemon reads the configuration file again after a change. Source: imagefeed.conf(5).
final class PreferencesDialog: Dialog {
    private let client: ServiceClient
    private let toasts: ToastArea
    private let folders: UserFolders
    private let folderRow = ActionRow(tr("Folder"))
    private let onFolder: () -> Void

    /// Writes one setting after another.
    private static let queue = DispatchQueue(label: "settings")
    private static let daemon = "Daemon"
    private static let local = "Provider local"

    /// Creates the dialog; nil if the home folder is unknown.
    ///
    /// - Parameters:
    ///   - parent: The window.
    ///   - service: The daemon.
    ///   - toasts: The place for errors.
    ///   - size: The size of the thumbnails.
    ///   - onSize: Receives another size.
    ///   - onFolder: Called before the daemon reads another folder.
    init?(
        _ parent: Window, _ service: Service, _ toasts: ToastArea, _ size: ThumbnailSize,
        onSize: @escaping (ThumbnailSize) -> Void, onFolder: @escaping () -> Void
    ) {
        guard let folders = try? UserFolders.ofThisProcess() else { return nil }
        client = service.client
        self.toasts = toasts
        self.onFolder = onFolder
        self.folders = folders
        super.init(parent, title: tr("Preferences"), width: 560, height: 660)
        let sizeRow = ComboRow(tr("Thumbnails"), ThumbnailSize.titles, size.rawValue) {
            onSize(ThumbnailSize(rawValue: $0) ?? size)
        }
        content.append(RowGroup(tr("Photos"), sizeRow))
        // In a sandbox, the folder is not the one of the daemon.
        guard access("/.flatpak-info", F_OK) != 0 else { return }
        Task { [weak self] in
            let configuration = await Self.queue.run {
                Configuration(paths: folders.configurationFiles)
            }
            self?.addSettings(configuration)
        }
    }

    /// Adds the settings of the daemon.
    private func addSettings(_ configuration: Configuration) {
        let choose = Button(icon: "folder-open-symbolic", tooltip: tr("Choose the folder")) {
            [unowned self] in chooseFolder {}
        }
        folderRow.addSuffix(choose.aligned(.end, .center))
        showFolder(
            configuration.path(Self.local, "Directory").map(folders.absolutePath)
                ?? folders.pictures)
        // Translators: followed by files and folders below the pictures folder. Keep the example as it is.
        let exclusions = EntryRow(tr("Exclude (*.gif)"))
        exclusions.text = configuration.string(Self.local, "Exclude") ?? ""
        exclusions.onApply { [unowned self] in set($0, "Exclude", in: Self.local) }
        func toggle(_ title: String, _ group: String, _ key: String, _ standard: Bool) -> Widget {
            ActionRow(title, isOn: configuration.bool(group, key) ?? standard) { [unowned self] in
                set("\($0)", key, in: group)
            }
        }
        // A row for some values of a key, and for its current one if that is another.
        func choice(
            _ title: String, _ key: String, _ usual: String, _ known: KeyValuePairs<String, String>
        ) -> Widget {
            let current = configuration.string(Self.daemon, key) ?? usual
            let isKnown = known.contains { $0.key == current }
            let choices = Array(known) + (isKnown ? [] : [(current, current)])
            let selected = choices.firstIndex { $0.key == current } ?? 0
            return ComboRow(title, choices.map(\.value), selected) { [unowned self] in
                set(choices[$0].key, key, in: Self.daemon)
            }
        }
        let places = tr("Show the places of photos")
        content.append(
            RowGroup(
                tr("This computer"), folderRow, exclusions,
                toggle(places, Self.local, "ShowLocation", false)))
        content.append(
            RowGroup(
                tr("Services"),
                choice(
                    tr("Look for new photos"), "RefreshInterval", "15m",
                    [
                        "5m": tr("Every 5 minutes"), "15m": tr("Every 15 minutes"),
                        "1h": tr("Every hour"), "0": tr("Never"),
                    ]),
                choice(
                    tr("Disk space for images, after the next start"), "CacheLimit", "512M",
                    [
                        "128M": tr("128 MB"), "512M": tr("512 MB"), "2G": tr("2 GB"),
                        "8G": tr("8 GB"),
                    ]),
                toggle(tr("Notifications about problems"), Self.daemon, "Notifications", true)))
    }

    private func showFolder(_ path: [UInt8]) {
        folderRow.setTitle(tr("Folder"), subtitle: String(decoding: path, as: UTF8.self))
    }

    /// Lets the user choose the folder with the photos.
    ///
    /// - Parameter onChoice: Called after the choice was stored.
    func chooseFolder(_ onChoice: @escaping () -> Void) {
        let title = tr("Folder with the photos")
        window.choosePath(title: title, isFolder: true, folder: folders.home) { [self] path in
            showFolder(Array(path.utf8))
            onFolder()
            set(path, "Directory", in: Self.local, onChoice)
        }
    }

    /// Writes a setting, and lets the daemon read the file again.
    private func set(
        _ value: String, _ key: String, in group: String, _ onSuccess: @escaping () -> Void = {}
    ) {
        Task { [client, toasts, folders] in
            do throws(KeyFile.FileError) {
                try await Self.queue.run { () throws(KeyFile.FileError) in
                    try folders.set(value, for: key, in: group)
                }
            } catch {
                return toasts.show(
                    tr(
                        "{file} cannot be changed: {reason}.",
                        ["file": error.path, "reason": error.reason]))
            }
            // Without a running daemon, its next start reads the file.
            _ = try? await client.reloadConfiguration()
            onSuccess()
        }
    }
}

/// The size of the thumbnails in the grid.
nonisolated enum ThumbnailSize: Int, Sendable {
    case small, medium, large

    // Translators: the size of thumbnails
    static var titles: [String] { [tr("Small"), tr("Medium"), tr("Large")] }

    /// The height of the rows, relative to that of medium thumbnails.
    var scale: Double { [0.65, 1, 1.6][rawValue] }
}
