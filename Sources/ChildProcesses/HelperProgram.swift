internal import Glibc

/// Where the image helper is.
nonisolated package enum HelperProgram {
    private static let name = "imagefeed-image-helper"

    /// Looks beside the running program, where a build has it, then where an installation has it:
    /// `bin/imagefeedd` belongs to `libexec/imagefeed/imagefeed-image-helper`.
    ///
    /// - Returns: The path; of the installation where there is none.
    package static func find() -> String {
        let own = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { buffer in
                guard let start = buffer.baseAddress else { return 0 }
                return max(0, readlink("/proc/self/exe", start, buffer.count))
            }
        }
        let folder = String(decoding: own, as: UTF8.self).split(separator: "/").dropLast()
        let beside = "/\(folder.joined(separator: "/"))/\(name)"
        if access(beside, X_OK) == 0 { return beside }
        let installed = folder.dropLast() + ["libexec", "imagefeed", name[...]]
        return "/\(installed.joined(separator: "/"))"
    }
}
