internal import ServiceSimulator

/// The originals and thumbnails.
///
/// Source: mediawiki.org, "Common thumbnail sizes".
extension CommonsState {
    private static let widths = [20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840]

    func original(_ picture: SimulatedPicture) -> String {
        "\(imageOrigin)/original/\(picture.page)"
    }

    /// Returns the address of a thumbnail: of the next larger standard width, or of the original if it is not wider.
    func thumbnail(_ picture: SimulatedPicture, _ width: Int) -> String {
        let rounded = Self.widths.first { $0 >= width } ?? width
        let isVector = picture.mediaType == "image/svg+xml"
        guard rounded < picture.width || isVector else { return original(picture) }
        return "\(imageOrigin)/thumb/\(picture.page)/\(rounded)px-picture.jpg"
    }

    func imageReply(_ request: RecordedRequest) -> Reply {
        let path = request.segments
        if path == ["logo.jpg"] { return image(64, 64) }
        guard path.count >= 2, let page = Int(path[1]),
            let picture = pictures.first(where: { $0.page == page }), !picture.isDeleted
        else { return Reply(404, html: "<p>Not found</p>") }
        switch path[0] {
        case "original":
            return image(min(picture.width, 640), min(picture.height, 480))
        case "thumb":
            guard path.count == 3, let width = Int(path[2].prefix { $0 != "p" }),
                Self.widths.contains(width), !refusedWidths.contains(width)
            else { return Reply(400, text: "Use thumbnail steps listed on https://w.wiki/GHai.") }
            guard width < picture.width || picture.mediaType == "image/svg+xml" else {
                return Reply(400, text: "The requested width is larger than the original.")
            }
            return image(width, max(1, picture.height * width / picture.width))
        default: return Reply(404, html: "<p>Not found</p>")
        }
    }

    private func image(_ width: Int, _ height: Int) -> Reply {
        Reply(
            200, headers: [("Content-Type", "image/jpeg")],
            body: JPEGImage(width: width, height: height, color: "#406080").file)
    }
}
