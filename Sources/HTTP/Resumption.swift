internal import Translation
internal import Web

/// The continuation of an interrupted download.
///
/// This type only decides; its owner sends the requests.
///
/// Source: RFC 9110 §13.1.5, §14.
struct Resumption {
    /// The pauses before consecutive attempts without new bytes.
    private static let pauses: [Duration] = [.zero, .seconds(1), .seconds(3)]
    /// The maximum number of interruptions.
    private static let limit = 10

    /// The header of the first response.
    let head: ResponseHead
    /// The length of the file; nil if it is not known.
    let length: Int?
    /// The validator that detects another version of the file; nil if there is none.
    private let validator: String?
    private var tries = 0
    private var triesWithoutBytes = 0
    private var lastReceived = 0

    /// - Parameter head: The header of the response whose body has begun.
    init(_ head: ResponseHead) {
        self.head = head
        length = head.bodyLength
        let tag = head.headers["ETag"].flatMap { $0.hasPrefix("\"") ? $0 : nil }
        let isPlain = head.headers["Content-Encoding"] == nil && head.status == 200
        let isAllowed = head.headers["Accept-Ranges"]?.lowercased() != "none"
        validator = isPlain && isAllowed ? tag ?? head.headers["Last-Modified"] : nil
    }

    /// True if the server can send the rest of the file.
    var canContinue: Bool { validator != nil }

    /// Records an interruption.
    ///
    /// - Parameters:
    ///   - received: The number of received bytes.
    ///   - error: The cause of the interruption.
    /// - Returns: The pause before the next attempt; nil if the download cannot continue.
    mutating func nextPause(received: Int, _ error: HTTPError) -> Duration? {
        switch error {
        case .failed, .unreachable: break
        default: return nil
        }
        guard validator != nil, received > 0, tries < Self.limit else { return nil }
        triesWithoutBytes = received > lastReceived ? 0 : triesWithoutBytes + 1
        lastReceived = received
        tries += 1
        return triesWithoutBytes < Self.pauses.count ? Self.pauses[triesWithoutBytes] : nil
    }

    /// Returns the request for the rest of the file.
    func hop(_ hop: Hop, at received: Int) -> Hop {
        var hop = hop
        hop.request.headers.removeAll { name, _ in name == "range" || name == "if-range" }
        hop.request.headers.append("Range", "bytes=\(received)-")
        hop.request.headers.append("If-Range", validator ?? "")
        return hop
    }

    /// Checks that a response contains the rest of the file.
    ///
    /// - Throws: ``HTTPError/failed(_:)``.
    func check(_ head: ResponseHead, at received: Int) throws(HTTPError) {
        let range = head.headers["Content-Range"] ?? ""
        guard head.status == 206, head.headers["Content-Encoding"] == nil,
            range.hasPrefix("bytes \(received)-"), let total = range.split(separator: "/").last,
            length == nil || total == "*" || Int(total) == length
        else {
            throw .failed(Message("the download was interrupted, and the server cannot resume it"))
        }
    }
}
