internal import Glibc

/// The entries of a directory, in the order of the file system, without `.` and `..`.
package struct DirectoryListing: Sendable {
    /// An entry of a directory.
    package struct Entry: Hashable, Sendable {
        /// The name: any bytes except zero and slash.
        package let name: [UInt8]
        /// The kind of the entry itself; links are not followed.
        package let kind: Kind
    }

    /// The kind of an entry.
    package enum Kind: Hashable, Sendable {
        case file
        case directory
        case link
        case other
        /// The file system does not report the kind; lstat(2) returns it.
        case unknown
    }

    package private(set) var entries: [Entry] = []

    /// The names that are valid UTF-8.
    package var names: [String] {
        entries.compactMap { String(validating: $0.name, as: UTF8.self) }
    }

    /// Reads a directory.
    ///
    /// - Parameter path: The path. Symbolic links are followed.
    /// - Throws: ``FileError`` if the directory cannot be opened or not be read completely.
    ///
    /// The corresponding C functions are `opendir` and `readdir`.
    package init(_ path: String) throws(FileError) { try self.init(Array(path.utf8)) }

    /// Reads a directory whose path is any bytes except zero; see ``init(_:)``.
    package init(_ path: [UInt8]) throws(FileError) {
        let opened = PathBytes(bytes: path).withCString { opendir($0) }
        guard let stream = opened else { throw FileError(code: errno) }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            // The array of fixed size must not be copied: an entry has only as many bytes as its name requires, and may
            // end at the end of its memory block.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard name != Array(".".utf8), name != Array("..".utf8) else { continue }
            let kind: Kind =
                switch Int(entry.pointee.d_type) {
                case DT_REG: .file
                case DT_DIR: .directory
                case DT_LNK: .link
                case DT_UNKNOWN: .unknown
                default: .other
                }
            entries.append(Entry(name: name, kind: kind))
        }
        if errno != 0 { throw FileError(code: errno) }
    }
}
