/// One message between the daemon and a plugin, a line each.
///
/// Source: JSON-RPC 2.0; `imagefeed-providers(7)`. Batches are not spoken.
package enum PluginMessage: Equatable, Sendable {
    /// Something is asked. The id is an integer or a string.
    case call(id: JSONValue, method: String, parameters: JSONValue)
    /// Something is told.
    case notification(method: String, parameters: JSONValue)
    case answer(id: JSONValue, result: JSONValue)
    case refusal(id: JSONValue, PluginRefusal)

    /// What is spoken.
    package static let version = 1

    /// The maximum length of the id of a call, which is sent back with the answer.
    private static let maximumIDBytes = 256

    /// Reads a line.
    ///
    /// - Throws: ``PluginFault`` for what is no message.
    package init(parsing line: some Collection<UInt8>) throws(PluginFault) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: line)
        } catch {
            throw PluginFault("\(error)")
        }
        let reader = PluginReader(value, "message")
        guard try reader.text("jsonrpc") == "2.0" else {
            throw PluginFault("a message is not of JSON-RPC 2.0")
        }
        let id = value["id"]
        switch id {
        case .string(let text)? where text.utf8.count > Self.maximumIDBytes:
            throw PluginFault("the id of a message has more than \(Self.maximumIDBytes) bytes")
        case nil, .integer, .string: break
        case let id?: throw PluginFault("the id of a message is \(id.kind)")
        }
        if let method = value["method"] {
            guard case .string(let method) = method else {
                throw PluginFault("the method of a message is \(method.kind)")
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
            throw PluginFault("a message is neither call nor answer")
        }
    }

    /// The message as it is sent.
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

/// What the daemon asks a plugin.
package enum PluginMethod: String, CaseIterable, Sendable {
    case initialize
    /// For services of many servers: what one is, and how it lets its users in.
    case discover
    case identify
    case profile
    case sources
    case page
    case photo
    case image
    case setLiked
    case countDownload
}

/// What a plugin asks or tells the daemon.
package enum DaemonMethod: String, CaseIterable, Sendable {
    /// A call: a request on the web.
    case http
    /// Notifications.
    case log
    case status
    case rateLimit
}

/// What a plugin is told when nobody waits for a call any more: `cancel`, with its `id`.
package let pluginCancellation = "cancel"
