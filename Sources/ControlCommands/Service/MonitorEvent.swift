internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit

/// One event, which `monitor` prints as one line.
struct MonitorEvent: Renderable {
    /// The name of the event, such as `photos-updated`.
    let name: String
    /// The object that the event concerns; nil for the daemon.
    var object: ObjectPath?
    /// The other data of the event, with the names of the D-Bus interface.
    var members: [JSON.Member] = []
    /// The description of the event. It is part of the output to a pipe, so its wording in English must not change.
    let summary: String
    var time = Timestamp.now

    var json: JSON {
        var all: [JSON.Member] = [
            .init("event", .string(name)), .init("time", .integer(time.secondsSince1970)),
        ]
        if let object, let kind { all.append(.init(kind, .string(object.text))) }
        // A property must not replace the keys above.
        all += members.filter { member in !all.contains { $0.name == member.name } }
        return .object(all)
    }

    func text(for target: OutputTarget) -> String {
        let subject = object.map(\.lastElement) ?? "daemon"
        guard target != .pipe else {
            return TerminalText.fields([time.second(), name, subject, summary])
        }
        return target.styled(time.second(for: target), .faint) + "  "
            + target.styled(TerminalText.line(subject), .heading) + "  "
            + TerminalText.line(summary)
            + "\n"
    }

    /// The kind of the object: `account` for an object below `accounts`.
    private var kind: String? {
        let folder = object?.elements(below: ServiceName.root)?.first
        return folder.map { String($0.hasSuffix("s") ? $0.dropLast() : $0) }
    }
}

extension MonitorEvent {
    private static var output: OutputTarget { .standardOutput }

    static var daemonGone: MonitorEvent {
        MonitorEvent(name: "daemon-gone", summary: output.tr("the daemon is not running"))
    }
    static var daemonBack: MonitorEvent {
        MonitorEvent(name: "daemon-back", summary: output.tr("the daemon is running"))
    }

    /// Returns the events of a signal; empty for unknown signals.
    static func events(in signal: BusMessage) -> [MonitorEvent] {
        guard let path = signal.path, let interface = signal.interface, let member = signal.member
        else { return [] }
        // The feed and the likes of the combined account repeat those of the accounts.
        guard path != ServiceName.combined || ![.feed, .like].contains(interface) else {
            return []
        }
        if let event = ServiceEvent(signal) { return events(event, path, signal) }
        switch (interface.text, member.text) {
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"):
            return (try? signal.read()).map(added) ?? []
        case ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"):
            return (try? signal.read()).map(removed) ?? []
        case ("org.freedesktop.DBus.Properties", "PropertiesChanged"):
            return (try? signal.read()).map { changed(path, $0) } ?? []
        case let (name, member) where name.hasPrefix("\(ServiceName.bus)."):
            // A newer version added the signal to the interfaces.
            let event = "\(name.dropFirst("\(ServiceName.bus).".count))-\(member)"
            let arguments = JSON.array((signal.values ?? []).map(JSON.init))
            return [
                MonitorEvent(
                    name: event.lowercased(), object: path,
                    members: [.init("arguments", arguments)],
                    summary: output.tr(
                        "signal {name}: {arguments}",
                        ["name": event, "arguments": arguments.text]))
            ]
        default: return []
        }
    }

    /// Returns the events for an added object: an account, a login, a provider, a transfer, the combined account or the slideshow.
    ///
    /// Interfaces that are added to a known object are not events.
    private static func added(
        _ added: (ObjectPath, [String: [String: Variant]])
    ) -> [MonitorEvent] {
        objectKinds.compactMap { kind in
            guard let properties = added.1[kind.text] else { return nil }
            let state = properties["State"]?.string
            let name = name(of: kind)
            return MonitorEvent(
                name: "\(name)-added", object: added.0,
                members: JSON.members(properties, order: kind.properties),
                // Translators: {object} is an English word: account, login, provider or slideshow.
                summary: state.map {
                    output.tr(
                        "{object} added: {state}", ["object": name, "state": output.word($0)])
                } ?? output.tr("{object} added", ["object": name]))
        }
    }

    private static func removed(_ removed: (ObjectPath, [String])) -> [MonitorEvent] {
        objectKinds.filter { removed.1.contains($0.text) }.map { kind in
            let name = name(of: kind)
            return MonitorEvent(
                name: "\(name)-removed", object: removed.0,
                summary: output.tr("{object} removed", ["object": name]))
        }
    }

    private static func changed(
        _ path: ObjectPath, _ change: (String, [String: Variant], [String])
    ) -> [MonitorEvent] {
        let interface = InterfaceName(unchecked: change.0)
        guard change.0.hasPrefix("\(ServiceName.bus)."), !change.1.isEmpty,
            path != ServiceName.combined || interface == .combined
        else { return [] }
        let members = JSON.members(change.1, order: interface.properties)
        let descriptions = members.compactMap { member in
            change.1[member.name].flatMap(word).map { "\(member.name) \($0)" }
        }
        let summaries = descriptions.isEmpty ? members.map(\.name) : descriptions
        let name = name(of: interface)
        return [
            MonitorEvent(
                name: "\(name)-changed", object: path == ServiceName.root ? nil : path,
                members: members,
                // Translators: {values} are names and values of properties, such as “Paused yes”.
                summary: output.tr(
                    "{object} changed: {values}",
                    ["object": name, "values": summaries.joined(separator: ", ")]))
        ]
    }

    /// Returns a value as text for the summary; nil for an empty string.
    private static func word(_ value: Variant) -> String? {
        switch value {
        case .string(""): nil
        case .string(let text): text.contains(" ") ? "“\(text)”" : text
        case .objectPath(.root): output.word("none")
        case .objectPath(let path): path.lastElement
        case .array([], _): output.word("none")
        case .array(let elements, String.signature), .array(let elements, ObjectPath.signature):
            elements.compactMap(word).joined(separator: " ")
        // The current photo of the slideshow.
        case .dictionary([], _, _): output.word("none")
        case .dictionary: value.members?["id"]?.string ?? JSON(value).text
        default: output.text("", value)
        }
    }

    private static func events(
        _ event: ServiceEvent, _ path: ObjectPath, _ signal: BusMessage
    ) -> [MonitorEvent] {
        /// Returns an event whose members are the arguments of the signal.
        func one(_ name: String, _ arguments: [String], _ summary: String) -> [MonitorEvent] {
            let members = zip(arguments, signal.values ?? []).map { JSON.Member($0, JSON($1)) }
            return [MonitorEvent(name: name, object: path, members: members, summary: summary)]
        }
        return switch event {
        case .updated(let source, let new):
            one(
                "photos-updated", ["source", "new"],
                output.trn(
                    "{count} new photo in {source}", "{count} new photos in {source}", Int(new),
                    ["count": String(new), "source": source]))
        case .photosChanged(let photos): photos.map { changed(path, $0.id, $0.changes) }
        case .photosRemoved(let photos):
            one(
                "photos-removed", ["photos"],
                output.trn(
                    "{count} photo removed: {photos}", "{count} photos removed: {photos}",
                    photos.count,
                    [
                        "count": String(photos.count),
                        "photos": photos.prefix(5).joined(separator: " ")
                            + (photos.count > 5 ? " …" : ""),
                    ]))
        case .likeChanged(let photo, let isLiked, _):
            one(
                "like-confirmed", ["photo", "liked", "likes"],
                isLiked
                    ? output.tr("photo {photo} is liked", ["photo": photo])
                    : output.tr("photo {photo} is not liked any more", ["photo": photo]))
        case .likeFailed(let photo, let isWanted, _, let message):
            one(
                "like-failed", ["photo", "wanted", "error", "message"],
                isWanted
                    ? output.tr(
                        "photo {photo} could not be liked: {reason}",
                        ["photo": photo, "reason": message])
                    : output.tr(
                        "photo {photo} could not be unliked: {reason}",
                        ["photo": photo, "reason": message]))
        case .tokenRemains(let message): one("token-remains", ["message"], message)
        }
    }

    private static func changed(
        _ path: ObjectPath, _ photo: String, _ changes: [String: Variant]
    ) -> MonitorEvent {
        MonitorEvent(
            name: "photo-changed", object: path,
            members: [
                .init("photo", .string(photo)),
                .init("changes", .object(JSON.members(changes, order: PhotoEntry.keys))),
            ],
            summary: output.tr(
                "photo {photo} changed: {values}",
                ["photo": photo, "values": changes.keys.sorted().joined(separator: ", ")]))
    }

    /// Returns the name of an interface in events: its last part in lower case.
    private static func name(of interface: InterfaceName) -> String {
        interface.text.split(separator: ".").last?.lowercased() ?? ""
    }

    /// The interfaces that define the kind of an object.
    private static let objectKinds: [InterfaceName] = [
        .account, .login, .provider, .transfer, .combined, .slideshow,
    ]
}
