internal import FoundationEssentials
package import ProviderKit

/// Answers of a real service, recorded by the tests of its clients: a folder with `NAME.headers` and the body
/// beside it.
package struct Recordings: Sendable {
    private let folder: String

    /// - Parameter file: The `#filePath` beside which the folder `Recordings` is.
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
