internal import PluginProtocol
internal import ProviderKit

/// A comparison of the photos that a plugin sends with the photos that the daemon decodes.
struct PhotoReview {
    /// The number of photos of each finding, and the ID of the first one.
    private var findings: [String: Finding] = [:]
    private var count = 0
    private var hasForbiddenImage = false

    private struct Finding {
        var count = 0
        let first: String
        /// True if the finding breaks a rule.
        let isFailure: Bool
    }

    /// The keys of texts that are cleaned and never omitted.
    private static let texts = PhotoField.described.filter { field in
        switch field.value {
        case .text(.line, _, _), .text(.paragraphs, _, _): true
        default: false
        }
    }.map(\.key)

    /// The keys of members other than texts that are omitted if their values are not valid.
    private static let numbers = PhotoField.described.filter { field in
        switch field.value {
        case .number, .point: true
        default: false
        }
    }.map(\.key)

    /// Adds a page.
    ///
    /// - Parameters:
    ///   - sent: The page as the plugin sent it.
    ///   - page: The page as the daemon reads it.
    ///   - hosts: The hosts to which requests may go.
    mutating func add(_ sent: JSONValue, _ page: RemotePage, _ hosts: AllowedHosts) {
        guard case .array(let photos)? = sent["photos"] else { return }
        count += photos.count
        if page.photos.count < photos.count {
            add(
                "A photo is on one page several times; the first one counts",
                page.photos.first?.photo.id.text ?? "")
        }
        for photo in photos {
            guard let read = try? RemotePhoto(PluginReader(photo, "photo"), hosts) else { continue }
            compare(photo, read, hosts)
        }
    }

    private mutating func compare(_ sent: JSONValue, _ read: RemotePhoto, _ hosts: AllowedHosts) {
        let id = read.photo.id.text
        let shown = read.json
        guard case .object(let members) = sent else { return }
        for key in members.keys where !RemotePhoto.keys.contains(key) {
            add("“\(key.prefix(60))” is unknown and is ignored", id)
        }
        for key in members.keys where members[key] != .null && key != "images" {
            guard case .string(let text)? = members[key] else {
                if Self.numbers.contains(key), shown[key] == nil {
                    add("“\(key)” is not valid and is omitted", id)
                }
                continue
            }
            guard shown[key] != .string(text) else { continue }
            if text.isEmpty { continue }
            if Self.texts.contains(key) {
                add(Self.change(of: text, key), id)
            } else if shown[key] == nil, RemotePhoto.keys.contains(key) {
                add("“\(key)” is not valid and is omitted", id)
            }
        }
        guard case .object(let images)? = members["images"] else { return }
        for (size, address) in images {
            guard case .string(let text) = address else { continue }
            guard let known = ImageSize(rawValue: size) else {
                add("“images.\(size.prefix(60))” is unknown and is ignored", id, isFailure: true)
                continue
            }
            guard read.images[known] == nil else { continue }
            let host = WebAddress(text)?.origin
            if host != nil { hasForbiddenImage = true }
            add(
                host.map {
                    "“images.\(size)” is at \($0), which is not in Hosts, and is omitted"
                }
                    ?? "“images.\(size)” is not an address and is omitted", id, isFailure: true)
        }
    }

    private static func change(of text: String, _ key: String) -> String {
        text.utf8.count > ServiceText.maximumLength
            ? "“\(key)” has more than \(ServiceText.maximumLength >> 10) KiB and is shortened"
            : "“\(key)” has control characters or extra white space, which are removed"
    }

    private mutating func add(_ text: String, _ id: String, isFailure: Bool = false) {
        var finding = findings[text] ?? Finding(first: id, isFailure: isFailure)
        guard finding.count > 0 || findings.count < 50 else { return }
        finding.count += 1
        findings[text] = finding
    }

    /// The check that shows the findings.
    var check: Check {
        var check = Check("Photos as shown", hasForbiddenImage ? .provider : .photos)
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
