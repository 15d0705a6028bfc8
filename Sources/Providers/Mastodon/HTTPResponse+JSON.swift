internal import FoundationEssentials
internal import ProviderKit

extension HTTPResponse {
    /// Decodes the body as JSON; nil for an invalid body.
    func decodeJSON<Value: Decodable>(_ type: Value.Type) -> Value? {
        try? JSONDecoder().decode(type, from: Data(body))
    }
}
