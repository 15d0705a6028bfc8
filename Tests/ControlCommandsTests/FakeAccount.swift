import Contract
import DBus
import ProviderKit
import TestSupport

/// A fake account with 250 photos.
@MainActor final class FakeAccount {
    let id: String
    let provider: String
    let calls = Observed<[String]>()
    var imagePath = "/tmp/image file.jpg"
    /// The URL of each photo; nil if photos have none.
    var link: String? = "https://photos.example/7?utm_source=imagefeed"
    var state = "ready"
    var stateReason = ""
    var server = ""
    /// The remedy; nil for that of ``state``.
    var remedy: String?
    var notices: [String] = []
    /// The accounts that the combined account has left out.
    var incomplete: [ObjectPath] = []
    /// The error of every page; nil for none.
    var pageError: ServiceError?
    /// The error of every image; nil for none.
    var imageError: ServiceError?
    var pending: [String] = []
    var avatar = ""
    let transfers = Observed<[FakeTransfer]>([])
    weak var tree: ObjectTree?
    var profileState = "ready"
    var sourceID = "all"
    /// The text before the IDs of the default photos.
    var idPrefix = ""
    /// The photos of every page; nil for the 250 default photos.
    var page: [[String: Variant]]?

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
            .property("Server") { $0.server },
            .property("Label", { _ in "Ada\u{1B}[2J" }, set: { $0.calls.append("Label \($1)") }),
            .property("State") { $0.state },
            .property("StateReason") { $0.stateReason },
            .property("Remedy") { $0.remedy ?? ($0.state == "needs-login" ? "login" : "") },
            .property("RetryAt") { _ in 0 as Int64 },
            .property("RateLimit") { _ in BusStruct(0 as UInt32, 0 as UInt32, 0 as Int64) },
            .property("Notices") { $0.notices },
            .method("Logout") { $0.calls.append("Logout") },
            .method("Remove") { $0.calls.append("Remove") },
            .method("Refresh") { $0.calls.append("Refresh") },
        ])

    static let combinedInterface = BusInterface<FakeAccount>(
        .combined, [.property("Incomplete") { $0.incomplete }])

    static let feedInterface = BusInterface<FakeAccount>(
        .feed,
        [
            .method(
                "GetPage", in: ["source", "cursor", "count"], out: ["photos", "next"]
            ) {
                (account, source: String, cursor: String, count: UInt32)
                    -> ([[String: Variant]], String)
                in
                if let error = account.pageError.flatMap({ failure($0.rawValue) }) { throw error }
                if let page = account.page { return (page, "") }
                if let error = failure(source) { throw error }
                guard 1...100 ~= count, cursor != "x" else {
                    throw ErrorReply(.invalidArgs, "1 to 100")
                }
                if source == "empty" { return ([], "") }
                if source == "likes" {
                    return ([Samples.photo(account.idPrefix + "42", title: "liked")], "")
                }
                let start = Int(cursor) ?? 0
                let end = min(250, start + Int(count))
                let photos = (start..<end).map {
                    Samples.photo("\(account.idPrefix)\($0)", title: "日本\u{1B}[31m\t\($0)")
                }
                return (photos, end < 250 ? "\(end)" : "")
            },
            .method("GetPhoto", in: ["photo"], out: ["properties"]) {
                (account, id: String) -> [String: Variant] in
                if let error = failure(id) { throw error }
                let listed = account.page?.first { $0["id"] == .string(id) }
                var photo = listed ?? Samples.photo(id, title: "t")
                photo["url"] = account.link.map { .string($0) }
                photo["media_type"] = .string("image/jpeg")
                return photo
            },
            .method("ListSources", out: ["sources"]) { account -> [[String: Variant]] in
                [
                    [
                        "id": .string(account.sourceID), "title": .string("All"),
                        "kind": .string("feed"), "count": .uint32(250),
                    ]
                ]
            },
            .method("GetImage", in: ["photo", "size"], out: ["path"]) {
                (account, _: String, size: String) -> String in
                if let error = account.imageError.flatMap({ failure($0.rawValue) }) { throw error }
                account.calls.append("GetImage \(size)")
                return account.imagePath
            },
            .method("Download", in: ["photo", "destination"], out: ["transfer"]) {
                (account, photo: String, destination: FileDescriptor) -> ObjectPath in
                if let error = failure(photo) { throw error }
                let number = account.transfers.value.count + 1
                let object = ExportedObject(ServiceName.transfers.appending("\(number)"))
                let transfer = FakeTransfer(destination, object)
                object.add(FakeTransfer.interface, on: transfer)
                account.tree?.export(object)
                account.transfers.append(transfer)
                if photo != "slow" { transfer.succeed() }
                return object.path
            },
            .method("Refresh", in: ["source"], out: ["new"]) { (_, _: String) -> UInt32 in 3 },
            .property(
                "DefaultSource", { _ in "all" }, set: { $0.calls.append("DefaultSource \($1)") }),
            .signal("Updated", ["source", "new"], String.self, UInt32.self),
        ])

    /// The interface `Like`. The outcome is the ID of the photo if it is the name of an outcome, otherwise `done`.
    static let likeInterface = BusInterface<FakeAccount>(
        .like,
        [
            .method("Like", in: ["photo"], out: ["outcome"]) { (account, photo: String) -> String in
                try account.outcome("Like", photo)
            },
            .method("Unlike", in: ["photo"], out: ["outcome"]) {
                (account, photo: String) -> String in
                try account.outcome("Unlike", photo)
            },
            .method("Toggle", in: ["photo"], out: ["liked", "outcome"]) {
                (account, photo: String) -> (Bool, String) in
                (photo != "liked", try account.outcome("Toggle", photo))
            },
            .property("Pending") { $0.pending },
            .property("Count") { _ in 1 as UInt32 },
            .signal("Changed", ["photo", "liked", "likes"], String.self, Bool.self, UInt32.self),
            .signal(
                "Failed", ["photo", "wanted", "error", "message"], String.self, Bool.self,
                String.self, String.self),
        ])

    static let profileInterface = BusInterface<FakeAccount>(
        .profile,
        [
            .method("Refresh") { $0.calls.append("Profile.Refresh") },
            .method("SetAvatar", in: ["photo"]) { (account, photo: String) in
                if let error = failure(photo) { throw error }
                account.calls.append("SetAvatar \(photo)")
                account.avatar = "/avatars/\(photo)"
            },
            .property("State") { $0.profileState },
            .property("Username") { _ in "ada" },
            .property("Name") { _ in "Ada Lovelace" },
            .property("Bio") { _ in "First\u{1B}[1m programmer,\nand poet of science." },
            .property("Location") { _ in "" },
            .property("Url") { _ in "https://photos.example/@ada" },
            .property("Avatar") { $0.avatar },
            .property("Editable") { _ in true },
        ])

    private func outcome(_ method: String, _ photo: String) throws -> String {
        if let error = Self.failure(photo) { throw error }
        calls.append("\(method) \(photo)")
        return LikeOutcome(rawValue: photo)?.rawValue ?? "done"
    }

    private static func failure(_ name: String) -> ErrorReply? {
        ServiceError(rawValue: name).map { ErrorReply($0.name, "It did not work.") }
    }
}
