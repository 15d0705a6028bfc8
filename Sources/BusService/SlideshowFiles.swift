internal import Contract
internal import DBus
internal import Glibc
internal import JSONFormat
internal import Logging
internal import ProviderKit
internal import Storage
internal import System

/// The files with the current photo of a slideshow, for programs that do not use D-Bus: a symbolic link to its image, and
/// a JSON document.
///
/// They are in the runtime folder of the user, which is in memory. Both are replaced by a rename, the link first.
final class SlideshowFiles {
    private let folder: String
    private let name: String
    private let logger: Logger
    /// The photo and the image that were written last; nil if there are no files.
    private var written: (photo: Photo, image: String)?
    /// True if the last attempt to write the files failed.
    private var hasFailed = false

    /// - Parameters:
    ///   - folder: The folder, which is created if necessary, and made accessible only to the user.
    ///   - name: The name of the slideshow; empty for the default one.
    ///   - logger: Receives the reason why the files cannot be written.
    init(folder: String, name: String, logger: Logger) {
        self.folder = folder
        self.name = name
        self.logger = logger
    }

    /// Deletes the files of slideshows that do not exist, which an earlier process has left.
    static func delete(in folder: String, besides names: Set<String>) {
        let prefix = "current-"
        for file in (try? DirectoryListing(folder))?.names ?? [] where file.hasPrefix(prefix) {
            let name = String(file.dropFirst(prefix.count).prefix { $0 != "." })
            if !names.contains(name) { unlink("\(folder)/\(file)") }
        }
    }

    /// Writes the files, or deletes them without a photo. If they cannot be written, they are deleted, because those of
    /// the photo before would contradict the slideshow; clients of D-Bus do not need them.
    ///
    /// - Parameters:
    ///   - entry: The current photo; nil for none.
    ///   - image: The path of its image.
    func update(_ entry: PhotoEntry?, image: String) {
        guard let entry, !image.isEmpty else {
            // An earlier process may have left the files.
            return delete()
        }
        if let written, written == (entry.photo, image), access(path("json"), F_OK) == 0 { return }
        var members = Dictionary(
            uniqueKeysWithValues: entry.values.map { ($0.key, JSON($0.value)) })
        members["image"] = .string(image)
        members["slideshow"] = .string(name)
        do {
            try createPrivateFolder(folder)
            try replace(image, JSON.object(members).line)
            written = (entry.photo, image)
            hasFailed = false
        } catch {
            delete()
            if !hasFailed {
                logger.warning(
                    "The files with the current photo cannot be written",
                    metadata: ["folder": "\(folder)", "reason": "\(error)"])
            }
            hasFailed = true
        }
    }

    /// Replaces the link and the document. The document is complete before the link is replaced.
    private func replace(_ image: String, _ json: [UInt8]) throws(FileError) {
        let (link, document) = ("\(path()).new", "\(path("json")).new")
        try writeAtomically(json, to: document, through: "\(document).part")
        unlink(link)
        guard symlink(image, link) == 0, rename(link, path()) == 0,
            rename(document, path("json")) == 0
        else { throw FileError(code: errno) }
    }

    private func delete() {
        written = nil
        for file in [path("json"), path()] {
            unlink(file)
            unlink("\(file).new")
        }
    }

    private func path(_ type: String? = nil) -> String {
        let file = name.isEmpty ? "current" : "current-\(name)"
        return "\(folder)/\(file)" + (type.map { ".\($0)" } ?? "")
    }
}
