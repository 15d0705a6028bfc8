internal import Glibc
internal import System

/// Reads a file to its end, or a pipe to its first newline.
func read(_ descriptor: Int32, upToLine: Bool = false) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while true {
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        bytes += buffer[..<count]
        if upToLine && bytes.contains(UInt8(ascii: "\n")) { break }
    }
    return String(decoding: bytes, as: UTF8.self)
}

func readFile(_ path: String) throws -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw BenchmarkError.system(path) }
    defer { close(descriptor) }
    return read(descriptor)
}

/// Removes a file or a directory with its contents.
func removeTree(_ path: String) {
    guard unlink(path) != 0, let names = (try? DirectoryListing(path))?.names else { return }
    for name in names { removeTree("\(path)/\(name)") }
    rmdir(path)
}
