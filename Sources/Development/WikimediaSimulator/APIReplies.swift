internal import ServiceSimulator

/// The API.
///
/// Source: the documentation of the Action API (`query`, `images`, `revisions`, `imageinfo`, `siteinfo`), and of the
/// parameter `maxlag`; Wikimedia's policy for user agents.
extension CommonsState {
    /// The maximum number of titles or page IDs in a request.
    private static let maximumValues = 50

    func apiReply(_ request: RecordedRequest) -> Reply {
        // The policy asks for a way to contact the developers, too. Requests without a name of the program are refused.
        let agent = request["User-Agent"] ?? ""
        guard !agent.isEmpty, !["curl/", "python-requests/"].contains(where: agent.hasPrefix) else {
            return Reply(403, text: "Please set a user-agent and respect our robot policy")
        }
        let fields = request.fields
        guard request.path == "/w/api.php" else { return Reply(404, html: "<p>Not found</p>") }
        guard fields["format"] == "json", fields["formatversion"] == "2" else {
            return Reply(200, html: "<h1>MediaWiki API result</h1>")
        }
        if let limit = fields["maxlag"].flatMap({ Int($0) }), lag > limit {
            return Reply(
                200,
                json: error("maxlag", "Waiting for db2: \(lag) seconds lagged."),
                headers: [("Retry-After", "5"), ("X-Database-Lag", "\(lag)")])
        }
        guard fields["action"] == "query" else {
            return Reply(200, json: error("badvalue", "Unrecognized value for parameter action."))
        }
        if fields["meta"] == "siteinfo" {
            return Reply(
                200,
                json: [
                    "batchcomplete": true,
                    "query": [
                        "general": [
                            "mainpage": "Main Page", "base": "\(origin)/wiki/Main_Page",
                            "sitename": "Wikimedia Commons",
                            "logo": "\(imageOrigin)/logo.jpg",
                        ]
                    ],
                ])
        }
        let titles = values("titles", fields)
        let ids = values("pageids", fields)
        guard titles.count + ids.count <= Self.maximumValues else {
            return Reply(200, json: error("toomanyvalues", "Too many values supplied."))
        }
        if !ids.isEmpty { return Reply(200, json: document(ids.map { file($0, fields) })) }
        return fields["generator"] == "images"
            ? generatedFiles(titles, fields) : templates(titles, fields)
    }

    private func values(_ name: String, _ fields: FormFields) -> [String] {
        (fields[name] ?? "").split(separator: "|").map(String.init)
    }

    private func error(_ code: String, _ info: String) -> JSON {
        ["error": ["code": .string(code), "info": .string(info)], "servedby": "mw-api"]
    }

    private func document(_ pages: [JSON], _ rest: [(name: String, value: JSON)] = []) -> JSON {
        .object([("batchcomplete", true), ("query", .object([("pages", .array(pages))] + rest))])
    }

    // MARK: Templates

    /// Returns the picture of the day of a template.
    private func picture(_ title: String) -> SimulatedPicture? {
        pictures.last { "Template:Potd/\($0.day)" == title }
    }

    /// Returns the titles of the files that a template shows.
    private func files(_ picture: SimulatedPicture) -> [String] {
        let name = picture.formerName ?? picture.name
        return (showsIcons ? ["File:Crystal & Clear icon of a long name.svg"] : []) + [
            "File:\(name)"
        ]
    }

    private func templates(_ titles: [String], _ fields: FormFields) -> Reply {
        let start = fields["imcontinue"].flatMap { Int($0) } ?? 0
        let properties = values("prop", fields)
        var number = 0
        let pages = titles.map { title -> JSON in
            guard let picture = picture(title) else {
                return ["ns": 10, "title": .string(title), "missing": true]
            }
            var page: [(name: String, value: JSON)] = [
                ("pageid", .integer(picture.page + 1)), ("ns", 10), ("title", .string(title)),
            ]
            let shown = files(picture).filter { _ in
                number += 1
                return start..<start + imagesPerResponse ~= number - 1
            }
            if properties.contains("images"), !shown.isEmpty {
                page.append(
                    ("images", .array(shown.map { ["ns": 6, "title": .string($0)] })))
            }
            if properties.contains("revisions"), start == 0 {
                let name = (picture.formerName ?? picture.name).replacing(" ", with: "_")
                let icon =
                    showsIcons ? "[[File:Crystal &amp; Clear icon of a long name.svg|20px]]" : ""
                // Editors write character references, which the API returns unchanged.
                let text =
                    "{{Potd filename|1= \(name.replacing("&", with: "&amp;"))\n<!-- do not edit -->|2=2026|3=08|4=31}}\(icon)"
                page.append(
                    (
                        "revisions",
                        [["slots": ["main": ["content": .string(text)]]]]
                    ))
            }
            return .object(page)
        }
        guard number > start + imagesPerResponse else { return Reply(200, json: document(pages)) }
        return Reply(
            200,
            json: [
                "continue": [
                    "imcontinue": "\(start + imagesPerResponse)", "continue": "||revisions",
                ], "query": ["pages": .array(pages)],
            ])
    }

    // MARK: Files

    private func generatedFiles(_ titles: [String], _ fields: FormFields) -> Reply {
        let shown = titles.compactMap(picture)
        let icon: [JSON] =
            showsIcons
            ? [["ns": 6, "title": "File:Crystal & Clear icon of a long name.svg", "missing": true]]
            : []
        let moved = shown.compactMap { picture -> JSON? in
            guard let former = picture.formerName else { return nil }
            return ["from": .string("File:\(former)"), "to": .string("File:\(picture.name)")]
        }
        guard !shown.isEmpty else { return Reply(200, json: ["batchcomplete": true]) }
        return Reply(
            200,
            json: document(
                icon + shown.map { file($0, fields) },
                fields["redirects"] == nil ? [] : [("redirects", .array(moved))]))
    }

    private func file(_ id: String, _ fields: FormFields) -> JSON {
        guard let picture = pictures.first(where: { "\($0.page)" == id }), !picture.isDeleted else {
            return ["pageid": .integer(Int(id) ?? 0), "missing": true]
        }
        return file(picture, fields)
    }

    private func file(_ picture: SimulatedPicture, _ fields: FormFields) -> JSON {
        let title = JSON.string("File:\(picture.name)")
        guard !picture.isDeleted else { return ["ns": 6, "title": title, "missing": true] }
        return [
            "pageid": .integer(picture.page), "ns": 6, "title": title,
            "imagerepository": "local", "imageinfo": [imageInformation(picture, fields)],
        ]
    }

    private func imageInformation(_ picture: SimulatedPicture, _ fields: FormFields) -> JSON {
        let properties = values("iiprop", fields)
        var info: [(name: String, value: JSON)] = []
        if properties.contains("size") {
            info += [
                ("size", .integer(picture.bytes)), ("width", .integer(picture.width)),
                ("height", .integer(picture.height)),
            ]
        }
        if properties.contains("url") {
            if let width = fields["iiurlwidth"].flatMap({ Int($0) }) {
                info += [
                    ("thumburl", .string(thumbnail(picture, width))),
                    ("thumbwidth", .integer(width)),
                    ("responsiveUrls", ["2": .string(thumbnail(picture, 2 * width))]),
                ]
            }
            info += [
                ("url", .string(original(picture))),
                ("descriptionurl", .string("\(origin)/wiki/File:\(picture.page)")),
            ]
        }
        if properties.contains("mime") { info.append(("mime", .string(picture.mediaType))) }
        if properties.contains("thumbmime") { info.append(("thumbmime", "image/jpeg")) }
        if properties.contains("extmetadata") {
            let names = values("iiextmetadatafilter", fields)
            info.append(
                (
                    "extmetadata",
                    .object(
                        names.compactMap { name in
                            picture.texts[name].map { text in
                                (name, ["value": .string(text), "source": "commons-desc-page"])
                            }
                        })
                ))
        }
        return .object(info)
    }
}
