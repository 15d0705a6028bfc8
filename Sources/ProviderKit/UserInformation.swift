extension String {
    /// The text with `…` in place of the user information of an address, which may contain a password:
    /// `https://…@host/path` for `https://bob:secret@host/path`.
    ///
    /// A password may contain characters that end the host name of an address. An address with a colon before its last
    /// `@` is therefore assumed to have a password. Handles like `@ada@host` are not changed.
    package var withoutUserInformation: String {
        guard let at = lastIndex(of: "@") else { return self }
        let start = firstRange(of: "://").map(\.upperBound) ?? startIndex
        guard start < at else { return self }
        let part = self[start..<at]
        let isAuthority = !part.contains { "/?#".contains($0) }
        let hasScheme = start > startIndex
        guard part.contains(":") || hasScheme && isAuthority else { return self }
        return "\(self[..<start])…\(self[at...])"
    }
}
