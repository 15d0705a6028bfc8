/// A message between the daemon and a plugin, on one line.
///
/// Source: JSON-RPC 2.0; `imagefeed-providers(7)`. Batches are not supported.
package enum PluginMessage: Equatable, Sendable {
    /// A request with a reply. The ID is an integer or a string.
    case call(id: JSONValue, method: String, parameters: JSONValue)
    /// A message without a reply.
    case notification(method: String, parameters: JSONValue)
    case answer(id: JSONValue, result: JSONValue)
    case refusal(id: JSONValue, PluginRefusal)

    /// The version of the protocol.
    package static let version = 1

    /// The maximum length of the ID of a call, which the reply repeats.
    private static let maximumIDBytes = 256

    /// Parses a line.
    ///
    /// - Parameter line: The bytes without the line feed.
    /// - Throws: ``PluginFault`` if the line is not a valid message.
    package init(parsing line: some Collection<UInt8>) throws(PluginFault) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: line)
        } catch {
            throw PluginFault("\(error)")
        }
        let reader = PluginReader(value, "message")
        guard try reader.text("jsonrpc") == "2.0" else {
            throw PluginFault("jsonrpc of a message is not “2.0”")
        }
        let id = value["id"]
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
        } else if let id, case .object(let members) = value, let result = members["result"] {
            self = .answer(id: id, result: result)
        } else {
            throw PluginFault("a message has neither a method nor a result nor an error")
        }
    }

    /// The message as one line with a line feed.
    package var line: [UInt8] {
        let members: [String: JSONValue] =
            switch self {
            case .call(let id, let method, let parameters):
                ["id": id, "method": .string(method), "params": parameters]
            case .notification(let method, let parameters):
                ["method": .string(method), "params": parameters]
            case .answer(let id, let result): ["id": id, "result": result]
            case .refusal(let id, let refusal): ["id": id, "error": refusal.json]
            }
        return JSONValue.object(members.merging(["jsonrpc": "2.0"]) { $1 }).line
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
