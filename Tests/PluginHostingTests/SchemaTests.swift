import FoundationEssentials
import JSONFormat
import PluginProtocol
import ProviderKit
import TestSupport
import Testing

/// The schema in `dist`, compared with the messages that are written and read.
struct SchemaTests {
    private let schema: JSON
    private let definitions: [String: JSON]

    init() throws {
        let file = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "dist/imagefeed-providers.schema.json")
        schema = try JSON(parsing: Data(contentsOf: file))
        definitions = Self.properties(try #require(schema["$defs"]))
    }

    private static func properties(_ value: JSON) -> [String: JSON] {
        Dictionary(uniqueKeysWithValues: value.members.map { ($0.name, $0.value) })
    }

    @Test func `the schema has every method and every kind of error, and no others`() throws {
        let methods = Set(
            definitions.keys.filter { $0.hasSuffix(".params") }.map { $0.dropLast(7) })
        #expect(
            methods
                == Set(PluginMethod.allCases.map { $0.rawValue[...] })
                .union(DaemonMethod.allCases.map { $0.rawValue[...] })
                .union([pluginCancellation[...]]))
        for method in PluginMethod.allCases {
            #expect(definitions["\(method.rawValue).result"] != nil)
        }
        let data = optional(definitions["error"]?["properties"]?["data"])
        let kinds = optional(data?["properties"]?["kind"])?["enum"]
        #expect(kinds == .array(PluginRefusal.Kind.allCases.map { .string($0.rawValue) }))
    }

    @Test func `written values match the schema in every key`() throws {
        let photo = Samples.photo
        let source = Source(
            id: SourceID("a"), title: "A", kind: .album, count: 7, cover: PhotoID("1"))
        var profile = Profile(username: "ada", name: "Ada")
        (profile.bio, profile.location, profile.url) = ("b", "l", "https://example.org/")
        (profile.avatarURL, profile.likes) = ("https://example.org/a.png", 7)
        profile.userID = "1"
        var request = HTTPRequest(.post, "https://example.org/")
        request.headers = ["A": "b"]
        request.body = [65]
        let response = HTTPResponse(
            status: 200, headers: ["A": "b"], body: [65], url: "https://example.org/")
        let page = RemotePage([photo], next: "2", total: 9, end: "key7")
        let limit = RateLimit(remaining: 1, limit: 2, reset: .init(secondsSince1970: 1_790_000_000))
        let line = ResponseLine(response, answering: 1).flatMap { $0 }
        guard case .answer(1, let sent) = try PluginMessage(parsing: line.dropLast()) else {
            throw CancellationError()
        }
        let written: [(String, JSON, missing: Set<String>)] = [
            ("photo", photo.json, []), ("source", source.json, []),
            ("page.result", page.json, []), ("profile.result", profile.json, []),
            ("discover.result", Samples.server.json, []),
            ("describeLogin.result", Samples.polling.json, []),
            (
                "identify.result",
                AccountIdentity(username: "ada", server: "b", userID: "1").json, []
            ),
            ("http.params", request.json, ["account", "body_base64"]),
            ("http.result", sent, ["body_base64"]),
            ("rateLimit.params", limit.json, ["account"]),
            ("status.params", SessionStatus.failed(reason: "No.").json, ["account"]),
        ]
        for (name, value, missing) in written {
            let definition = try #require(definitions[name])
            let properties = try #require(definition["properties"]).members.map(\.name)
            #expect(Set(value.members.map(\.name)).union(missing) == Set(properties), "\(name)")
            #expect(faults(value, definition, name, besides: missing) == [])
        }
    }

    @Test func `the schema has the properties of photos with their types`() throws {
        var properties = Self.properties(try #require(definitions["photo"]?["properties"]))
        for field in PhotoField.described {
            let property = optional(properties.removeValue(forKey: field.key))
            let reference = property?["$ref"]
            switch field.value {
            case .time: #expect(reference == "#/$defs/time", "\(field.key)")
            case .count: #expect(reference == "#/$defs/count", "\(field.key)")
            case .number(let range, _, _):
                #expect(property?["type"] == "number", "\(field.key)")
                let bounds = [property?["minimum"], property?["maximum"]].map { bound -> Double? in
                    if case .integer(let number) = bound { Double(number) } else { nil }
                }
                #expect(bounds == [range.lowerBound, range.upperBound], "\(field.key)")
            case .flag: #expect(property?["type"] == "boolean", "\(field.key)")
            case .text(.link, _, _): #expect(reference == "#/$defs/address", "\(field.key)")
            case .text: #expect(property?["type"] == "string", "\(field.key)")
            case .point: #expect(property?["type"] == "array", "\(field.key)")
            }
        }
        #expect(Set(properties.keys) == ["id", "liked", "images", "note", "entry"])
    }

    @Test func `an optional member may be null, and a required one may not`() throws {
        for (name, definition) in definitions {
            let properties = Self.properties(definition["properties"] ?? .null)
            var required: Set<JSON> = []
            if case .array(let keys) = definition["required"] { required = Set(keys) }
            for (key, property) in properties where !required.contains(.string(key)) {
                #expect(faults(.null, property, "\(name).\(key)") == [])
            }
        }
        let photo = try #require(definitions["photo"])
        #expect(faults(.object([.init("id", "1"), .init("album", .null)]), photo, "photo") == [])
        #expect(faults(.object([.init("id", .null)]), photo, "photo") != [])
        #expect(faults(["id": "1", "likes": "3"], photo, "photo") != [])
    }

    /// Returns the definition of an optional member without its null.
    private func optional(_ property: JSON?) -> JSON? {
        guard case .array(let choices) = property?["anyOf"], choices.count == 2,
            choices[1] == ["type": "null"]
        else { return nil }
        return choices[0]
    }

    @Test func `messages match the schema, and invalid messages do not`() throws {
        let refusal = PluginRefusal(ProviderError.rateLimited(until: .init(secondsSince1970: 7)))
        let messages: [PluginMessage] = [
            .call(
                id: 1, method: "initialize",
                parameters: ["protocol": 1, "provider": "p", "settings": .object(["a": "b"])]),
            .call(
                id: 2, method: "page",
                parameters: [
                    "account": ["id": "1", "username": "ada"], "source": "home", "place": "2",
                ]),
            .call(
                id: "x", method: "http",
                parameters: ["account": "1", "url": "https://example.org/"]),
            .notification(method: "log", parameters: ["message": "m"]),
            .notification(method: "cancel", parameters: ["id": 1]),
            .answer(id: 1, result: [:]), .refusal(id: 1, refusal),
        ]
        for message in messages {
            let value = try JSON(parsing: message.line.dropLast())
            #expect(faults(value, schema, "message") == [])
        }
        let wrong: [JSON] = [
            [:], ["jsonrpc": "2.0", "id": 1], ["jsonrpc": "1.0", "id": 1, "result": 1],
            ["jsonrpc": "2.0", "id": 1, "method": "fly", "params": [:]],
            ["jsonrpc": "2.0", "id": 1, "method": "page", "params": [:]],
        ]
        for value in wrong { #expect(faults(value, schema, "message") != []) }
    }

    /// Returns the violations of a schema by a value. Supports the part of JSON Schema that the schema in `dist` uses.
    private func faults(
        _ value: JSON, _ schema: JSON, _ path: String, besides: Set<String> = []
    ) -> [String] {
        if case .string(let reference) = schema["$ref"] {
            guard let target = definitions[String(reference.dropFirst("#/$defs/".count))] else {
                return ["\(path): no \(reference)"]
            }
            return faults(value, target, path)
        }
        var found: [String] = []
        if case .array(let choices) = schema["oneOf"],
            choices.count(where: { faults(value, $0, path).isEmpty }) != 1
        {
            found.append("\(path): not one of")
        }
        if case .array(let choices) = schema["anyOf"],
            !choices.contains(where: { faults(value, $0, path).isEmpty })
        {
            found.append("\(path): not any of")
        }
        if let constant = schema["const"], constant != value { found.append("\(path): const") }
        if case .array(let values) = schema["enum"], !values.contains(value) {
            found.append("\(path): enum")
        }
        if let type = schema["type"], !isOfType(value, type) { found.append("\(path): type") }
        if case .array(let keys) = schema["required"] {
            for case .string(let key) in keys where value[key] == nil && !besides.contains(key) {
                found.append("\(path).\(key): required")
            }
        }
        for property in schema["properties"]?.members ?? [] {
            if let member = value[property.name] {
                found += faults(member, property.value, "\(path).\(property.name)")
            }
        }
        if case .array(let elements) = value, let items = schema["items"] {
            for element in elements { found += faults(element, items, "\(path)[]") }
        }
        return found
    }

    private func isOfType(_ value: JSON, _ type: JSON) -> Bool {
        if case .array(let types) = type { return types.contains { isOfType(value, $0) } }
        return switch value {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .integer: type == "integer" || type == "number"
        case .number: type == "number"
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }
}
