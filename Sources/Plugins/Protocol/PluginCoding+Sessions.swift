package import JSONFormat
package import ProviderKit
internal import Translation

// The coding of the states of sessions.

extension RateLimit {
    package var json: JSON {
        [
            "remaining": .integer(Int64(remaining)), "limit": .integer(Int64(limit)),
            "reset": JSON(reset),
        ]
    }

    package init(_ reader: PluginReader) throws(PluginFault) {
        guard let remaining = try reader.count("remaining") else {
            throw reader.missing("remaining")
        }
        guard let limit = try reader.count("limit") else { throw reader.missing("limit") }
        self.init(remaining: remaining, limit: limit, reset: try reader.validTime("reset"))
    }
}

extension SessionStatus {
    package var json: JSON {
        switch self {
        case .ready: ["state": "ready"]
        case .loading(let reason): ["state": "loading", "reason": .string(reason.english)]
        case .failed(let reason, _): ["state": "failed", "reason": .string(reason.english)]
        }
    }

    package init(_ reader: PluginReader) throws(PluginFault) {
        let reason = Message(
            verbatim: try reader.message("reason") ?? "The plugin gave no reason.")
        switch try reader.requiredText("state") {
        case "ready": self = .ready
        case "loading": self = .loading(reason: reason)
        case "failed": self = .failed(reason: reason)
        default: throw PluginFault("\(reader.path).state is not ready, loading or failed")
        }
    }
}
