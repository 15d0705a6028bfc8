internal import Contract
internal import JSONFormat
internal import ProviderKit

/// The status of the daemon, its accounts and its providers on one screen.
struct StatusScreen: Renderable {
    let snapshot: DaemonMirror
    var now = Timestamp.now
    /// The version of the installed daemon, which is the version of this program.
    var installedVersion = programVersion

    var json: JSON {
        guard case .object(let manager) = JSON(snapshot.manager, order: PropertyOrder.manager)
        else { return .null }
        return .object(
            manager + [
                .init("accounts", AccountList(snapshot: snapshot).json),
                .init("providers", ProviderList(providers: snapshot.providers).json),
            ])
    }

    func text(for target: OutputTarget) -> String {
        guard case .terminal(let columns, _) = target else { return pipeText }
        let online = snapshot.isOnline ? ("online", TextStyle.good) : ("offline", TextStyle.warning)
        let head =
            target.styled(TerminalText.line("Image Feed \(snapshot.version)"), .heading) + ", "
            + target.styled(online.0, online.1) + "\n"
            + paragraph(serviceMessages.joined(separator: " "), columns) + "\n"
        guard !snapshot.accounts.isEmpty else {
            return head
                + paragraph(
                    "There are no accounts. Log in with “imagefeedctl login PROVIDER”; \(providerChoice).",
                    columns
                )
        }
        return head + accounts(target, columns) + unconfigured(columns) + unusable(columns)
    }

    /// The messages about the daemon, other than those about accounts and providers.
    private var serviceMessages: [String] {
        var messages: [String] = []
        if !snapshot.isOnline {
            messages.append(
                "The network is not available. Cached photos are shown, and likes are queued and sent later."
            )
        }
        if isOutdated {
            messages.append(
                "Version \(installedVersion) is installed, but the running daemon has another version. "
                    + "Restart it with “systemctl --user restart imagefeedd”; no data is lost."
            )
        }
        if !snapshot.missingLimits.isEmpty {
            messages.append(
                "Limits of the daemon's systemd unit are not in force: "
                    + "\(snapshot.missingLimits.joined(separator: ", ")). imagefeedd(1) explains why."
            )
        }
        return messages
    }

    /// True if the versions of the daemon and of this program differ. Both are installed together.
    private var isOutdated: Bool { snapshot.version != installedVersion }

    /// The status as tab-separated fields: one object per line, with its kind in the first field.
    private var pipeText: String {
        let daemon = ["daemon", snapshot.version, snapshot.isOnline ? "online" : "offline"]
        let limits =
            snapshot.missingLimits.isEmpty
            ? [] : [["missing-limits", snapshot.missingLimits.joined(separator: " ")]]
        let accounts = snapshot.accounts.map { account in
            [
                "account", account.id, account.label, account.providerID, account.stateText,
                account.path == snapshot.defaultAccount ? "default" : "", details(account),
                account.name,
            ]
        }
        let providers = snapshot.providers.map { provider in
            ["provider", provider.id, provider.shownState]
                + (provider.stateReason.isEmpty ? [] : [provider.stateReason])
        }
        return ([daemon] + limits + accounts + providers).map { fields in
            fields.map(TerminalText.line).joined(separator: "\t") + "\n"
        }.joined()
    }

    /// Returns the table of the accounts, with the details of each account below its row.
    private func accounts(_ target: OutputTarget, _ columns: Int) -> String {
        // The details contain the number of pending likes.
        let lines = AccountList(snapshot: snapshot, showsPendingLikes: false).text(for: target)
            .split(separator: "\n", omittingEmptySubsequences: false)
        var text = lines[0] + "\n"
        for (account, line) in zip(snapshot.accounts, lines.dropFirst()) {
            text += line + "\n"
            let details = TerminalText.line(details(account))
            for line in details.wrapped(to: max(10, columns - 5)) {
                text += "     " + target.styled(line, .faint) + "\n"
            }
        }
        return String(text)
    }

    /// Returns the reason of an account's state, the time of the next retry, the rate limit, the number of pending likes
    /// and the notices.
    ///
    /// The text is part of the output to a pipe, so its wording must not change.
    private func details(_ account: AccountProperties) -> String {
        var sentences = [account.stateReason]
        if let moment = account.retryAt { sentences.append("Next try \(moment.clock(now: now)).") }
        if let limit = account.rateLimit {
            let until =
                limit.reset > 0
                ? " until \(Timestamp(secondsSince1970: limit.reset).clock(now: now))" : ""
            sentences.append("\(limit.remaining) of \(limit.limit) requests left\(until).")
        }
        switch account.pendingLikes.count {
        case 0: break
        case 1: sentences.append("A like is not sent yet.")
        case let count: sentences.append("\(count) likes are not sent yet.")
        }
        if account.remedy == .login, account.state != .loggedOut {
            sentences.append(account.loginAdvice)
        }
        sentences += account.notices
        return sentences.filter { !$0.isEmpty }.joined(separator: " ")
    }

    private var providerChoice: String {
        let providers = snapshot.providers.filter { $0.shownState == "ready" }.map(\.id)
        return providers.isEmpty
            ? "no provider is configured yet"
            : "available providers: \(providers.joined(separator: ", "))"
    }

    private func unconfigured(_ columns: Int) -> String {
        let advice = ProviderList(providers: snapshot.providers).advice
        return advice.map { "\n" + paragraph($0, columns) } ?? ""
    }

    /// Returns the providers that cannot be used, with the reasons.
    private func unusable(_ columns: Int) -> String {
        snapshot.providers.compactMap(\.problem).map { "\n" + paragraph($0, columns) }.joined()
    }

    private func paragraph(_ text: String, _ columns: Int) -> String {
        TerminalText.line(text).wrapped(to: columns).map { $0 + "\n" }.joined()
    }
}
