internal import ArgumentParser
internal import Contract
internal import ImageMetadata
internal import ProviderKit
internal import Quoting
internal import System
internal import Translation

struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: tr("Save a photo in the best quality, and print the path of the file."),
        discussion: tr("Ctrl-C cancels the download; no incomplete file remains."))

    @OptionGroup var photo: PhotoArgument
    @Option(
        name: [.short, .long], parsing: .unconditional,
        help: .tr(
            "The file to write, or a folder. In a folder, a photo on this computer keeps its name, and any other one is named after its ID.",
            valueName: "path"))
    var output = PathBytes(".")
    @Flag(help: .tr("Replace an existing file; if it is a symbolic link, replace its target."))
    var force = false
    @OptionGroup var format: OutputOptions

    func validate() throws {
        guard !output.isEmpty else { throw ValidationError(tr("--output must not be empty.")) }
    }

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let photo = try await service.photo(photo)
        let (client, id) = (photo.client, photo.id)
        let (properties, known) = try await addingHints(for: photo.account) {
            let properties = try await client.photo(id)
            let isLocal = photo.account.provider?.lastElement == "local"
            guard isLocal else { return (properties, nil as PathBytes?) }
            return (properties, try await fileName(id, properties, client))
        }
        let path = DownloadFile.target(
            output,
            name: known ?? PathBytes(Self.fileName(ofID: id, mediaType: properties.mediaType)))
        do {
            let isNamed = path == output || known != nil
            let file = try DownloadFile(
                at: path, force ? .replace : .refuse, isNamedByContent: !isNamed)
            defer { file.discard() }
            try await addingHints(for: photo.account) {
                try await download(id, of: client, to: file, service)
            }
            let written = try file.finish()
            try format.show(isNamed ? path : written)
        } catch let error as DownloadFileError {
            let advice: String? =
                if case .exists = error { tr("To replace it, add --force.") } else { nil }
            throw CommandFailure(.failed, error.description, advice)
        }
    }

    /// Returns a file name that consists of the photo's ID and an extension, and is safe on every command line.
    ///
    /// - Parameters:
    ///   - id: The photo's ID. ASCII letters, digits and `_` are kept, and so are `-` and `.` after the first
    ///     character. Other bytes become `_xx` with two hexadecimal digits.
    ///   - mediaType: The media type of the photo.
    /// - Returns: The name, at most 205 bytes long.
    static func fileName(ofID id: String, mediaType: String?) -> String {
        // File systems limit names to 255 bytes.
        let start = id.utf8.prefix(1).escaped(keeping: "_")
        let rest = id.utf8.dropFirst().escaped(keeping: "_-.")
        let name = String((start + rest).prefix(200))
        return mediaType.flatMap(ImageFormat.init(mediaType:)).map { "\(name).\($0.fileExtension)" }
            ?? name
    }

    /// Returns the name of the file of a photo on this computer; nil if the path of its image is another one.
    @MainActor private func fileName(
        _ id: String, _ photo: PhotoEntry, _ client: AccountClient
    ) async throws -> PathBytes? {
        guard let path = try? await client.imagePath(id, size: "full"),
            let name = path.split(separator: "/").last.map(String.init)
        else { return nil }
        // A path that is not UTF-8 is that of a link, which is named by the ID.
        if name == id, let target = PathBytes(path).linkTarget {
            return PathBytes(bytes: Array(target.bytes.dropFirst(target.folder.bytes.count)))
        }
        guard let title = photo.title else { return nil }
        // The title of a long name is its beginning.
        let beginning = title.hasSuffix("…") ? title.dropLast() : title[...]
        return ServiceText.line(name)?.hasPrefix(beginning) == true ? PathBytes(name) : nil
    }

    /// Writes a photo into a file, with a progress bar. There is no timeout; Ctrl-C cancels the download.
    @MainActor private func download(
        _ photo: String, of account: AccountClient, to file: DownloadFile, _ service: ServiceClient
    ) async throws {
        try await Interruption.run(prepareExit: file.discard) { interruption in
            let transfer = service.transfer(try await account.download(photo, to: file.descriptor))
            await interruption.setCancel { try await transfer.cancel() }
            defer { if OutputTarget.standardError != .pipe { Console.redraw("") } }
            try await transfer.wait { progress in
                // The progress is shown only on a terminal.
                guard case .terminal(let columns, _) = OutputTarget.standardError else { return }
                Console.redraw(progress.line(columns))
            }
        }
    }
}
