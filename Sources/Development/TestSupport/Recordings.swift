internal import FoundationEssentials
package import ProviderKit

/// Recorded responses of a real service: a folder with the files `NAME.headers` and `NAME.json`.
package struct Recordings: Sendable {
    private let folder: String

    /// - Parameter file: The `#filePath` of a file next to the folder `Recordings`.
    package init(beside file: String) {
        folder = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)]) + "/Recordings"
    }

    package func body(_ name: String, _ ending: String = "json") throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name).\(ending)")))
    }

    package func response(_ name: String, _ ending: String = "json") throws -> HTTPResponse {
        var status = 0
        var headers = HTTPHeaders()
        let text = String(decoding: try body(name, "headers"), as: UTF8.self)
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
