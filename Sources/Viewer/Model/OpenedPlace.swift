internal import Contract
internal import DBus
internal import Dispatch
internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import System
internal import Toolkit

/// A file or folder that the user opened.
nonisolated struct OpenedPlace: Sendable {
    /// The absolute path without links.
    let path: String
    /// The folder that is shown.
    let folder: String
    var isFolder: Bool { path == folder }

    /// Resolves a path; nil if there is no such file or folder.
    init?(_ path: String) {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        guard let path = String(validatingCString: resolved), let status = FileStatus(path)
        else { return nil }
        self.path = path
        let parent = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        folder = status.kind == .directory ? path : parent
    }

    /// The image files of the folder in the order of their names. Blocks; for use on another thread.
    var photosOfFolder: [Photo] {
        guard let names = try? DirectoryListing(folder).names else { return [] }
        let images = names.filter { !$0.hasPrefix(".") && ImageFormat(name: $0) != nil }
        return UserFile.sorted(images).compactMap { Photo(file: "\(folder)/\($0)") }
    }

    /// The source of the folder if it is in the pictures folder; nil if it is elsewhere.
    var source: String? {
        // Downloads are stored in the pictures folder.
        guard let pictures = OpenedPlace(Downloads.folder.text)?.path else { return nil }
        if folder == pictures { return "all" }
        guard folder.hasPrefix(pictures + "/") else { return nil }
        // Source: org.imagefeed.ImageFeed1(5), `album:PATH`.
        let relative = folder.dropFirst(pictures.count + 1).unicodeScalars.map {
            $0 == "%" || !ServiceText.isPermitted($0)
                ? URLEncoding.escape(String($0)) : String($0)
        }
        return "album:" + relative.joined()
    }
}

extension Photo {
    /// Creates a photo that stands for a regular file, whose path is its ID; nil if the file cannot be read.
    nonisolated init?(file path: String) {
        guard let status = FileStatus(path), status.kind == .file else { return nil }
        let name = path[(path.lastIndex(of: "/") ?? path.startIndex)...].dropFirst()
        self.init(ProviderKit.Photo(id: PhotoID(path)), account: ServiceName.root)
        photo.created = Timestamp(secondsSince1970: status.modified)
        photo.title = String(name.lastIndex(of: ".").map { name[..<$0] } ?? name)
    }

    /// True if the photo is a file that was opened without an account.
    var isFile: Bool { account == ServiceName.root }
}

/// The files and folders that the user opens from the file manager or the command line.
///
/// Those in the pictures folder are shown in the feed of a local account, others as a list that is not stored.
extension Service {
    /// Returns a list of the opened files, or of the folder of the only one, with its title and the position of the photo
    /// that was opened, which is nil for a folder; nil if there is no image.
    func files(_ paths: [String]) async -> (feed: Feed, title: String, index: Int?)? {
        let (photos, folder, index) = await DispatchQueue.global().run {
            () -> ([Photo], String, Int?) in
            let places = paths.compactMap(OpenedPlace.init)
            guard let first = places.first else { return ([], "", nil) }
            if places.count > 1 {
                return (places.compactMap { Photo(file: $0.path) }, first.folder, 0)
            }
            var photos = first.photosOfFolder
            if first.isFolder { return (photos, first.folder, nil) }
            // The file may have an unusual name.
            let isListed = photos.contains { $0.id == first.path }
            if !isListed, let file = Photo(file: first.path) { photos.insert(file, at: 0) }
            return (photos, first.folder, photos.firstIndex { $0.id == first.path })
        }
        guard !photos.isEmpty else { return nil }
        let title = folder.split(separator: "/").last.map(String.init) ?? "/"
        return (Feed(self, account: ServiceName.root, photos: photos), title, index)
    }

    /// Returns the selection and the photo of a local account for a file or folder; nil if no account has it.
    func source(ofFile path: String) async -> (Sidebar.Selection, photo: String?)? {
        guard let account = feeds.first(where: isLocal) else { return nil }
        let found = await DispatchQueue.global().run {
            OpenedPlace(path).flatMap { place in
                place.source.map { (place, $0, Photo(file: place.path)?.title) }
            }
        }
        guard let (place, source, title) = found else { return nil }
        let selection = Sidebar.Selection(account: account.path, source: source)
        let client = client.account(account.path)
        var cursor = ""
        repeat {
            guard let page = try? await client.page(source, cursor: cursor, count: 100) else {
                return nil
            }
            if place.isFolder { return (selection, nil) }
            for photo in page.photos where photo.title == title {
                if (try? await client.imagePath(photo.id, size: "full")) == place.path {
                    return (selection, photo.id)
                }
            }
            cursor = page.next
        } while !cursor.isEmpty
        return nil
    }
}
