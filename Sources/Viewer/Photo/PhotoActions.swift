internal import Contract
internal import DBus
internal import Dispatch
internal import ProviderKit
internal import System
internal import Toolkit
internal import Translation

/// The actions of a photo, for its page and for the menu of the grid.
final class PhotoActions {
    private(set) lazy var downloads = Downloads(service, toasts)
    private(set) lazy var likes = LikeRequests(service)
    private let window: Window
    private let service: Service
    private let toasts: ToastArea
    private lazy var portal = BusProxy(
        service.connection, "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")

    init(_ window: Window, _ service: Service, _ toasts: ToastArea) {
        self.window = window
        self.service = service
        self.toasts = toasts
    }

    /// True if the photo is a file on this computer.
    func isLocal(_ photo: Photo) -> Bool {
        photo.isFile || service.account(photo.account).map(service.isLocal) == true
    }

    // The widgets of the window, to which the actions refer, must not own them.

    /// Adds the entries that fit the photo to a menu.
    ///
    /// - Parameters:
    ///   - menu: The menu, which becomes empty before.
    ///   - photo: The photo.
    ///   - feed: The feed that contains the photo.
    ///   - first: The entries that follow those for the like.
    func fill(_ menu: Menu, _ photo: Photo, in feed: Feed, _ first: [MenuEntry]) {
        menu.removeAll()
        var entries: [MenuEntry] = []
        func add(
            _ title: String, _ key: String = "",
            _ action: @escaping @MainActor (PhotoActions) -> Void
        ) {
            entries.append(MenuEntry(title, key: key) { [weak self] in self.map(action) })
        }
        func endSection() {
            menu.add(entries)
            entries = []
        }
        if !photo.isFile {
            // Translators: the verb, an entry of a menu
            let title = photo.wantsLike ? tr("Unlike") : tr("Like")
            add(title, "l") { $0.likes.toggle(photo.id, in: feed) }
        }
        entries += first
        endSection()
        if photo.isFile {
            // The daemon does not know the file.
        } else if isLocal(photo) {
            add(tr("Save a copy…"), "<Control>s") { $0.saveAs(photo, in: feed) }
        } else {
            // Translators: the verb, an entry of a menu
            add(tr("Download"), "<Control>s") { $0.downloads.start(photo, in: feed) }
            add(tr("Download as…")) { $0.saveAs(photo, in: feed) }
        }
        add(tr("Copy picture"), "<Control>c") { $0.copyPicture(photo, in: feed) }
        if !photo.url.isEmpty {
            add(tr("Copy link"), "<Control><Shift>c") { $0.copyLink(photo) }
            add(tr("Open in browser")) {
                $0.open(photo.url, tr("No browser could be started. Copy the link instead."))
            }
        }
        endSection()
        if !photo.url.isEmpty {
            add(tr("Send by e-mail")) {
                let subject = URLEncoding.escape(photo.accessibleName)
                $0.open(
                    "mailto:?subject=\(subject)&body=\(URLEncoding.escape(photo.url))",
                    tr("No mail program could be started. Copy the link instead."))
            }
        }
        add(tr("Send the file by e-mail")) { $0.mailFiles([photo], in: feed) }
        add(tr("Set as wallpaper")) { $0.setWallpaper(photo, in: feed) }
        if !photo.isFile, user(for: photo) != nil {
            add(tr("Use as avatar")) { $0.useAsAvatar(photo, in: feed) }
        }
        endSection()
        if isLocal(photo) {
            add(tr("Show in Files")) { $0.showInFiles(photo, in: feed) }
            add(tr("Open with…")) { $0.openWith(photo, in: feed) }
            add(tr("Move to the trash"), "Delete") { $0.trash([photo], in: feed) }
            endSection()
        }
        guard !photo.isFile else { return }
        add(tr("Show in the desktop slideshow")) {
            let text = tr("The desktop slideshow shows this photo.")
            $0.slideshow(photo, in: feed, text) { try await $0.show($1) }
        }
        add(tr("Hide from the desktop slideshow")) {
            let text = tr("The desktop slideshow no longer shows this photo.")
            $0.slideshow(photo, in: feed, text) { try await $0.hide($1) }
        }
        endSection()
    }

    /// Returns the actions for several photos, each for those that it fits.
    func entries(_ photos: [Photo], in feed: Feed) -> [MenuEntry] {
        var entries: [MenuEntry] = []
        func add(
            _ title: String, _ icon: String, _ photos: [Photo],
            _ action: @escaping @MainActor (PhotoActions, [Photo]) -> Void
        ) {
            if photos.isEmpty { return }
            entries.append(
                MenuEntry(title, icon: icon) { [weak self] in self.map { action($0, photos) } })
        }
        let others = photos.filter { !$0.wantsLike && !$0.isFile }
        // Translators: the verb, on a button
        add(tr("Like"), "emote-love-symbolic", others) { actions, photos in
            for photo in photos { actions.likes.set(true, photo.id, in: feed) }
        }
        add(tr("Unlike"), "edit-undo-symbolic", photos.filter(\.wantsLike)) { actions, photos in
            for photo in photos { actions.likes.set(false, photo.id, in: feed) }
        }
        let remote = photos.filter { !isLocal($0) }
        add(tr("Download"), "document-save-symbolic", remote) { actions, photos in
            for photo in photos { actions.downloads.start(photo, in: feed) }
        }
        add(tr("Send by e-mail"), "mail-send-symbolic", photos) { $0.mailFiles($1, in: feed) }
        add(tr("Move to the trash"), "user-trash-symbolic", photos.filter(isLocal)) {
            $0.trash($1, in: feed)
        }
        return entries
    }

    /// Downloads a photo of a service, or asks for the place of a copy of a photo on this computer.
    func download(_ photo: Photo, in feed: Feed) {
        if photo.isFile { return }
        if isLocal(photo) { saveAs(photo, in: feed) } else { downloads.start(photo, in: feed) }
    }

    /// Copies the link, which contains the attribution.
    func copyLink(_ photo: Photo) {
        if photo.url.isEmpty {
            return toasts.show(tr("This photo has no link, because it is only on this computer."))
        }
        window.copy(photo.url)
        toasts.show(tr("The link was copied."))
    }

    /// Copies the pixels, of a large photo reduced.
    func copyPicture(_ photo: Photo, in feed: Feed) {
        toasts.perform { [window, service, toasts] in
            let key = ImageLoader.Key(
                account: feed.account, photo: photo.id, size: "full", width: Self.copiedSide,
                height: Self.copiedSide)
            window.copy(try await service.images.load(key, isKept: false).texture)
            toasts.show(tr("The picture was copied."))
        }
    }

    /// The largest width and height of a copied picture in pixels.
    private static let copiedSide = 4096

    private func open(_ uri: String, _ problem: String) {
        Application.open(uri, parent: window) { [toasts] in toasts.show(problem) }
    }

    private func saveAs(_ photo: Photo, in feed: Feed) {
        window.choosePath(
            title: isLocal(photo) ? tr("Save a copy") : tr("Download"),
            name: Downloads.name(photo), folder: Downloads.folder.text
        ) { [downloads] path in downloads.start(photo, in: feed, to: path) }
    }

    // MARK: Files

    /// Returns the path of a photo on this computer.
    func path(of photo: Photo, in feed: Feed) async throws -> String {
        photo.isFile ? photo.id : try await feed.client.imagePath(photo.id, size: "full")
    }

    /// Moves photos on this computer to the trash, from which a button in the message restores them.
    func trash(_ photos: [Photo], in feed: Feed) {
        // A search contains the photos that return to the feed that is searched.
        let feed = feed.base ?? feed
        let places = feed.places(of: photos.map(\.id))
        toasts.perform { [self] in
            var moved: [(id: String, path: String)] = []
            var problem: String?
            // It follows the message with the button, which would replace it.
            defer { if let problem { toasts.show(problem) } }
            for photo in photos {
                do {
                    let path = try await path(of: photo, in: feed)
                    if let reason = await DispatchQueue.global().run({ UserFile.trash(path) }) {
                        problem = tr(
                            "{file} could not be moved to the trash: {reason}.",
                            ["file": path, "reason": reason])
                    } else {
                        moved.append((photo.id, path))
                    }
                } catch {
                    let failure = Problem(error)
                    problem = failure.sentence
                    // Without the daemon, the paths of the others are unknown too.
                    if failure.kind == nil { break }
                }
            }
            if moved.isEmpty { return }
            // The daemon does not know the files of a list.
            if feed.isFileList { feed.remove(Set(moved.map(\.id))) }
            let message =
                photos.count == 1
                ? tr("{photo} is in the trash.", ["photo": photos[0].accessibleName])
                : trn(
                    "{count} photo is in the trash.", "{count} photos are in the trash.",
                    moved.count)
            toasts.show(message, button: tr("_Undo")) { [weak toasts, moved] in
                feed.restored += places
                Task {
                    let failed = await DispatchQueue.global().run {
                        moved.filter { !UserFile.restore($0.path) }.map(\.id)
                    }
                    if feed.isFileList {
                        for place in places {
                            if let photo = Photo(file: place.id) { feed.insert(photo, at: place) }
                        }
                    }
                    if failed.isEmpty { return }
                    feed.restored.removeAll { failed.contains($0.id) }
                    toasts?.show(tr("A photo could not be restored. Look for it in the trash."))
                }
            }
        }
    }

    /// Source: the File Manager D-Bus interface of freedesktop.org.
    private func showInFiles(_ photo: Photo, in feed: Feed) {
        let files = BusProxy(
            service.connection, "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1")
        toasts.perform { [self] in
            let path = try await path(of: photo, in: feed)
            do {
                try await files.perform(
                    "org.freedesktop.FileManager1", "ShowItems", [UserFile.uri(path)], "")
            } catch {
                open(
                    UserFile.uri(PathBytes(path).folder.text),
                    tr("No file manager could be started."))
            }
        }
    }

    private func openWith(_ photo: Photo, in feed: Feed) {
        toasts.perform { [self] in
            window.openWith(try await path(of: photo, in: feed)) { [toasts] in
                toasts.show(tr("The program could not be started: {reason}.", ["reason": $0]))
            }
        }
    }

    // MARK: Portals

    /// Source: XDG Desktop Portal, `org.freedesktop.portal.Wallpaper`.
    private func setWallpaper(_ photo: Photo, in feed: Feed) {
        toasts.perform { [self] in
            let file = try await ImageLoader.open(photo.id, size: "full", of: feed.client)
            let options: [String: Variant] = ["show-preview": .bool(true)]
            await pass(tr("The desktop has no portal for wallpapers.")) {
                let _: ObjectPath = try await portal.call(
                    "org.freedesktop.portal.Wallpaper", "SetWallpaperFile", "", file, options)
            }
        }
    }

    /// Opens the mail program with the files of photos.
    ///
    /// Source: XDG Desktop Portal, `org.freedesktop.portal.Email`.
    func mailFiles(_ photos: [Photo], in feed: Feed) {
        toasts.perform { [self] in
            var files: [Variant] = []
            for photo in photos {
                files.append(
                    .fileDescriptor(
                        try await ImageLoader.open(photo.id, size: "full", of: feed.client)))
            }
            let options: [String: Variant] = [
                "subject": .string(photos.map(\.accessibleName).joined(separator: "; ")),
                "attachment_fds": .array(files, of: FileDescriptor.signature),
            ]
            await pass(tr("The desktop has no portal for e-mail.")) {
                let _: ObjectPath = try await portal.call(
                    "org.freedesktop.portal.Email", "ComposeEmail", "", options)
            }
        }
    }

    /// Calls a portal, and shows a sentence if there is none.
    private func pass(_ problem: String, _ call: () async throws -> Void) async {
        do { try await call() } catch { toasts.show(problem) }
    }

    // MARK: Daemon

    /// The local user whose avatar the photo can become; nil if there is none.
    private func user(for photo: Photo) -> AccountProperties? {
        let users = service.accounts.filter {
            service.provider(of: $0)?.has("avatar") == true && $0.isLoggedIn
        }
        return users.first { $0.path == photo.account } ?? users.first
    }

    private func useAsAvatar(_ photo: Photo, in feed: Feed) {
        guard let user = user(for: photo) else { return }
        let reference = PhotoReference(photo.id, in: feed.account)
        let id = reference.id(in: user.path) ?? reference.combinedID
        toasts.perform { [service, toasts] in
            try await service.client.account(user.path).setAvatar(id)
            toasts.show(tr("The photo is the avatar of {account}.", ["account": user.label]))
        }
    }

    private func slideshow(
        _ photo: Photo, in feed: Feed, _ success: String,
        _ action: @escaping (SlideshowClient, String) async throws -> Void
    ) {
        let id = PhotoReference(photo.id, in: feed.account).combinedID
        toasts.perform { [service, toasts] in
            try await action(service.client.slideshow, id)
            toasts.show(success)
        }
    }
}
