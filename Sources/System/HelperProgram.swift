internal import Glibc

/// The programs that only this package starts.
package enum HelperProgram {
    /// Returns the path of a program: in the folder of the running program, as in a build folder, or as installed. The
    /// programs of `bin/imagefeedd` are `libexec/imagefeed/NAME`.
    ///
    /// - Returns: The installed path if there is no program in either place.
    package static func path(_ name: String) -> String {
        let own = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { buffer in
                guard let start = buffer.baseAddress else { return 0 }
                return max(0, readlink("/proc/self/exe", start, buffer.count))
            }
        }
        let folder = parent(of: String(decoding: own, as: UTF8.self))
        let beside = "\(folder)/\(name)"
        if access(beside, X_OK) == 0 { return beside }
        return "\(parent(of: folder))/libexec/imagefeed/\(name)"
    }

    /// Returns the path without its last element and the slash before it.
    private static func parent(of path: String) -> String {
        String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    }
}
