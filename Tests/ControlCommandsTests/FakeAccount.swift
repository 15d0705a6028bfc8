import BusAPI
import DBus
import TestSupport

/// An account with 250 photos.
@MainActor
final class FakeAccount {
    let id: String
    let provider: String
    let calls = Observed<[String]>()
    var imagePath = "/tmp/image file.jpg"

    init(_ id: String, _ provider: String) {
        self.id = id
        self.provider = provider
    }

    static let interface = BusInterface<FakeAccount>(
        .account,
        [
            .property("Id") { $0.id },
            .property("Provider") { ServiceName.providers.appending($0.provider) },
            .property("Username") { $0.id },
            .property("Server") { _ in "" },
            .property("Label") { _ in "Ada\u{1B}[2J" },
            .property("State") { _ in "ready" },
            .property("StateReason") { _ in "" },
            .property("RetryAt") { _ in 0 as Int64 },
            .property("RateLimit") { _ in BusStruct(0 as UInt32, 0 as UInt32, 0 as Int64) },
            .method("Logout") { $0.calls.append("Logout") },
            .method("Remove") { $0.calls.append("Remove") },
            .method("Refresh") { $0.calls.append("Refresh") },
        ])

    static let feedInterface = BusInterface<FakeAccount>(
        .feed,
        [
            .method(
                "GetPage", in: ["source", "cursor", "count"], out: ["photos", "next"]
            ) {
                (_, source: String, cursor: String, count: UInt32) -> ([[String: Variant]], String)
                in
                if let error = failure(source) { throw error }
                guard 1...100 ~= count else { throw ErrorReply(.invalidArgs, "1 to 100") }
                if source == "empty" { return ([], "") }
                let start = Int(cursor) ?? 0
                let end = min(250, start + Int(count))
                let photos = (start..<end).map {
                    Samples.photo("\($0)", title: "日本\u{1B}[31m\t\($0)")
                }
                return (photos, end < 250 ? "\(end)" : "")
            },
            .method("GetPhoto", in: ["photo"], out: ["photo"]) {
                (_, id: String) -> [String: Variant] in
                if let error = failure(id) { throw error }
                return Samples.photo(id, title: "t")
            },
            .method("ListSources", out: ["sources"]) { _ -> [[String: Variant]] in
                [
                    [
                        "id": .string("all"), "title": .string("All"), "kind": .string("feed"),
                        "count": .uint32(250),
                    ]
                ]
            },
            .method("GetImage", in: ["photo", "size"], out: ["path"]) {
                (account, _: String, size: String) -> String in
                account.calls.append("GetImage \(size)")
                return account.imagePath
            },
            .method("Refresh", in: ["source"], out: ["new"]) { (_, _: String) -> UInt32 in 3 },
            .property("DefaultSource") { _ in "all" },
            .signal("Updated", ["source", "new"], String.self, UInt32.self),
        ])

    private static func failure(_ name: String) -> ErrorReply? {
        ServiceError(rawValue: name).map { ErrorReply($0.name, "It did not work.") }
    }
}
