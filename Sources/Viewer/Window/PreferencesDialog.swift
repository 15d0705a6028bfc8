internal import Configuration
internal import Contract
internal import DBus
internal import Dispatch
internal import Glibc
internal import System
internal import Toolkit
internal import Translation

/// The settings of the window, and those of the daemon that most users need.
///
/// The daemon reads the configuration file again after a change. Source: imagefeed.conf(5).
final class PreferencesDialog: Dialog {
    private let connection: BusConnection
    private let toasts: ToastArea
    private let folders: UserFolders
    private let folderRow = ActionRow(tr("Folder"))
    private let onPhotos: () -> Void

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
    ///   - onPhotos: Called before the daemon reads other photos.
    init?(
        _ parent: Window, _ service: Service, _ toasts: ToastArea, _ size: ThumbnailSize,
        onSize: @escaping (ThumbnailSize) -> Void, onPhotos: @escaping () -> Void
    ) {
        guard let folders = try? UserFolders.ofThisProcess() else { return nil }
        connection = service.connection
        self.toasts = toasts
        self.onPhotos = onPhotos
        self.folders = folders
        super.init(parent, title: tr("Preferences"), width: 560, height: 620)
        let sizes = ThumbnailSize.allCases
        let sizeRow = ComboRow(
            tr("Thumbnails"), sizes.map(\.title), sizes.firstIndex(of: size) ?? 0
        ) { onSize(sizes[$0]) }
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
        let exclusions = EntryRow(tr("Do not show, such as Scans;*.gif"))
        exclusions.text = configuration.string(Self.local, "Exclude") ?? ""
        exclusions.onApply { [unowned self] in
            onPhotos()
            set($0, "Exclude", in: Self.local)
        }
        content.append(
            RowGroup(
                tr("This computer"), folderRow, exclusions,
                switchRow(
                    configuration, tr("Show the places of photos"), Self.local, "ShowLocation",
                    false)))
        content.append(
            RowGroup(
                tr("Services"),
                choiceRow(
                    configuration, tr("Look for new photos"), "RefreshInterval",
                    [
                        ("5m", tr("Every 5 minutes")), ("15m", tr("Every 15 minutes")),
                        ("1h", tr("Every hour")), ("0", tr("Never")),
                    ], standard: "15m"),
                choiceRow(
                    configuration, tr("Disk space for images, after the next start"), "CacheLimit",
                    [
                        ("128M", tr("128 MB")), ("512M", tr("512 MB")), ("2G", tr("2 GB")),
                        ("8G", tr("8 GB")),
                    ],
                    standard: "512M"),
                switchRow(
                    configuration, tr("Notifications about problems"), Self.daemon, "Notifications",
                    true)))
    }

    private func switchRow(
        _ configuration: Configuration, _ title: String, _ group: String, _ key: String,
        _ standard: Bool
    ) -> SwitchRow {
        SwitchRow(title, configuration.bool(group, key) ?? standard) { [unowned self] in
            set("\($0)", key, in: group)
        }
    }

    /// Returns a row for some values of a key, and for its current one if that is another.
    private func choiceRow(
        _ configuration: Configuration, _ title: String, _ key: String,
        _ values: [(value: String, title: String)], standard: String
    ) -> ComboRow {
        let current = configuration.string(Self.daemon, key) ?? standard
        let values =
            values.contains { $0.value == current } ? values : values + [(current, current)]
        return ComboRow(
            title, values.map(\.title), values.firstIndex { $0.value == current } ?? 0
        ) { [unowned self] in set(values[$0].value, key, in: Self.daemon) }
    }

    private func showFolder(_ path: [UInt8]) {
        folderRow.setTitle(tr("Folder"), subtitle: String(decoding: path, as: UTF8.self))
    }

    /// Lets the user choose the folder with the photos.
    ///
    /// - Parameter onChoice: Called after the choice was stored.
    func chooseFolder(_ onChoice: @escaping () -> Void) {
        window.choosePath(title: tr("Folder with the photos"), isFolder: true, folder: folders.home)
        {
            [weak self] path in
            guard let self else { return }
            showFolder(Array(path.utf8))
            onPhotos()
            set(path, "Directory", in: Self.local, onChoice)
        }
    }

    /// Writes a setting, and lets the daemon read the file again.
    private func set(
        _ value: String, _ key: String, in group: String, _ onSuccess: @escaping () -> Void = {}
    ) {
        let path = "\(folders.configuration)/imagefeed.conf"
        Task { [connection, toasts, folders] in
            let reason = await Self.queue.run { () -> String? in
                UserFile.createFolder(folders.configuration)
                do throws(KeyFile.FileError) {
                    try KeyFile.set(value, for: key, in: group, at: path)
                    return nil
                } catch {
                    return error.reason
                }
            }
            if let reason {
                return toasts.show(
                    tr("{file} cannot be changed: {reason}.", ["file": path, "reason": reason]))
            }
            // Without a running daemon, its next start reads the file.
            if let process = try? await connection.processID(of: ServiceName.bus) {
                kill(process, SIGHUP)
            }
            onSuccess()
        }
    }
}

/// The size of the thumbnails in the grid.
nonisolated enum ThumbnailSize: Int, CaseIterable, Sendable {
    case small, medium, large

    var title: String {
        switch self {
        // Translators: the size of thumbnails
        case .small: tr("Small")
        case .medium: tr("Medium")
        case .large: tr("Large")
        }
    }

    /// The height of the rows, relative to that of medium thumbnails.
    var scale: Double {
        switch self {
        case .small: 0.65
        case .medium: 1
        case .large: 1.6
        }
    }
}
