package import JSONFormat

/// A message between the daemon and a plugin, on one line.
///
/// Source: JSON-RPC 2.0; `imagefeed-providers(7)`. Batches are not supported.
package enum PluginMessage: Equatable, Sendable {
    /// A request with a reply. The ID is an integer or a string.
    case call(id: JSON, method: String, parameters: JSON)
    /// A message without a reply.
    case notification(method: String, parameters: JSON)
    case answer(id: JSON, result: JSON)
    case refusal(id: JSON, PluginRefusal)

    /// The version of the protocol.
    package static let version = 1

    /// The maximum length of the ID of a call, which the reply repeats.
    private static let maximumIDBytes = 256

    /// Parses a line.
    ///
    /// - Parameter line: The bytes without the line feed.
    /// - Throws: ``PluginFault`` if the line is not a valid message.
    package init(parsing line: some Collection<UInt8>) throws(PluginFault) {
        let value: JSON
        do {
            value = try JSON(parsing: line)
        } catch {
            throw PluginFault("\(error)")
        }
        let reader = PluginReader(value, "message")
        guard try reader.text("jsonrpc") == "2.0" else {
            throw PluginFault("jsonrpc of a message is not “2.0”")
        }
        var id = value["id"]
        // Languages with one kind of number write 3 as 3.0.
        if case .number(let number)? = id, let whole = Int64(exactly: number) {
            id = .integer(whole)
        }
        switch id {
        case .string(let text)? where text.utf8.count > Self.maximumIDBytes:
            throw PluginFault("the id of a message has more than \(Self.maximumIDBytes) bytes")
        case nil, .integer, .string: break
        case let id?:
            throw PluginFault("the id of a message is \(id.kind), not an integer or a string")
        }
        if let method = value["method"] {
            guard case .string(let method) = method else {
                throw PluginFault("the method of a message is \(method.kind), not a string")
            }
            let parameters = value["params"] ?? [:]
            self =
                id.map { .call(id: $0, method: method, parameters: parameters) }
                ?? .notification(method: method, parameters: parameters)
        } else if let id, value["error"] != nil {
            self = .refusal(id: id, try PluginRefusal(reader.object("error")))
        } else if let id, let result = value.members.first(where: { $0.name == "result" }) {
            self = .answer(id: id, result: result.value)
        } else if id == nil,
            value.members.contains(where: { ["result", "error"].contains($0.name) })
        {
            throw PluginFault("the id of a message is missing")
        } else {
            throw PluginFault("a message has neither a method nor a result nor an error")
        }
    }

    /// The message as one line with a line feed.
    package var line: [UInt8] {
        let members: [JSON.Member] =
            switch self {
            case .call(let id, let method, let parameters):
                [.init("id", id), .init("method", .string(method)), .init("params", parameters)]
            case .notification(let method, let parameters):
                [.init("method", .string(method)), .init("params", parameters)]
            case .answer(let id, let result): [.init("id", id), .init("result", result)]
            case .refusal(let id, let refusal): [.init("id", id), .init("error", refusal.json)]
            }
        return JSON.object([.init("jsonrpc", "2.0")] + members).line
    }
}

/// The calls of the daemon to a plugin.
package enum PluginMethod: String, CaseIterable, Sendable {
    case initialize
    /// For federated services: describes a server and its login.
    case discover
    /// For logins with polling: describes the login at a server.
    case describeLogin
    case identify
    case profile
    case sources
    case page
    case photo
    case image
    case setLiked
    case countDownload
}

/// The calls and notifications of a plugin to the daemon.
package enum DaemonMethod: String, CaseIterable, Sendable {
    /// A call: an HTTP request.
    case http
    /// A notification, as are the methods below.
    case log
    case status
    case rateLimit
}

/// The notification that cancels a call of the daemon, with its `id`.
package let pluginCancellation = "cancel"
