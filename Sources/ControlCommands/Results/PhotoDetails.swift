internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import Translation

/// All known properties of a photo.
struct PhotoDetails: Renderable {
    let photo: PhotoEntry

    var json: JSON { photo.json }

    func text(for target: OutputTarget) -> String {
        let details = photo.values.map { key, value in
            (
                name: target == .pipe ? key : Self.names[key] ?? key,
                value: Cell(text(key, value, target))
            )
        }
        return DetailList(details: details.filter { !$0.value.text.isEmpty }).text(for: target)
    }

    private func text(_ key: String, _ value: Variant, _ target: OutputTarget) -> String {
        switch (key, value) {
        case ("account", .objectPath(let path)): path.lastElement
        case ("created", .int64(let seconds)), ("updated", .int64(let seconds)):
            Timestamp(secondsSince1970: seconds).minute(for: target)
        case (_, .string(let text)): text
        case (_, .bool(let flag)): target.word(flag ? "yes" : "no")
        case (_, .double): target.number(JSON(value).text)
        default: JSON(value).text
        }
    }

    /// The names of the properties on a terminal.
    static let names = [
        // Translators: a property of a photo, as are the following texts.
        "id": tr("id"),
        "account": tr("account"),
        // Translators: the time at which the photo was taken or published.
        "created": tr("created"),
        "updated": tr("updated"),
        "width": tr("width"),
        "height": tr("height"),
        // Translators: the mean colour of a photo.
        "color": tr("color"),
        // Translators: a blurred preview of a photo in a few characters.
        "blur_hash": tr("blur_hash"),
        // Translators: the point of a photo that stays when the photo is cropped.
        "focus": tr("focus"),
        "title": tr("title"),
        "description": tr("description"),
        "author": tr("author"),
        // Translators: the user name of the author of a photo.
        "author_username": tr("author_username"),
        // Translators: the address of the page of the author of a photo.
        "author_url": tr("author_url"),
        // Translators: the address of the page of a photo.
        "url": tr("url"),
        "likes": tr("likes"),
        // Translators: yes if the user likes the photo.
        "liked": tr("liked"),
        // Translators: yes if a like has not been sent yet.
        "pending": tr("pending"),
        // Translators: yes if a photo is sensitive, such as violence.
        "sensitive": tr("sensitive"),
        // Translators: the type of the file, such as image/jpeg.
        "media_type": tr("media_type"),
        "camera": tr("camera"),
        "album": tr("album"),
        "latitude": tr("latitude"),
        "longitude": tr("longitude"),
        // Translators: the text of the post of a photo.
        "text": tr("text"),
        "lens": tr("lens"),
        "exposure_time": tr("exposure_time"),
        "aperture": tr("aperture"),
        "iso": tr("iso"),
        "license": tr("license"),
        "license_url": tr("license_url"),
        // Translators: yes if a photo moves.
        "animated": tr("animated"),
    ]
}

extension PhotoEntry {
    /// The photo as an object.
    var json: JSON { .object(values.map { JSON.Member($0.key, JSON($0.value)) }) }

    /// The title; without a title, the description.
    var caption: String { photo.title ?? photo.description ?? "" }
}
