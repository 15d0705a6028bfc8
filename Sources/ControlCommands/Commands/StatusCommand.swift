internal import ArgumentParser
internal import Contract
internal import DBus
internal import Glibc
internal import JSONFormat
internal import ProviderKit
internal import Translation

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: tr("Show the states of the daemon, the accounts and the providers."))

    @OptionGroup var output: OutputOptions

    @MainActor func run() async throws {
        let service = try ServiceClient()
        let snapshot = try await service.snapshot()
        var proxy: String?
        if snapshot.accounts.contains(where: { $0.state == .offline }) {
            proxy = await service.unusedProxy()
        }
        let screen = StatusScreen(snapshot: snapshot, unusedProxy: proxy)
        try output.show(screen)
        guard snapshot.accounts.isEmpty else { return }
        Console.printMessage(screen.loginAdvice)
        if !snapshot.accountFileNotices.isEmpty { throw CommandFailure(.failed) }
    }
}

extension ServiceClient {
    /// Returns the proxy in the settings of GNOME or KDE if the environment has none; nil otherwise, and without a portal.
    ///
    /// Source: XDG Desktop Portal, `org.freedesktop.portal.ProxyResolver`.
    fileprivate func unusedProxy() async -> String? {
        let names = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]
        guard names.allSatisfy({ getenv($0) == nil }) else { return nil }
        let portal = BusProxy(
            connection, "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
        let proxies: [String]? = try? await portal.call(
            "org.freedesktop.portal.ProxyResolver", "Lookup", "https://example.org/",
            timeout: .seconds(2))
        // The address may contain a password.
        return proxies?.first { $0 != "direct://" }?.split(separator: "@").last.map(String.init)
    }
}

/// The status of the daemon, its accounts and its providers on one screen.
struct StatusScreen: Renderable {
    let snapshot: DaemonMirror
    /// The proxy of the desktop that the daemon does not use.
    var unusedProxy: String?
    var now = Timestamp.now
    /// The version of the installed daemon, which is the version of this program.
    var installedVersion = buildVersion

    var json: JSON {
        .object(
            JSON.members(snapshot.manager, order: InterfaceName.manager.properties) + [
                .init("accounts", AccountList(snapshot: snapshot).json),
                .init("providers", ProviderList(providers: snapshot.providers).json),
            ])
    }

    func text(for target: OutputTarget) -> String {
        guard case .terminal(let columns, _) = target else { return pipeText }
        let isOnline = snapshot.isOnline
        let state = target.word(isOnline ? "online" : "offline")
        let head =
            target.styled(TerminalText.line("Image Feed \(snapshot.version)"), .heading) + ", "
            + target.styled(state, isOnline ? .good : .warning) + "\n"
            + serviceMessages.map { paragraph($0, columns) }.joined()
        let table = snapshot.accounts.isEmpty ? nil : accounts(target, columns)
        let advice = ProviderList(providers: snapshot.providers).advice
        // The details of an account may have the same reason.
        let unnamed = snapshot.providers.filter { provider in
            !snapshot.accounts.contains { $0.stateReason.contains(provider.stateReason) }
        }
        let problems = ([advice] + unnamed.map(\.problem)).compactMap(\.self)
        return ([head, table].compactMap(\.self) + problems.map { paragraph($0, columns) })
            .joined(separator: "\n")
    }

    /// The messages about the daemon, other than those about accounts and providers.
    private var serviceMessages: [String] {
        var messages: [String] = []
        if !snapshot.isOnline {
            messages.append(
                tr(
                    "The network is not available. Cached photos are shown, and likes are queued and sent later."
                )
            )
        }
        // Both are installed together.
        if snapshot.version != installedVersion {
            messages.append(
                tr(
                    """
                    Version {version} is installed, but the running daemon has another version. \
                    Restart it with “systemctl --user restart imagefeedd”; no data is lost.
                    """, ["version": installedVersion])
            )
        }
        return messages + notices
    }

    private var notices: [String] {
        guard let unusedProxy else { return snapshot.notices }
        return snapshot.notices + [
            tr(
                "The desktop has the proxy {proxy}, which the daemon does not use; set https_proxy in its environment, see imagefeedd(1).",
                ["proxy": unusedProxy])
        ]
    }

    /// The status as tab-separated fields: one object per line, with its kind in the first field.
    private var pipeText: String {
        let daemon = ["daemon", snapshot.version, snapshot.isOnline ? "online" : "offline"]
        let accounts = snapshot.accounts.map { account in
            [
                "account", account.id, account.label, account.providerID, account.stateText,
                account.path == snapshot.defaultAccount ? "default" : "", details(account, .pipe),
                account.name,
            ]
        }
        let providers = snapshot.providers.map { provider in
            ["provider", provider.id, provider.shownState]
                + (provider.stateReason.isEmpty ? [] : [provider.stateReason])
        }
        let notices = notices.map { ["notice", $0] }
        return ([daemon] + notices + accounts + providers).map(TerminalText.fields).joined()
    }

    /// Returns the table of the accounts, with the details of each account below its row.
    private func accounts(_ target: OutputTarget, _ columns: Int) -> String {
        // The details contain the number of pending likes.
        let lines = AccountList(snapshot: snapshot, showsPendingLikes: false).text(for: target)
            .split(separator: "\n", omittingEmptySubsequences: false)
        var text = lines[0] + "\n"
        for (account, line) in zip(snapshot.accounts, lines.dropFirst()) {
            text += line + "\n"
            let details = TerminalText.line(details(account, target))
            for line in details.wrapped(to: max(10, columns - 5)) {
                text += "     " + target.styled(line, .faint) + "\n"
            }
        }
        return String(text)
    }

    /// Returns the reason of an account's state, the time of the next retry, the rate limit, the number of pending likes
    /// and the notices.
    ///
    /// The text is part of the output to a pipe, so its wording in English must not change.
    private func details(_ account: AccountProperties, _ target: OutputTarget) -> String {
        let hasHint = account.remedy == .login && account.state != .loggedOut
        var sentences = [hasHint ? account.reason : account.stateReason]
        if let moment = account.retryAt {
            sentences.append(
                target.tr("Next try {time}.", ["time": moment.clock(now: now, for: target)]))
        }
        if let limit = account.rateLimit {
            let time = Timestamp(secondsSince1970: limit.reset).clock(now: now, for: target)
            let values: KeyValuePairs = [
                "remaining": String(limit.remaining), "limit": String(limit.limit), "time": time,
            ]
            sentences.append(
                limit.reset > 0
                    ? target.tr("{remaining} of {limit} requests left until {time}.", values)
                    : target.tr("{remaining} of {limit} requests left.", values))
        }
        let count = account.pendingLikes.count
        if count > 0 {
            sentences.append(
                target.trn(
                    "A like is not sent yet.", "{count} likes are not sent yet.", count,
                    ["count": String(count)]))
        }
        if hasHint {
            sentences.append(target.text(account.loginHint))
        }
        sentences += account.notices
        return sentences.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The command after which there is an account.
    var loginAdvice: String {
        let providers = snapshot.providers.filter { $0.shownState == "ready" }.map(\.id)
        return providers.contains("local")
            ? tr(
                """
                There are no accounts. Show the photos on this computer with “imagefeedctl login local”; \
                “imagefeedctl providers” lists the other providers.
                """)
            : tr("There are no accounts. Log in with “imagefeedctl login PROVIDER”.")
    }

    private func paragraph(_ text: String, _ columns: Int) -> String {
        TerminalText.line(text).wrapped(to: columns).map { $0 + "\n" }.joined()
    }
}
