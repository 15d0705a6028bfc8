/// A variant of the API that Mastodon defined.
enum Dialect: Sendable {
    case mastodon
    case pixelfed
    /// Grants a token of the last user for any code, and deletes an application with its first token that is revoked.
    ///
    /// Source: snac 2.52, `oauth_post_handler`.
    case snac
    /// Selects the statuses without media with `only_media`.
    ///
    /// Source: takahe 0.11, `api/views/timelines.py`.
    case takahe
    /// Revokes all tokens of an application with one of them.
    ///
    /// Source: friendica 2024.12, `Module/OAuth/Revoke.php`.
    case friendica
    /// Any other server software, and any server that is not certainly Mastodon.
    case other

    /// Creates the dialect of a server that states its version: `4.6.4`, or `3.5.3 (compatible; Pixelfed 0.11.13)`.
    init(version: String) {
        let version = version.lowercased()
        self =
            if let known = Self.named.first(where: { version.contains($0.key) }) {
                known.value
            } else if Self.isMastodon(version) { .mastodon } else { .other }
    }

    /// Creates the dialect of a server that states the name of its software in NodeInfo.
    init(software: String) {
        let software = software.lowercased()
        self =
            software == "mastodon"
            ? .mastodon : Self.named.first { software.contains($0.key) }?.value ?? .other
    }

    /// The names that versions contain.
    private static let named: [String: Dialect] = [
        "pixelfed": .pixelfed, "snac": .snac, "takahe": .takahe, "friendica": .friendica,
    ]

    /// Returns true for a version that only Mastodon and its forks have, such as `4.3.0-beta.1+glitch`.
    ///
    /// The versions of others: `0.17.3 git-8d0b5ba` and `3.5.3+0.17.3-git-8d0b5ba` (GoToSocial),
    /// `4.0.0 (not true; really snac/2.52)`, `takahe/0.11.0`, `4.2.1 (compatible; Iceshrimp.NET/2024.1)`.
    private static func isMastodon(_ version: String) -> Bool {
        let isPlain = version.utf8.allSatisfy {
            0x61...0x7a ~= $0 || 0x30...0x39 ~= $0 || "-+.".utf8.contains($0)
        }
        let parts = version.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts[0].prefix { $0 != "-" }
            .split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard isPlain, numbers.count == 3, !numbers.contains(nil), numbers[0] != 0 else {
            return false
        }
        // The build metadata names a fork here, not the version of another program.
        guard let build = parts.dropFirst().first else { return true }
        return build.first?.isLetter == true && !build.contains("git")
    }
}
