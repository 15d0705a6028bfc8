import FoundationEssentials
import ProviderKit

/// An answer of the real service, recorded by the tests of its clients: see `Recordings/SOURCES.md`.
enum Recording {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Recordings")

    /// All with a body of JSON that is a list of photos.
    static let lists = [
        "photos_list_2019_page1_promoted_at", "photos_list_2021_page1_prod",
        "photos_list_latest_page1", "user_likes_page1", "collection_photos_2021",
    ]

    static func body(_ name: String, _ ending: String = "json") throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: "\(name).\(ending)")))
    }

    static func response(_ name: String, _ ending: String = "json") throws -> HTTPResponse {
        let text = try String(
            contentsOf: folder.appending(path: "\(name).headers"), encoding: .utf8)
        var status = 0
        var headers = HTTPHeaders()
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if line.hasPrefix("HTTP/") {
                status = Int(line.split(separator: " ")[1]) ?? 0
            } else if let colon = line.firstIndex(of: ":") {
                let value = line[line.index(after: colon)...].drop { $0 == " " }
                headers.append(String(line[..<colon]), String(value))
            }
        }
        return HTTPResponse(
            status: status, headers: headers, body: try body(name, ending), url: "")
    }
}
