/// A request that the simulator received.
package struct RecordedRequest: Sendable {
    /// A host of the service; each has a separate origin.
    package struct Host: RawRepresentable, Hashable, Sendable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        /// An unrelated host, for redirects; it must never receive a token.
        package static let unrelated = Host(rawValue: "unrelated")
    }

    /// The number of earlier requests, on all hosts.
    package let number: Int
    package let host: Host
    package let method: String
    /// The escaped target: `/path?query`.
    package let target: String
    /// The header fields, in the order of the message.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]
    /// The user of the token, if the request has a valid one.
    package internal(set) var username: String?
    /// The status of the response; 0 until it is sent.
    package internal(set) var status = 0

    package var path: String { String(target.prefix { $0 != "?" }) }
    package var query: FormFields { FormFields(target.drop { $0 != "?" }.dropFirst()) }

    /// The fields of the query and of a body that is a form.
    package var fields: FormFields {
        let isForm = self["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") ?? false
        return isForm ? query + FormFields(String(decoding: body, as: UTF8.self)) : query
    }

    /// The first value of a header field; names are compared without case.
    package subscript(header: String) -> String? {
        headers.first { $0.name.lowercased() == header.lowercased() }?.value
    }

    /// The decoded path segments.
    package var segments: [String] { path.split(separator: "/").map { FormFields.decode($0) } }
}
