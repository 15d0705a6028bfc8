internal import Glibc
internal import System

/// The programs that start plugins in their sandbox.
nonisolated package struct SandboxPrograms: Sendable {
    /// The path of `imagefeed-plugin-launcher`.
    package var launcher: String
    /// The path of `bwrap`; nil if it is not installed.
    package var bubblewrap: String?

    /// - Parameters:
    ///   - launcher: The path of `imagefeed-plugin-launcher`.
    ///   - bubblewrap: The path of `bwrap`; nil if it is not installed.
    package init(launcher: String, bubblewrap: String?) {
        self.launcher = launcher
        self.bubblewrap = bubblewrap
    }

    /// The installed programs.
    package static var installed: SandboxPrograms {
        SandboxPrograms(
            launcher: HelperProgram.path("imagefeed-plugin-launcher"),
            bubblewrap: ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"]
                .first { access($0, X_OK) == 0 })
    }
}
