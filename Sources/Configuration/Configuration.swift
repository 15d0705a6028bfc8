internal import Glibc
internal import ProviderKit
internal import Quoting
internal import System
package import Translation

/// The configuration of the system and the user.
///
/// Source: `imagefeed.conf(5)`.
package struct Configuration: Sendable {
    /// A part of a file that was ignored.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The path of the file.
        package let path: String
        /// The line, counted from 1; 0 for the file as a whole.
        package let line: Int
        package let reason: Message

        /// The file, the line and the reason.
        package var message: Message {
            let file = Message(verbatim: path)
            guard line > 0 else {
                return Message("{place}: {reason}", messages: ["place": file, "reason": reason])
            }
            return Message(
                "{file}, line {line}: {reason}",
                messages: ["file": file, "line": Message(verbatim: "\(line)"), "reason": reason])
        }
        package var description: String { message.english }
    }

    /// The files and lines that could not be read, and the lines that a later line of the same file replaces.
    private(set) var unreadable: [Problem] = []
    /// The values by group and key. They may be invalid UTF-8; the names are as ``RawText`` represents them.
    private(set) var groups: [String: [String: [UInt8]]] = [:]
    /// The file and the line of each value.
    private(set) var places: [String: [String: (path: String, line: Int)]] = [:]

    /// Reads the existing files. An entry in a later file overrides those in earlier files.
    package init(paths: [String]) {
        for path in paths {
            do throws(FileError) {
                merge(try Self.read(path).text, from: path)
            } catch {
                if error.code == ENOENT || error.code == ENOTDIR { continue }
                unreadable.append(
                    Problem(path: path, line: 0, reason: Message(verbatim: error.description)))
            }
        }
    }

    /// Returns all values in a group, by key. Numbers and Boolean values are without the blanks at their end.
    package func group(_ name: String) -> [String: String] {
        groups[name, default: [:]].mapValues {
            let text = String(decoding: $0, as: UTF8.self)
            let isPlain = ["true", "false"].contains(text.trimmed) || Int(text.trimmed) != nil
            return isPlain ? String(text.trimmed) : text
        }
    }

    /// The names of the groups for servers: `photos.lan` for `[Server photos.lan]`.
    package var servers: [String] {
        groups.keys.filter { $0.hasPrefix(Self.serverPrefix) }
            .map { String($0.dropFirst(Self.serverPrefix.count)) }
    }
    static let serverPrefix = "Server "

    /// Returns the host to which requests for a server go: `::1` for `[Server 0::1]`, and the ASCII form of an
    /// internationalized name; nil for another name than that of a host.
    package static func host(ofServer name: String) -> String? {
        let colons = name.count { $0 == ":" }
        guard colons != 1, !name.contains(where: { "/?#[]".contains($0) }),
            let address = try? ServerAddress(colons == 0 ? name : "[\(name)]")
        else { return nil }
        return address.host.filter { !"[]".contains($0) }
    }

    /// Returns the value of a key; nil if it is not set or empty.
    package func string(_ group: String, _ key: String) -> String? {
        path(group, key).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The address or mail address at which services reach the user; nil if it is not set or has another form.
    package var contact: String? {
        string("Daemon", "Contact").flatMap { text in
            // It becomes a part of a comment in a header field.
            let isPlain = text.utf8.allSatisfy { 0x21...0x7e ~= $0 && !"()\\;".utf8.contains($0) }
            let isAddress = text.hasPrefix("https://") || text.hasPrefix("http://")
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            let isMail = parts.count == 2 && !parts.contains("")
            return isPlain && text.utf8.count <= 200 && (isAddress || isMail) ? text : nil
        }
    }

    /// Returns the value of a key that is a path, which may be invalid UTF-8; nil if it is not set or empty.
    package func path(_ group: String, _ key: String) -> [UInt8]? {
        groups[group]?[key].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the value of a key that is `true` or `false`; nil if it is not set or has another value.
    package func bool(_ group: String, _ key: String) -> Bool? {
        switch string(group, key)?.trimmed {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// Returns the value of a key that is a size: `512M`, where `K`, `M` and `G` are powers of 1024. nil if it is not
    /// set or has another form.
    package func bytes(_ group: String, _ key: String) -> Int? {
        guard let text = string(group, key)?.trimmed else { return nil }
        let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        let unit = text.last.flatMap { units[$0] }
        guard let number = Int(unit == nil ? text[...] : text.dropLast()), number >= 0 else {
            return nil
        }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit ?? 1)
        return overflows ? nil : bytes
    }

    /// Returns the value of a key that is a duration: `15m`, with `s`, `m` or `h`, or `0`. nil if it is not set or has
    /// another form.
    package func duration(_ group: String, _ key: String) -> Duration? {
        guard let text = string(group, key)?.trimmed else { return nil }
        if text == "0" { return .zero }
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[$0] }),
            digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = Int(digits)
        else { return nil }
        let (seconds, overflows) = number.multipliedReportingOverflow(by: unit)
        return overflows ? nil : .seconds(seconds)
    }

    private mutating func merge(_ text: [UInt8], from path: String) {
        let file = KeyFile(RawText.text(of: text))
        unreadable += file.badLines.map { Problem(path: path, line: $0.number, reason: $0.reason) }
        for (group, values) in file.groups {
            groups[group, default: [:]].merge(values.mapValues(RawText.bytes(of:))) { $1 }
        }
        let badLines = Set(file.badLines.map(\.number))
        for case (let group, let key?, let line) in KeyFile.entries(of: text)
        where !badLines.contains(line) {
            if let place = places[group]?[key], place.path == path, place.line < line {
                let reason = Message("line {line} sets this key again", ["line": "\(line)"])
                unreadable.append(Problem(of: key, in: group, at: place, reason))
            }
            places[group, default: [:]][key] = (path, line)
        }
    }

    /// The largest size of a configuration file. A larger file is not a configuration.
    private static let maximumBytes = 1 << 20

    /// Reads a configuration file to its end.
    ///
    /// - Parameters:
    ///   - path: The path. Symbolic links are followed.
    ///   - isRegular: True if any other kind of file is refused, false if only a pipe is.
    /// - Returns: The contents and the permissions.
    /// - Throws: The error of the file.
    static func read(
        _ path: String, isRegular: Bool = false
    ) throws(FileError) -> (text: [UInt8], mode: mode_t) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileError(code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError(code: errno) }
        let kind = status.st_mode & S_IFMT
        // Nothing can be read from a pipe without a writer, which is no empty file.
        guard isRegular ? kind == S_IFREG : kind != S_IFIFO else { throw FileError(code: EINVAL) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= maximumBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { throw FileError(code: errno) }
            guard count > 0 else { return (bytes, status.st_mode & 0o777) }
            bytes += chunk[..<count]
        }
        throw FileError(code: EFBIG)
    }
}
