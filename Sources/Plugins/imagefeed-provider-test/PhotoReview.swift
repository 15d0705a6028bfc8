internal import JSONFormat
internal import PluginProtocol
internal import ProviderKit

/// A comparison of the photos that a plugin sends with the photos that the daemon decodes.
struct PhotoReview {
    /// The number of photos of each finding, the ID of the first one, and true if the finding breaks a rule.
    private var findings: [String: (count: Int, first: String, isFailure: Bool)] = [:]
    private var count = 0

    /// Adds a page.
    ///
    /// - Parameters:
    ///   - sent: The photos as the plugin sent them.
    ///   - read: The photos as the daemon decodes them.
    ///   - source: The source of the page.
    mutating func add(_ sent: [JSON], _ read: [RemotePhoto], _ source: SourceID) {
        count += sent.count
        if read.count < sent.count {
            add(
                "A photo is on one page several times; the first one counts",
                read.first?.photo.id.text ?? "")
        }
        let byKey = Dictionary(
            read.map { ([$0.photo.id.text, $0.entry], $0.images) }, uniquingKeysWith: { $1 })
        for photo in sent {
            // Without hosts, so that only the images differ from those of the daemon.
            guard let shown = try? RemotePhoto(PluginReader(photo, "photo"), nil) else { continue }
            let id = shown.photo.id.text
            compare(photo, shown.json, id)
            compare(images: photo["images"], byKey[[id, shown.entry]] ?? [:], id)
            if source.text == "likes", photo["liked"] == false {
                add("“liked” is false in the source “likes”", id, isFailure: true)
            }
        }
    }

    private mutating func compare(_ sent: JSON, _ shown: JSON, _ id: String) {
        for member in sent.members where member.value != .null && member.name != "images" {
            let (key, value) = (member.name, member.value)
            guard let field = PhotoField.described.first(where: { $0.key == key }) else {
                if !RemotePhoto.keys.contains(key) {
                    add("“\(key.prefix(60))” is unknown and is ignored", id)
                }
                continue
            }
            switch (field.value, value) {
            case (.text(.line, _, _), .string(let text)),
                (.text(.paragraphs, _, _), .string(let text)):
                // A long title becomes the text, too.
                if shown[key] != value, !text.isEmpty,
                    key != "title" || ServiceText.line(text) != text
                {
                    let limit =
                        text.utf8.count > ServiceText.maximumLength
                        ? "\(ServiceText.maximumLength >> 10) KiB"
                        : key == "text" && text.count > Photo.maximumTextLength
                            ? "\(Photo.maximumTextLength) characters" : nil
                    add(
                        limit.map { "“\(key)” has more than \($0) and is shortened" }
                            ?? "“\(key)” has control characters or extra white space, which are removed",
                        id)
                }
                // A tag loses its “<”, a character reference its “;”.
                let markup = { (text: String) in text.utf8.count(where: "<;".utf8.contains) }
                if markup(HTMLText.plain(text)) < markup(text) {
                    add("“\(key)” contains HTML, which is shown as it is", id)
                }
            case (_, .string("")): break
            default:
                if shown[key] == nil { add("“\(key)” is not valid and is omitted", id) }
            }
        }
    }

    private mutating func compare(images sent: JSON?, _ read: [ImageSize: String], _ id: String) {
        for image in sent?.members ?? [] {
            let size = image.name
            guard let text = image.value.string else { continue }
            guard let known = ImageSize(rawValue: size) else {
                add("“images.\(size.prefix(60))” is unknown and is ignored", id, isFailure: true)
                continue
            }
            guard read[known] == nil else { continue }
            let origin = WebAddress(text)?.origin
            add(
                origin.map { "“images.\(size)” is at \($0), which is not in Hosts, and is omitted" }
                    ?? "“images.\(size)” is not an address and is omitted", id, isFailure: true)
        }
    }

    private mutating func add(_ text: String, _ id: String, isFailure: Bool = false) {
        var finding = findings[text] ?? (0, id, isFailure)
        guard finding.count > 0 || findings.count < 50 else { return }
        finding.count += 1
        findings[text] = finding
    }

    /// The check that shows the findings.
    var check: Check {
        var check = Check("Photos as shown", .photos)
        check.note = count.counted("photo")
        if count == 0 { check.skip("There is no photo.") }
        for (finding, photos) in findings.sorted(by: { $0.key < $1.key }) {
            let text =
                "\(finding): \(photos.count) of \(count), such as “\(photos.first.prefix(60))”."
            if photos.isFailure { check.fail(text) } else { check.warn(text) }
        }
        return check
    }
}
