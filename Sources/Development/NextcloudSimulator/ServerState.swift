internal import Glibc
package import ServiceSimulator

/// The state of a simulated server.
package struct ServerState: SimulatedState {
    var version: Version
    /// The path of the server below its origin; empty or `/nextcloud`.
    var path: String
    var isInMaintenance = false
    /// True between the installation of a new version and the upgrade of the database.
    var needsUpgrade = false
    /// The folders that the app Photos shows; nil without the app.
    var sourceFolders: [String]?
    /// The statuses of failing albums, and of their lists, by their paths: `albums/Alps`.
    var albumFailures: [String: Int] = [:]
    /// The number of sessions that were started.
    var sessions = 0
    var users: [String: SimulatedUser] = [:]
    /// The user IDs by `login name:app password`.
    var passwords: [String: String] = [:]
    var flows: [LoginFlow] = []
    /// The origin of addresses in responses; nil for that of the request.
    var namedOrigin: String?
    var files: [SimulatedFile] = []
    var favourites: [String: Set<Int>] = [:]
    var albums: [SimulatedAlbum] = []
    package var faults = FaultPlan()
    /// The number of the last ID. It is long, so that a text search for an ID finds no other data.
    private var lastID = 4_815_162_300
    private var random: SeededRandom

    var now: Moment { Moment(time(nil)) }

    init(_ version: Version, path: String, photoCount: Int, seed: UInt64) {
        self.version = version
        self.path = path
        random = SeededRandom(seed: seed)
        for number in 0..<photoCount {
            var file = makeFile(modified: now + -3600 * (number + 1))
            // The server has read two of three files.
            if number % 3 != 2, version.hasMetadata { file.taken = file.modified }
            files.append(file)
        }
    }

    mutating func makeFile(modified: Moment) -> SimulatedFile {
        lastID += Int.random(in: 1...9, using: &random)
        return SimulatedFile(
            id: lastID, path: "Photos/Fog & rain \(lastID).jpg", modified: modified)
    }

    mutating func token(_ count: Int = 32) -> String { random.identifier(count) }

    /// Returns the files that a user can access, in the order in which a client shows them.
    func files(of user: String) -> [SimulatedFile] {
        files.filter { $0.owner == nil || $0.owner == user }
            .sorted { ($0.time, $0.id) > ($1.time, $1.id) }
    }

    /// The files in albums, which all users see in the simulation.
    var filesInAlbums: [SimulatedFile] {
        let ids = Set(albums.flatMap(\.files))
        return files.filter { ids.contains($0.id) }.sorted { ($0.time, $0.id) > ($1.time, $1.id) }
    }

    mutating func makePassword(of user: String) -> (login: String, password: String) {
        let login = users[user]?.loginName ?? user
        let password = "app-password-of-\(user)-\(token())"
        passwords["\(login):\(password)"] = user
        return (login, password)
    }

    // MARK: Requests

    package func username(_ request: RecordedRequest) -> String? {
        credentials(request).flatMap { passwords[$0] }
    }

    /// Returns the login name and the password of a request.
    func credentials(_ request: RecordedRequest) -> String? {
        let parts = (request["Authorization"] ?? "").split(separator: " ").map(String.init)
        guard parts.count == 2, parts[0] == "Basic" else { return nil }
        return Base64Text.decode(parts[1])
    }

    package mutating func reply(to request: RecordedRequest, _ fault: Fault?) -> Reply {
        if let reply = fault?.replacement { return reply }
        var reply = request.host == .server ? serverReply(request) : Reply(200, json: [:])
        fault?.change(&reply)
        return reply
    }
}

/// A Base64 decoder that is independent of the code under test.
///
/// Source: RFC 4648 §4.
enum Base64Text {
    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = Array(bytes[start..<min(start + 3, bytes.count)])
            let bits = (0..<3).reduce(0) { $0 << 8 | ($1 < part.count ? Int(part[$1]) : 0) }
            for index in 0..<4 {
                let digit = digits[bits >> (18 - 6 * index) & 63]
                text += index <= part.count ? String(UnicodeScalar(digit)) : "="
            }
        }
        return text
    }

    static func decode(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var (bits, count) = (0, 0)
        for byte in text.utf8 where byte != UInt8(ascii: "=") {
            guard let value = digits.firstIndex(of: byte) else { return nil }
            bits = bits << 6 | value
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension Moment {
    /// The beginning of a day in UTC.
    package init(year: Int, month: Int, day: Int) {
        var fields = tm()
        fields.tm_year = Int32(year - 1900)
        fields.tm_mon = Int32(month - 1)
        fields.tm_mday = Int32(day)
        self.init(timegm(&fields))
    }
}
