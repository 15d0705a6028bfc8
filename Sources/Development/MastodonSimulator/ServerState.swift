internal import Glibc
package import ServiceSimulator

/// All that a server knows.
package struct ServerState: SimulatedState {
    struct Application {
        let secret: String
        let redirectURIs: [String]
        let scopes: [String]
        /// The user who logged in last.
        var lastUser = ""
    }

    let name: String
    let software: Software
    var origin = ""
    var mediaOrigin = ""
    var settings = Settings()
    var people: [String: SimulatedPerson] = [:]
    /// The newest first.
    var statuses: [SimulatedStatus] = []
    var applications: [String: Application] = [:]
    var registrations = 0
    package var tokens = TokenStore()
    package var faults = FaultPlan()
    var secondsAhead = 0
    /// How many requests of the window each token has used.
    var used: [String: Int] = [:]
    private var window = 0
    private var postponed: [(username: String, status: SimulatedStatus.ID)] = []
    private var random: SplitMix
    private var lastID = 117_020_570_194_921_638
    private var lastLike = 40

    var now: Moment { Moment(time(nil)) + secondsAhead }

    init(_ name: String, _ software: Software, statusCount: Int, seed: UInt64) {
        self.name = name
        self.software = software
        random = SplitMix(seed: seed)
        settings.tokenLifetimeSeconds = software.tokenLifetimeSeconds
        settings.reusesTokens = software.reusesTokens
        for username in ["lin", "zoe"] {
            people[username] = SimulatedPerson(
                id: nextID(), username: username,
                displayName: username == "zoe" ? "Zoë :camera: <b>" : "Lin Wén 文")
        }
        for count in 0..<statusCount {
            let status = makeStatus(count, of: statusCount)
            statuses.insert(status, at: 0)
        }
    }

    /// Ids are larger than what a number of JavaScript holds.
    mutating func nextID() -> String {
        lastID += Int.random(in: 1...9_999_999, using: &random)
        return "\(lastID)"
    }

    /// A status with so many pictures, of now.
    mutating func makeStatus(pictures: Int) -> SimulatedStatus {
        let nouns = ["dog", "lighthouse", "mountain", "river", "bicycle", "forest"]
        let noun = nouns[Int.random(in: 0..<nouns.count, using: &random)]
        let colors = ["#d9c0c0", "#40260c", "#26590c", "#c0d9f3"]
        let attachments = (0..<pictures).map { number in
            var attachment = SimulatedStatus.Attachment(id: nextID())
            attachment.description = number == 2 ? nil : "a \(noun) <\(number + 1)>"
            attachment.blurHash = number == 2 ? nil : attachment.blurHash
            attachment.color = colors[Int.random(in: 0..<colors.count, using: &random)]
            return attachment
        }
        return SimulatedStatus(
            id: nextID(), author: Bool.random(using: &random) ? "lin" : "zoe", created: now,
            content:
                "<p>A \(noun) &amp; more</p><p><a href=\"https://example.org/a/long/way\"><span class=\"invisible\">https://</span><span class=\"ellipsis\">example.org/a</span><span class=\"invisible\">/long/way</span></a></p>",
            attachments: attachments, otherLikes: Int.random(in: 0...90, using: &random))
    }

    /// A status of a time between that of two others.
    mutating func makeLateStatus(below index: Int) -> SimulatedStatus {
        let status = makeStatus(pictures: 1)
        let numbers = statuses[index - 1...index].compactMap { Int($0.id) }
        guard numbers.count == 2 else { return status }
        let id = numbers[1] + (numbers[0] - numbers[1]) / 2
        return SimulatedStatus(
            id: "\(id)", author: status.author, created: status.created, content: status.content,
            attachments: status.attachments, otherLikes: status.otherLikes)
    }

    /// One of those that were there at first: some without a picture, with several, with a warning, boosts.
    private mutating func makeStatus(_ count: Int, of all: Int) -> SimulatedStatus {
        var status = makeStatus(pictures: count % 5 == 0 ? 3 : 1)
        status.created = now + (count - all) * 600
        switch count % 16 {
        case 3, 4: status.attachments = []
        case 6: status.attachments[0].kind = "video"
        case 7: status.isSensitive = true
        case 8: status.attachments[0].kind = "unknown"
        case 9: status.warning = "spiders"
        case 11 where count > 16:
            // One of those that are older: its pictures show where they are passed on.
            status = SimulatedStatus(
                id: status.id, author: "zoe", created: status.created, content: "",
                attachments: [], boosts: statuses[9].id)
        case 13: status.filterAction = "hide"
        case 14: status.attachments[0].hasMeta = false
        default: break
        }
        return status
    }

    func status(_ id: SimulatedStatus.ID) -> SimulatedStatus? { statuses.first { $0.id == id } }

    /// What a client is to show, by the words of the statuses.
    func photos(showingSensitive: Bool) -> [String] {
        var shown: [String] = []
        for wrapper in statuses where software != .pixelfed || wrapper.boosts == nil {
            let status = wrapper.boosts.flatMap { self.status($0) } ?? wrapper
            let isHidden = [wrapper, status].contains { $0.filterAction == "hide" }
            let isSensitive = [wrapper, status].contains {
                $0.isSensitive || !$0.warning.isEmpty || $0.filterAction == "warn"
            }
            guard !isHidden, showingSensitive || !isSensitive else { continue }
            shown += status.photos.filter { !shown.contains($0) }
        }
        return shown
    }

    // MARK: Likes

    mutating func setLike(_ id: SimulatedStatus.ID, of username: String, _ isLiked: Bool) {
        let hasLike = people[username]?.likes.contains { $0.status == id } ?? false
        guard isLiked != hasLike else { return }
        if isLiked {
            lastLike += 3
            people[username]?.likes.insert((id, lastLike), at: 0)
        } else {
            people[username]?.likes.removeAll { $0.status == id }
        }
    }

    mutating func postpone(_ id: SimulatedStatus.ID, of username: String) {
        postponed.append((username, id))
    }

    mutating func catchUp() {
        for (username, id) in postponed { setLike(id, of: username, false) }
        postponed = []
    }

    func likes(of status: SimulatedStatus) -> Int {
        status.otherLikes + people.values.count { $0.likes.contains { $0.status == status.id } }
    }

    // MARK: Answering

    package func username(_ request: RecordedRequest) -> String? { grant(request)?.username }

    func grant(_ request: RecordedRequest) -> TokenStore.Grant? {
        token(request).flatMap { tokens.grant($0, now: now) }
    }

    func token(_ request: RecordedRequest) -> String? {
        let parts = (request["Authorization"] ?? "").split(separator: " ").map(String.init)
        return parts.count == 2 && parts[0] == "Bearer" ? parts[1] : nil
    }

    package mutating func answer(_ request: RecordedRequest, _ fault: Fault?) -> Reply {
        var reply: Reply
        if let other = fault?.insteadOfAnswer {
            reply = other
        } else {
            switch request.host {
            case .server where request.path.hasPrefix("/oauth/"): reply = answerOAuth(request)
            case .server: reply = answerCounted(request)
            case .media: reply = answerMedia(request)
            case .handles: reply = answerHandles(request)
            default: reply = Reply(200, json: [:])
            }
        }
        if request.host == .server { reply.headers.append(("Date", now.http)) }
        fault?.change(&reply)
        return reply
    }

    /// Counts the requests of a token, and reports how many are left, if the software does.
    private mutating func answerCounted(_ request: RecordedRequest) -> Reply {
        guard software.countsRequests, let token = token(request) else {
            return answerAPI(request)
        }
        // Windows begin at multiples of their length.
        let current = now.secondsSince1970 / 300
        if current != window {
            window = current
            used = [:]
        }
        let limit = settings.requestsPerWindow
        let isOver = used[token, default: 0] >= limit
        if !isOver { used[token, default: 0] += 1 }
        var reply = isOver ? error(429, "Too many requests", "リクエストが多すぎます") : answerAPI(request)
        reply.headers += [
            ("X-RateLimit-Limit", "\(limit)"),
            ("X-RateLimit-Remaining", "\(limit - used[token, default: 0])"),
            (
                "X-RateLimit-Reset",
                Moment((current + 1) * 300).utc.replacing("Z", with: ".336319Z")
            ),
        ]
        return reply
    }

    func error(_ status: Int, _ text: String, _ japanese: String) -> Reply {
        Reply(status, json: ["error": .string(settings.isJapanese ? japanese : text)])
    }

    private func answerMedia(_ request: RecordedRequest) -> Reply {
        let parts = request.path.split(separator: "/").map(String.init)
        if parts.first == "avatars" {
            return jpeg(JPEGImage(width: 400, height: 400, color: nil))
        }
        guard parts.count == 3, parts[0] == "media" else { return Reply(404, html: "<p>No.</p>") }
        let id = parts[2].prefix { $0 != "." }
        let attachment = statuses.lazy.flatMap(\.attachments).first { $0.id == id }
        guard let attachment else { return Reply(404, html: "<p>Not found</p>") }
        let scale = parts[1] == "small" ? 2 : 1
        return jpeg(
            JPEGImage(
                width: attachment.width / scale, height: attachment.height / scale,
                color: attachment.color))
    }

    private func jpeg(_ image: JPEGImage) -> Reply {
        Reply(200, headers: [("Content-Type", "image/jpeg")], body: image.file)
    }
}
