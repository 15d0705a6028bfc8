package import JSONFormat
package import ProviderKit
internal import Translation

// The coding of photos, pages, sources and profiles. The names are those of the D-Bus interfaces.

extension RemotePhoto {
    package var json: JSON {
        let addresses = images.map { JSON.Member($0.key.rawValue, .string($0.value)) }
        let fields = PhotoField.described.compactMap { field in
            field.json(of: photo).map { JSON.Member(field.key, $0) }
        }
        let others: JSON = [
            "id": .string(photo.id.text), "images": .object(addresses),
            "liked": hasLikeState ? .bool(photo.isLiked) : .null,
            "note": note.isEmpty ? .null : .string(note), "entry": JSON(entry),
        ]
        return .object(others.members + fields)
    }

    /// The keys of a photo: those of the photo fields, and those without a ``PhotoField``.
    package static let keys = Set(PhotoField.described.map(\.key))
        .union(["id", "liked", "images", "note", "entry"])

    /// Decodes a photo. Texts are cleaned. Invalid addresses and addresses of hosts that are not allowed are omitted.
    package init(_ reader: PluginReader, _ hosts: AllowedHosts?) throws(PluginFault) {
        try reader.expectObject()
        var photo = Photo(id: PhotoID(try reader.name("id")))
        for field in PhotoField.described { try reader.read(field, &photo, hosts) }
        if photo.latitude == nil || photo.longitude == nil {
            (photo.latitude, photo.longitude) = (nil, nil)
        }
        let isLiked = try reader.flag("liked")
        photo.isLiked = isLiked ?? false
        var images: [ImageSize: String] = [:]
        if reader.value["images"] != nil {
            let addresses = try reader.object("images")
            for size in ImageSize.allCases {
                guard let text = try addresses.text(size.rawValue), let address = WebAddress(text),
                    hosts?.permits(address) ?? true
                else { continue }
                images[size] = address.text
            }
        }
        self.init(photo, images: images, note: try reader.bounded("note") ?? "")
        hasLikeState = isLiked != nil
        entry = try reader.entryKey("entry")
    }
}

extension PhotoField {
    /// Returns the property of a photo in messages of plugins; nil if it is unknown.
    package func json(of photo: Photo) -> JSON? {
        switch value {
        case .time(let get, _): get(photo).map { .integer($0.secondsSince1970) }
        case .count(let get, _): get(photo).map { .integer(Int64($0)) }
        case .number(_, let get, _): get(photo).map { .number($0) }
        case .flag(let get, _): get(photo).map { .bool($0) }
        case .text(_, let get, _): get(photo).map { .string($0) }
        case .point(let get, _): get(photo).map { .array([.number($0.x), .number($0.y)]) }
        }
    }
}

extension RemotePage {
    package var json: JSON {
        [
            "photos": .array(photos.map(\.json)), "next": JSON(next),
            "total": JSON(total), "end": JSON(end),
        ]
    }

    package init(_ reader: PluginReader, _ hosts: AllowedHosts?) throws(PluginFault) {
        try reader.expectObject()
        guard reader.value["photos"] != nil else { throw reader.missing("photos") }
        var photos: [RemotePhoto] = []
        // A photo may have several entries. Of entries with the same key or without one, only the first is used.
        var seen: Set<[String?]> = []
        for element in try reader.elements("photos", atMost: Self.maximumCount) {
            let photo = try RemotePhoto(element, hosts)
            if seen.insert([photo.photo.id.text, photo.entry]).inserted { photos.append(photo) }
        }
        self.init(
            photos, next: try reader.bounded("next"), total: try reader.count("total"),
            end: try reader.entryKey("end"))
    }
}

extension Source {
    /// The maximum number of sources of an account.
    package static let maximumNumber = 1000

    package var json: JSON {
        [
            "id": .string(id.text), "title": .string(title.english), "kind": .string(kind.rawValue),
            "count": JSON(count), "cover": JSON(cover?.text),
        ]
    }

    package init(_ reader: PluginReader) throws(PluginFault) {
        try reader.expectObject()
        let id = try reader.name("id")
        let kind = try reader.requiredText("kind")
        guard let kind = Kind(rawValue: kind) else {
            throw PluginFault("\(reader.path).kind is not a kind of source")
        }
        self.init(
            id: SourceID(id), title: try reader.line("title") ?? id, kind: kind,
            count: try reader.count("count"),
            cover: reader.value["cover"] == nil ? nil : PhotoID(try reader.name("cover")))
    }
}

extension Profile {
    package var json: JSON {
        [
            "username": .string(username), "name": .string(name), "bio": .string(bio),
            "location": .string(location), "url": .string(url), "avatar_url": .string(avatarURL),
            "likes": JSON(likes), "user_id": JSON(userID),
        ]
    }

    package init(_ reader: PluginReader, _ hosts: AllowedHosts?) throws(PluginFault) {
        try reader.expectObject()
        let username = try reader.name("username")
        self.init(username: username, name: try reader.line("name") ?? username)
        bio = try reader.paragraphs("bio") ?? ""
        location = try reader.line("location") ?? ""
        url = try reader.link("url", hosts) ?? ""
        let avatar = try reader.text("avatar_url").flatMap { WebAddress($0) }
        avatarURL = avatar.flatMap { hosts?.permits($0) == false ? nil : $0.text } ?? ""
        likes = try reader.count("likes")
        userID = try reader.bounded("user_id")
    }
}

extension AccountIdentity {
    package var json: JSON {
        [
            "username": .string(username), "server": server.isEmpty ? .null : .string(server),
            "user_id": JSON(userID),
        ]
    }

    package init(_ reader: PluginReader) throws(PluginFault) {
        try reader.expectObject()
        self.init(
            username: try reader.name("username"), server: try reader.bounded("server") ?? "",
            userID: try reader.bounded("user_id"))
    }
}

extension JSON {
    init(_ time: Timestamp?) { self = time.map { .integer($0.secondsSince1970) } ?? .null }
}

extension PluginReader {
    /// Reads a property of a photo. An invalid value of the right type is omitted.
    fileprivate func read(
        _ field: PhotoField, _ photo: inout Photo, _ hosts: AllowedHosts?
    ) throws(PluginFault) {
        switch field.value {
        case .time(_, let set): set(&photo, try time(field.key))
        case .count(_, let set): set(&photo, try count(field.key))
        case .number(let range, _, let set):
            set(&photo, try number(field.key).flatMap { range.contains($0) ? $0 : nil })
        case .flag(_, let set): set(&photo, try flag(field.key))
        case .text(let form, _, let set): set(&photo, try text(field.key, form, hosts))
        case .point(_, let set): set(&photo, try focalPoint(field.key))
        }
    }

    /// Returns a text of a form; nil if it is missing or not valid.
    private func text(
        _ key: String, _ form: PhotoField.TextForm, _ hosts: AllowedHosts?
    ) throws(PluginFault) -> String? {
        switch form {
        case .line: try line(key)
        case .paragraphs: try paragraphs(key)
        case .link: try link(key, hosts)
        case .color: try text(key).flatMap { Photo.isColor($0) ? $0 : nil }
        case .blurHash: try text(key).flatMap { Photo.isBlurHash($0) ? $0 : nil }
        case .mediaType: try text(key).flatMap { $0.isMediaType ? $0 : nil }
        }
    }

    /// Returns a focal point; nil for anything except two numbers from -1 to 1.
    private func focalPoint(_ key: String) throws(PluginFault) -> FocalPoint? {
        let found = try elements(key, atMost: .max)
        guard found.count == 2, let x = found[0].value.number, let y = found[1].value.number
        else { return nil }
        return FocalPoint(x: x, y: y)
    }

    /// Returns the key of a list entry, 1 to 512 bytes of ASCII from `!` to `}`; nil if it is missing.
    fileprivate func entryKey(_ key: String) throws(PluginFault) -> String? {
        guard let text = try text(key) else { return nil }
        guard 1...512 ~= text.utf8.count, text.utf8.allSatisfy({ 0x21...0x7d ~= $0 }) else {
            throw PluginFault("\(path).\(key) must have 1 to 512 bytes of ASCII from ! to }")
        }
        return text
    }

    /// Returns an identifier: 1 to 512 bytes on one line.
    func name(_ key: String) throws(PluginFault) -> String {
        let name = try requiredText(key)
        guard 1...512 ~= name.utf8.count, ServiceText.line(name) == name else {
            throw PluginFault("\(path).\(key) must have 1 to 512 bytes on one line")
        }
        return name
    }

    /// Returns a text of the provider of at most 4096 bytes; nil if it is missing or empty.
    func bounded(_ key: String) throws(PluginFault) -> String? {
        guard let text = try text(key), !text.isEmpty else { return nil }
        guard text.utf8.count <= 4096 else {
            throw PluginFault("\(path).\(key) has more than 4096 bytes")
        }
        return text
    }

    /// Returns the address of a web page; nil for an invalid address, and for a loopback address that is not in
    /// `hosts`.
    func link(_ key: String, _ hosts: AllowedHosts?) throws(PluginFault) -> String? {
        guard let address = try text(key).flatMap({ WebAddress($0) }),
            hosts?.permits(address) ?? true || !address.isLoopback
        else { return nil }
        return address.text
    }
}

extension String {
    fileprivate var isMediaType: Bool {
        utf8.count <= 127 && hasPrefix("image/")
            && utf8.allSatisfy { 0x21...0x7e ~= $0 && $0 != UInt8(ascii: ";") }
    }
}
