internal import Contract
internal import DBus
internal import Glibc
internal import JSONFormat
internal import PluginProtocol
internal import ProviderKit

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
        replace(path()) { symlink(image, $0) == 0 }
        let document = JSON.object(
            entry.members.merging(["image": .string(image), "slideshow": .string(name)]) { $1 })
        replace(path("json")) { temporary in
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            let line = document.line
            return line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                == line.count
        }
    }

    private func path(_ type: String? = nil) -> String {
        let file = name.isEmpty ? "current" : "current-\(name)"
        return "\(folder)/\(file)" + (type.map { ".\($0)" } ?? "")
    }

    private func replace(_ path: String, _ create: (_ temporary: String) -> Bool) {
        let temporary = "\(path).new"
        unlink(temporary)
        if !create(temporary) || rename(temporary, path) != 0 { unlink(temporary) }
    }
}

extension PhotoEntry {
    /// The photo as a JSON object, with the keys and values of its D-Bus form.
    fileprivate var members: [String: JSON] {
        var members: [String: JSON] = [
            "id": .string(photo.id.text), "account": .string(account.text),
        ]
        for field in PhotoField.all {
            members[field.key] =
                switch field.value {
                case .point(let get, _):
                    get(photo).map { .array([.number(($0.x + 1) / 2), .number((1 - $0.y) / 2)]) }
                case .likeState(let get, _): .bool(get(photo))
                default: field.json(of: photo)
                }
        }
        return members
    }
}
