internal import BusAPI
internal import DBus

extension MonitorEvent {
    /// Returns the events of a signal; empty for unknown signals.
    static func events(in signal: BusMessage) -> [MonitorEvent] {
        guard let path = signal.path, let interface = signal.interface, let member = signal.member
        else { return [] }
        // The feed and the likes of the combined account repeat those of the accounts.
        guard path != ServiceName.combined || ![.feed, .like].contains(interface) else {
            return []
        }
        // A signal with other argument types belongs to another version of the interface; it is ignored.
        do {
            switch (interface.text, member.text) {
            case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
                return added(try signal.read())
            case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
                return removed(try signal.read())
            case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
                return changed(path, try signal.read())
            case (InterfaceName.feed.text, _):
                return try feed(path, member, signal)
            case (InterfaceName.like.text, _):
                return try like(path, member, signal)
            default:
                return []
            }
        } catch {
            return []
        }
    }

    /// Returns the events for an added object: an account, a login, a provider, a transfer, the combined account or the slideshow.
    ///
    /// Interfaces that are added to a known object are not events.
    private static func added(
        _ added: (ObjectPath, [String: [String: Variant]])
    ) -> [MonitorEvent] {
        objectKinds.compactMap { kind in
            guard let properties = added.1[kind.interface] else { return nil }
            let state = properties["State"]?.string.map { ": \($0)" } ?? ""
            return MonitorEvent(
                name: "\(kind.name)-added", object: added.0,
                members: members(properties, kind.order),
                summary: "\(kind.name) added\(state)")
        }
    }

    private static func removed(_ removed: (ObjectPath, [String])) -> [MonitorEvent] {
        objectKinds.filter { removed.1.contains($0.interface) }.map { kind in
            MonitorEvent(
                name: "\(kind.name)-removed", object: removed.0, summary: "\(kind.name) removed")
        }
    }

    private static func changed(
        _ path: ObjectPath, _ change: (String, [String: Variant], [String])
    ) -> [MonitorEvent] {
        let prefix = "\(ServiceName.bus)."
        guard change.0.hasPrefix(prefix), !change.1.isEmpty,
            path != ServiceName.combined || change.0 == InterfaceName.combined.text
        else { return [] }
        let name = change.0.dropFirst(prefix.count).lowercased()
        let order =
            orders[change.0] ?? objectKinds.first { $0.interface == change.0 }?.order
            ?? PropertyOrder.manager
        let members = members(change.1, order)
        let descriptions = members.compactMap { member in
            change.1[member.name].flatMap(word).map { "\(member.name) \($0)" }
        }
        let summaries = descriptions.isEmpty ? members.map(\.name) : descriptions
        return [
            MonitorEvent(
                name: "\(name)-changed", object: path == ServiceName.root ? nil : path,
                members: members,
                summary: "\(name) changed: \(summaries.joined(separator: ", "))")
        ]
    }

    /// Returns a value as text for the summary; nil for an empty string.
    private static func word(_ value: Variant) -> String? {
        switch value {
        case .string(""): nil
        case .string(let text): text.contains(" ") ? "“\(text)”" : text
        case .objectPath(.root): "none"
        case .objectPath(let path): AccountRecord.id(of: path)
        case .bool(let flag): flag ? "yes" : "no"
        case .array([], _): "none"
        case .array(let elements, String.signature), .array(let elements, ObjectPath.signature):
            elements.compactMap(word).joined(separator: " ")
        // The current photo of the slideshow.
        case .dictionary([], _, _): "none"
        case .dictionary: value.members?[photo: .id]?.string ?? JSON(value).text
        default: JSON(value).text
        }
    }

    private static func feed(
        _ path: ObjectPath, _ member: MemberName, _ signal: BusMessage
    ) throws -> [MonitorEvent] {
        switch member {
        case "Updated":
            let (source, new): (String, UInt32) = try signal.read()
            return [
                MonitorEvent(
                    name: "photos-updated", object: path,
                    members: [
                        .init("source", .string(source)), .init("new", .unsigned(UInt64(new))),
                    ],
                    summary: "\(new) new photo\(new == 1 ? "" : "s") in \(source)")
            ]
        case "PhotoChanged":
            let (photo, changes): (String, [String: Variant]) = try signal.read()
            return [changed(path, photo, changes)]
        case "PhotosChanged":
            let photos: [[String: Variant]] = try signal.read()
            return photos.map { photo in
                var changes = photo
                changes[PhotoKey.account.rawValue] = nil
                let id = changes.removeValue(forKey: PhotoKey.id.rawValue)
                return changed(path, id?.string ?? "", changes)
            }
        case "PhotosRemoved":
            let photos: [String] = try signal.read()
            let firstPhotos =
                photos.prefix(5).joined(separator: " ") + (photos.count > 5 ? " …" : "")
            return [
                MonitorEvent(
                    name: "photos-removed", object: path,
                    members: [.init("photos", .array(photos.map { .string($0) }))],
                    summary:
                        "\(photos.count) photo\(photos.count == 1 ? "" : "s") removed: \(firstPhotos)"
                )
            ]
        default: return []
        }
    }

    private static func changed(
        _ path: ObjectPath, _ photo: String, _ changes: [String: Variant]
    ) -> MonitorEvent {
        MonitorEvent(
            name: "photo-changed", object: path,
            members: [
                .init("photo", .string(photo)),
                .init("changes", JSON(changes, order: PropertyOrder.photo)),
            ],
            summary: "photo \(photo) changed: \(changes.keys.sorted().joined(separator: ", "))")
    }

    private static func like(
        _ path: ObjectPath, _ member: MemberName, _ signal: BusMessage
    ) throws -> [MonitorEvent] {
        switch member {
        case "Changed":
            let (photo, liked, likes): (String, Bool, UInt32) = try signal.read()
            return [
                MonitorEvent(
                    name: "like-confirmed", object: path,
                    members: [
                        .init("photo", .string(photo)), .init("liked", .bool(liked)),
                        .init("likes", .unsigned(UInt64(likes))),
                    ],
                    summary: "photo \(photo) is \(liked ? "liked" : "not liked any more")")
            ]
        case "Failed":
            let (photo, wanted, error, message): (String, Bool, String, String) =
                try signal.read()
            return [
                MonitorEvent(
                    name: "like-failed", object: path,
                    members: [
                        .init("photo", .string(photo)), .init("wanted", .bool(wanted)),
                        .init("error", .string(error)), .init("message", .string(message)),
                    ],
                    summary:
                        "photo \(photo) could not be \(wanted ? "liked" : "unliked"): \(message)")
            ]
        default: return []
        }
    }

    private static func members(_ values: [String: Variant], _ order: [String]) -> [JSON.Member] {
        if case .object(let members) = JSON(values, order: order) { members } else { [] }
    }

    /// The interfaces that define the kind of an object.
    private static let objectKinds: [(interface: String, name: String, order: [String])] = [
        (InterfaceName.account.text, "account", PropertyOrder.account),
        (InterfaceName.login.text, "login", PropertyOrder.login),
        (InterfaceName.provider.text, "provider", PropertyOrder.provider),
        (InterfaceName.transfer.text, "transfer", PropertyOrder.transfer),
        (InterfaceName.combined.text, "combined", PropertyOrder.combined),
        (InterfaceName.slideshow.text, "slideshow", PropertyOrder.slideshow),
    ]

    /// The property order of the other interfaces.
    private static let orders = [
        InterfaceName.like.text: PropertyOrder.like,
        InterfaceName.profile.text: PropertyOrder.profile,
    ]
}
