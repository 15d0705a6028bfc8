internal import Contract
internal import DBus
internal import Glibc
internal import JSONFormat
internal import ProviderKit
internal import System

/// The files with the current photo of a slideshow, for programs that do not use D-Bus: a symbolic link to its image, and
/// a JSON document.
///
/// They are in the runtime folder of the user, which is in memory. Both are replaced by a rename, the link first.
final class SlideshowFiles {
    private let folder: String
    private let name: String
    /// The photo and the image that were written last; nil if there are no files.
    private var written: (photo: Photo, image: String)?

    /// - Parameters:
    ///   - folder: The folder, which is created if necessary.
    ///   - name: The name of the slideshow; empty for the default one.
    init(folder: String, name: String) {
        self.folder = folder
        self.name = name
    }

    /// Writes the files, or deletes them without a photo. Failures are ignored: clients of D-Bus do not need the files.
    ///
    /// - Parameters:
    ///   - entry: The current photo; nil for none.
    ///   - image: The path of its image.
    func update(_ entry: PhotoEntry?, image: String) {
        guard let entry, !image.isEmpty else {
            // An earlier process may have left the files.
            written = nil
            unlink(path("json"))
            unlink(path())
            return
        }
        if let written, written == (entry.photo, image) { return }
        written = (entry.photo, image)
        mkdir(folder, 0o700)
        let link = "\(path()).new"
        unlink(link)
        if symlink(image, link) != 0 || rename(link, path()) != 0 { unlink(link) }
        var members = Dictionary(
            uniqueKeysWithValues: entry.values.map { ($0.key, JSON($0.value)) })
        members["image"] = .string(image)
        members["slideshow"] = .string(name)
        try? AtomicFile.write(
            JSON.object(members).line, to: path("json"), through: "\(path("json")).new")
    }

    private func path(_ type: String? = nil) -> String {
        let file = name.isEmpty ? "current" : "current-\(name)"
        return "\(folder)/\(file)" + (type.map { ".\($0)" } ?? "")
    }
}
