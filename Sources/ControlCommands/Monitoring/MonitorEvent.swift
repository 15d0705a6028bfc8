internal import BusAPI
internal import DBus

/// Something that happened, as `monitor` prints it: one line.
struct MonitorEvent: Renderable {
    /// What happened, for programs: `photos-updated`.
    let name: String
    /// What it happened to; nil for the daemon as a whole.
    var object: ObjectPath?
    /// What else there is to know, as the bus names it.
    var members: [JSON.Member] = []
    /// What happened, for people.
    let sentence: String
    var time = Timestamp.now

    static var daemonGone: MonitorEvent {
        MonitorEvent(name: "daemon-gone", sentence: "the daemon is not running")
    }
    static var daemonBack: MonitorEvent {
        MonitorEvent(name: "daemon-back", sentence: "the daemon is running")
    }

    var json: JSON {
        var all: [JSON.Member] = [
            .init("event", .string(name)), .init("time", .integer(time.seconds)),
        ]
        if let object, let kind { all.append(.init(kind, .string(object.text))) }
        // A property must not hide what says which event this is.
        all += members.filter { member in !all.contains { $0.name == member.name } }
        return .object(all)
    }

    func text(for medium: OutputTarget) -> String {
        let subject = object.map(AccountRecord.id) ?? "daemon"
        guard medium != .pipe else {
            return [time.second, name, subject, sentence].map(TerminalText.line)
                .joined(separator: "\t") + "\n"
        }
        return medium.inked(time.second, .faint) + "  "
            + medium.inked(TerminalText.line(subject), .heading) + "  "
            + TerminalText.line(sentence)
            + "\n"
    }

    /// What the object is: `account` for one below `accounts`.
    private var kind: String? {
        let folder = object?.elements(below: ServiceName.root)?.first
        return folder.map { String($0.hasSuffix("s") ? $0.dropLast() : $0) }
    }
}
