internal import BusAPI

/// The daemon, its accounts and its providers on one screen.
struct StatusScreen: Renderable {
    let snapshot: ServiceSnapshot
    var now = Timestamp.now
    /// Of the daemon that comes with this program.
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

    func text(for medium: OutputTarget) -> String {
        guard case .terminal(let columns, _) = medium else { return fields }
        let online = snapshot.isOnline ? ("online", TextStyle.good) : ("offline", TextStyle.warning)
        let head =
            medium.inked(TerminalText.line("Image Feed \(snapshot.version)"), .heading) + ", "
            + medium.inked(online.0, online.1) + "\n"
            + paragraph(remarks.joined(separator: " "), columns) + "\n"
        guard !snapshot.accounts.isEmpty else {
            return head
                + paragraph(
                    "No account yet. Log in with “imagefeedctl login PROVIDER”: \(choice).", columns
                )
        }
        return head + accounts(medium, columns) + unconfigured(columns) + unusable(columns)
    }

    /// What concerns all accounts.
    private var remarks: [String] {
        var remarks: [String] = []
        if !snapshot.isOnline {
            remarks.append(
                "There is no network. What was seen before is shown, and likes are kept and sent later."
            )
        }
        if isOutdated {
            remarks.append(
                "This program is \(installedVersion): the daemon is still the one from before an upgrade. “systemctl --user restart imagefeedd” starts the new one; nothing is lost."
            )
        }
        if !snapshot.missingLimits.isEmpty {
            remarks.append(
                "Limits of the daemon's systemd unit are not in force: \(snapshot.missingLimits.joined(separator: ", ")). imagefeedd(1) explains why."
            )
        }
        return remarks
    }

    /// Whether the daemon is of another version than this program, which comes with it.
    private var isOutdated: Bool { snapshot.version != installedVersion }

    /// One line a thing, its kind first.
    private var fields: String {
        let daemon = ["daemon", snapshot.version, snapshot.isOnline ? "online" : "offline"]
        let limits =
            snapshot.missingLimits.isEmpty
            ? [] : [["missing-limits", snapshot.missingLimits.joined(separator: " ")]]
        let accounts = snapshot.accounts.map { account in
            [
                "account", account.id, account.label, account.providerID, account.state,
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

    /// The table of the accounts, what is to be said of one below its line.
    private func accounts(_ medium: OutputTarget, _ columns: Int) -> String {
        // The details tell what is unsent.
        let lines = AccountList(snapshot: snapshot, countsUnsent: false).text(for: medium)
            .split(separator: "\n", omittingEmptySubsequences: false)
        var text = lines[0] + "\n"
        for (account, line) in zip(snapshot.accounts, lines.dropFirst()) {
            text += line + "\n"
            let details = TerminalText.line(details(account))
            for line in details.wrapped(to: max(10, columns - 5)) {
                text += "     " + medium.inked(line, .faint) + "\n"
            }
        }
        return String(text)
    }

    /// Why an account is not ready, when it will be, and what its service still allows.
    private func details(_ account: AccountRecord) -> String {
        var sentences = [account.stateReason]
        if let moment = account.retryAt { sentences.append("Next try \(moment.clock(now: now)).") }
        if let limit = account.rateLimit {
            let until =
                limit.reset > 0 ? " until \(Timestamp(limit.reset).clock(now: now))" : ""
            sentences.append("\(limit.remaining) of \(limit.limit) requests left\(until).")
        }
        switch account.pendingLikes?.count ?? 0 {
        case 0: break
        case 1: sentences.append("A like is not sent yet.")
        case let count: sentences.append("\(count) likes are not sent yet.")
        }
        if account.state == "needs-login", !account.stateReason.contains("imagefeedctl ") {
            sentences.append(
                "Log in with “imagefeedctl login \(account.providerID) --account \(account.id)”.")
        }
        return sentences.filter { !$0.isEmpty }.joined(separator: " ")
    }

    private var choice: String {
        let providers = snapshot.providers.filter { $0.shownState == "ready" }.map(\.id)
        return providers.isEmpty ? "none is configured" : providers.joined(separator: ", ")
    }

    private func unconfigured(_ columns: Int) -> String {
        let advice = ProviderList(providers: snapshot.providers).advice
        return advice.map { "\n" + paragraph($0, columns) } ?? ""
    }

    /// The providers that cannot be used, and why.
    private func unusable(_ columns: Int) -> String {
        snapshot.providers.compactMap(\.problem).map { "\n" + paragraph($0, columns) }.joined()
    }

    private func paragraph(_ text: String, _ columns: Int) -> String {
        TerminalText.line(text).wrapped(to: columns).map { $0 + "\n" }.joined()
    }
}
