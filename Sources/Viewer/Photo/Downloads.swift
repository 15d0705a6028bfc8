internal import BusAPI
internal import DBus
internal import Glibc

/// The downloads of this window.
final class Downloads {
    struct Progress {
        let id: Int
        let name: String
        let received: UInt64
        /// 0 if unknown.
        let total: UInt64
    }

    /// Emitted with a sentence when a download ended.
    let finished = Event<String>()
    let changed = Event<Void>()
    private(set) var current: Progress?
    var isRunning: Bool { !transfers.isEmpty }

    private let service: Service
    private var transfers: [Int: TransferClient?] = [:]
    private var lastID = 0

    init(_ service: Service) { self.service = service }

    /// The folder for downloads: `XDG_PICTURES_DIR`, else `Pictures`.
    static var folder: String {
        let home = getenv("HOME").map { String(cString: $0) } ?? "/"
        let configuration =
            getenv("XDG_CONFIG_HOME").map { String(cString: $0) } ?? "\(home)/.config"
        for line in lines("\(configuration)/user-dirs.dirs")
        where line.hasPrefix("XDG_PICTURES_DIR=") {
            let value = line.dropFirst("XDG_PICTURES_DIR=".count).filter { $0 != "\"" }
            if value.hasPrefix("/") { return String(value) }
            if value.hasPrefix("$HOME/"), value.count > 6 { return home + value.dropFirst(5) }
        }
        return "\(home)/Pictures"
    }

    private static func lines(_ path: String) -> [Substring] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n")
    }

    /// Returns a file name without the characters that have a meaning in paths.
    static func name(_ photo: Photo) -> String {
        let title = photo.title.isEmpty ? photo.id : photo.title
        let plain = title.unicodeScalars.map {
            $0 == "/" || $0.value < 32 || $0.value == 127 ? "-" : Character($0)
        }
        var name = String(plain.drop { $0 == "." || $0 == " " }.prefix(80))
        if name.isEmpty { name = "Photo" }
        return name + ".jpg"
    }

    /// Starts a download into the pictures folder, or to a path that the user chose.
    func start(_ photo: Photo, in feed: Feed, to path: String? = nil) {
        lastID += 1
        let id = lastID
        transfers[id] = .some(nil)
        Task {
            do {
                let (file, path) =
                    try path.map { (try Self.create($0, isNew: false), $0) }
                    ?? Self.createInFolder(photo)
                do {
                    try await run(id, photo, feed, file)
                    finish(id, "Downloaded to \(path)")
                } catch {
                    unlink(path)
                    throw error
                }
            } catch let error as DownloadError {
                finish(id, error.message)
            } catch {
                let problem = Problem(error)
                finish(
                    id,
                    problem.kind == .cancelled ? "The download was cancelled." : problem.sentence)
            }
        }
    }

    private func run(_ id: Int, _ photo: Photo, _ feed: Feed, _ file: FileDescriptor) async throws {
        let transfer = service.client.transfer(try await feed.client.download(photo.id, to: file))
        transfers[id] = transfer
        let name = Self.name(photo)
        var received: UInt64 = 0
        var total: UInt64 = 0
        let apply: ([String: Variant]) -> Void = { [weak self] properties in
            if case .uint64(let value) = properties["Received"] { received = value }
            if case .uint64(let value) = properties["Total"] { total = value }
            self?.current = Progress(id: id, name: name, received: received, total: total)
            self?.changed.emit()
        }
        let watch = try await transfer.watch(apply)
        apply(try await transfer.properties())
        try await transfer.wait()
        withExtendedLifetime(watch) {}
    }

    private func finish(_ id: Int, _ message: String) {
        transfers[id] = nil
        if current?.id == id { current = nil }
        changed.emit()
        finished.emit(message)
    }

    func cancelAll() {
        for transfer in transfers.values.compactMap({ $0 }) {
            // A transfer that has ended cannot be cancelled.
            Task { try? await transfer.cancel() }
        }
    }

    // MARK: Files

    private static func createInFolder(_ photo: Photo) throws(DownloadError) -> (
        FileDescriptor, String
    ) {
        mkdir(folder, 0o755)
        let name = name(photo)
        for number in 1...1000 {
            let stem = name.dropLast(4)
            let path = "\(folder)/\(number == 1 ? name : "\(stem) (\(number)).jpg")"
            do {
                return (try create(path, isNew: true), path)
            } catch  where error.isTaken {
                continue
            }
        }
        throw DownloadError(
            message: "The pictures folder has too many files with this name.", isTaken: true)
    }

    private static func create(_ path: String, isNew: Bool) throws(DownloadError) -> FileDescriptor
    {
        let descriptor = open(
            path, O_WRONLY | O_CREAT | O_CLOEXEC | (isNew ? O_EXCL : O_TRUNC), 0o644)
        guard descriptor >= 0 else {
            let code = errno
            throw DownloadError(
                message: "\(path) cannot be written: \(String(cString: strerror(code))).",
                isTaken: code == EEXIST)
        }
        return FileDescriptor(owning: descriptor)
    }
}

/// The reason why the file of a download could not be created.
private struct DownloadError: Error {
    let message: String
    let isTaken: Bool
}
