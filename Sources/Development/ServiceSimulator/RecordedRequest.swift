/// A request that the simulator has been asked.
package struct RecordedRequest: Sendable {
    /// A part of the service, each an origin of its own.
    package struct Host: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// Somebody else, whom a redirect may name: must never get a token.
        package static let stranger = Host(rawValue: "stranger")
    }

    /// How many requests there were before, on all hosts.
    package let number: Int
    package let host: Host
    package let method: String
    /// As it came, escaped: `/path?query`.
    package let target: String
    /// In their order.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// Who asked, if a valid token came along.
    package internal(set) var username: String?
    /// The status of the answer.
    package internal(set) var status = 0

    package var path: String { String(target.prefix { $0 != "?" }) }
    package var query: FormFields { FormFields(target.drop { $0 != "?" }.dropFirst()) }

    /// The fields of the query, and those of a body that is a form.
    package var fields: FormFields {
        let isForm = self["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") ?? false
        return isForm ? query + FormFields(String(decoding: body, as: UTF8.self)) : query
    }

    /// The first value of a header; names compare without case.
    package subscript(header: String) -> String? {
        headers.first { $0.name.lowercased() == header.lowercased() }?.value
    }

    /// The parts of the path between slashes.
    package var segments: [String] { path.split(separator: "/").map { FormFields.decode($0) } }
}
