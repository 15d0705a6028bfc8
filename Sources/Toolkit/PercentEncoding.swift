internal import CAdwaita

nonisolated extension String {
    /// The text as a part of a URI. Source: RFC 3986 §2.3.
    package var percentEncoded: String {
        text(taking: g_uri_escape_string(self, nil, 0))
    }

    /// The text of a part of a URI; nil if it is damaged.
    package var percentDecoded: String? {
        guard let decoded = g_uri_unescape_string(self, nil) else { return nil }
        defer { g_free(decoded) }
        return String(validatingCString: decoded)
    }
}
