internal import ArgumentParser
internal import Contract
internal import DBus
internal import ProviderKit
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
        help: .init(
            tr(
                "The file to write, or a folder; in a folder, the file is named after the photo's ID."
            ),
            valueName: "path"))
    var output = PathBytes(".")
    @Flag(
        help: .init(tr("Replace an existing file; if it is a symbolic link, replace its target.")))
    var force = false
    @OptionGroup var format: OutputOptions

    func validate() throws {
        guard !output.isEmpty else { throw ValidationError(tr("--output must not be empty.")) }
    }

    @MainActor func run() async throws {
        let session = try ServiceSession()
        let photo = try await session.photo(photo)
        let (client, id) = (photo.client, photo.id)
        let type = try await namingLogin(of: photo.account) {
            try await client.photo(id).mediaType
        }
        let path = DownloadFile.target(output, name: FileName.photo(id, mediaType: type))
        do {
            let isNamed = path == output
            let file = try DownloadFile(
                at: path, force ? .replace : .refuse, isNamedByContent: !isNamed)
            defer { file.discard() }
            try await namingLogin(of: photo.account) {
                try await PhotoDownload(session.client, to: file).run(id, of: client)
            }
            let written = try file.finish()
            try format.show(FilePath(path: isNamed ? path : written))
        } catch let error as DownloadFileError {
            throw CommandFailure(error)
        }
    }
}

extension CommandFailure {
    fileprivate init(_ error: DownloadFileError) {
        let advice =
            if case .exists = error { " " + tr("To replace it, add --force.") } else { "" }
        self.init(.failed, "\(error)\(advice)")
    }
}
