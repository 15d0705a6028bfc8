internal import Configuration
internal import Contract
internal import DBus
internal import Glibc
internal import ImageMetadata
internal import ProviderKit
internal import System
internal import Toolkit

/// Image files that are opened without an account.
nonisolated enum FileList {
    /// The extensions of file names, without a dot and in lower case.
    private static let extensions = Set(
        ImageFormat.allCases.map(\.fileExtension) + ["jpeg", "tiff", "heif"])

    /// Returns the image files of a folder in the order of their names. Blocks; for use on another thread.
    static func photos(ofFolder folder: String) -> [Photo] {
        guard let names = try? DirectoryListing(folder).names else { return [] }
        let images = names.filter { name in
            guard !name.hasPrefix("."), let dot = name.lastIndex(of: ".") else { return false }
            return extensions.contains(name[name.index(after: dot)...].lowercased())
        }
        return FileActions.sorted(images).compactMap { photo("\(folder)/\($0)") }
    }

    /// Returns a regular file; nil if it cannot be read.
    static func photo(_ path: String) -> Photo? {
        guard let status = FileStatus(path), status.isRegular else { return nil }
        return Photo(file: path, modified: status.modified)
    }

    /// An opened file or folder.
    struct Place: Sendable {
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
            folder = status.isFolder ? path : parent
        }
    }

    /// Returns the source of a folder in the pictures folder; nil if it is elsewhere.
    static func source(ofFolder folder: String) -> String? {
        let pictures = PathBytes(bytes: UserFolders(environment: [:]).pictures).text
        guard let pictures = Place(pictures)?.path else { return nil }
        if folder == pictures { return "all" }
        guard folder.hasPrefix(pictures + "/") else { return nil }
        // Source: org.imagefeed.ImageFeed1(5), `album:PATH`, in which only a percent sign is encoded.
        let relative = folder.dropFirst(pictures.count + 1)
        return "album:" + relative.replacing("%", with: "%25")
    }
}

extension Photo {
    /// Creates a photo that stands for a file. Its ID is the path.
    nonisolated init(file path: String, modified: Int64) {
        let name = path[(path.lastIndex(of: "/") ?? path.startIndex)...].dropFirst()
        self.init(ProviderKit.Photo(id: PhotoID(path)), account: ServiceName.root)
        photo.created = Timestamp(secondsSince1970: modified)
        photo.title = String(name.lastIndex(of: ".").map { name[..<$0] } ?? name)
    }

    /// Adds the properties of the file.
    mutating func apply(_ facts: ImageFacts) {
        photo.width = facts.width
        photo.height = facts.height
        photo.created = facts.taken ?? photo.created
        photo.camera = facts.camera
        photo.lens = facts.lens
        photo.exposureTime = facts.exposureTime
        photo.aperture = facts.aperture
        photo.iso = facts.iso
        photo.latitude = facts.latitude
        photo.longitude = facts.longitude
        photo.isAnimated = facts.isAnimated
    }

    /// True if the photo is a file that was opened without an account.
    var isFile: Bool { account == ServiceName.root }
}
