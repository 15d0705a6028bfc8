internal import ServiceSimulator

/// The images, and the hosts to which a client must not send requests.
///
/// Source: unsplash.com/documentation, "Dynamically resizable images"; the parameters of imgix.
extension ServiceState {
    func imageReply(_ request: RecordedRequest) -> Reply {
        guard request.method == "GET" else { return Reply(405, text: "") }
        let query = request.query
        let isProfile =
            request.path.hasPrefix("/profile-") || request.path.hasPrefix("/placeholder-avatars/")
        let photo = catalogue.photos.values.first { $0.imagePath == request.path }
        guard isProfile || photo.map({ !catalogue.deleted.contains($0.id) }) ?? false else {
            return Reply(404, html: "<html><body><h1>404 Not Found</h1></body></html>")
        }
        // The real service does not require the parameter, but counts no view without it.
        guard isProfile || query["ixid"].map({ !$0.isEmpty }) ?? false else {
            return Reply(400, text: "ixid is missing")
        }
        let size = Self.size(
            of: (photo?.width ?? 1024, photo?.height ?? 1024), query)
        let image = JPEGImage(width: size.width, height: size.height, color: photo?.color)
        let lastModified = "Sat, 07 Nov 2026 09:00:00 GMT"
        let reply = Reply(
            200,
            headers: [
                ("Content-Type", "image/jpeg"), ("Server", "imgix"),
                ("Last-Modified", lastModified),
                ("Cache-Control", "public, max-age=31536000"), ("Accept-Ranges", "bytes"),
                ("Access-Control-Allow-Origin", "*"), ("Date", now.http), ("Age", "1234"),
                ("X-Cache", "HIT, HIT"), ("Vary", "Accept, User-Agent"),
            ],
            body: image.file)
        let isSame = request["If-Range"].map { $0 == lastModified } ?? true
        return isSame ? Self.part(of: reply, request["Range"]) : reply
    }

    /// Returns the requested range, from a byte to the end.
    private static func part(of reply: Reply, _ range: String?) -> Reply {
        guard let range, range.hasPrefix("bytes="), range.hasSuffix("-"),
            let start = Int(range.dropFirst(6).dropLast())
        else { return reply }
        let total = reply.body.count
        guard start < total else { return Reply(416, text: "") }
        var part = reply
        part.status = 206
        part.set("Content-Range", "bytes \(start)-\(total - 1)/\(total)")
        part.body = Array(reply.body[start...])
        return part
    }

    /// Returns the size that results from `w`, `h`, `fit` and `dpr`.
    private static func size(
        of original: (width: Int, height: Int), _ query: FormFields
    ) -> (width: Int, height: Int) {
        let scale = min(max(Int(query["dpr"] ?? "") ?? 1, 1), 5)
        let width = Int(query["w"] ?? "").map { $0 * scale }
        let height = Int(query["h"] ?? "").map { $0 * scale }
        if query["fit"] == "crop", let width, let height { return (width, height) }
        let factors = [
            width.map { Double($0) / Double(original.width) },
            height.map { Double($0) / Double(original.height) },
        ].compactMap(\.self)
        guard var factor = factors.min() else { return original }
        if query["fit"] == "max" { factor = min(factor, 1) }
        return (
            Int((Double(original.width) * factor).rounded()),
            Int((Double(original.height) * factor).rounded())
        )
    }

    /// Returns the reply of the other hosts. A test checks that they received no request.
    func otherReply(_ request: RecordedRequest) -> Reply {
        guard request.host == .storage else { return Reply(200, json: [:]) }
        return Reply(
            200, headers: [("Content-Type", "image/jpeg"), ("Server", "AmazonS3")],
            body: JPEGImage(width: 400, height: 300, color: nil).file)
    }
}
