internal import Contract
internal import DBus
internal import JSONFormat
internal import ProviderKit
internal import Translation

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

    static var daemonGone: MonitorEvent {
        MonitorEvent(
            name: "daemon-gone",
            summary: OutputTarget.standardOutput.tr("the daemon is not running"))
    }
    static var daemonBack: MonitorEvent {
        MonitorEvent(
            name: "daemon-back", summary: OutputTarget.standardOutput.tr("the daemon is running"))
    }

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
            return [time.second, name, subject, summary].map(TerminalText.line)
                .joined(separator: "\t") + "\n"
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
