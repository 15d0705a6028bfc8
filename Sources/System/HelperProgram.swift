internal import Glibc

/// Where the programs are that only ours start.
package enum HelperProgram {
    /// Looks beside the running program, where a build has it, then where an installation has it:
    /// `bin/imagefeedd` belongs to `libexec/imagefeed/NAME`.
    ///
    /// - Returns: The path; of the installation where there is none.
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

    /// The path without its last element, and without the slash before it.
    private static func parent(of path: String) -> String {
        String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    }
}
