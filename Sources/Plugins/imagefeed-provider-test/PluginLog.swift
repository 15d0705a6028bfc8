internal import JSONFormat
internal import PluginHosting
internal import PluginProtocol
internal import ProviderKit

/// The events of a plugin that the checks use.
final class PluginLog {
    /// True if the messages and the lines of standard error are printed.
    private let isVerbose: Bool
    private(set) var failures: [PluginFailure] = []
    /// The first failure while no call was in progress, which no call reports.
    private(set) var lateFailure: PluginFailure?
    private(set) var errorLines: [String] = []
    /// The requests that the daemon refused, and the calls of unknown methods, each once.
    private(set) var refusals: [String] = []
    private(set) var unknownNotifications: Set<String> = []
    private(set) var requestCount = 0
    private(set) var messageCount = 0
    private(set) var longestMessage = 0
    /// The last results of the methods, as the plugin sent them.
    private(set) var results: [PluginMethod: JSON] = [:]

    // The events since the last call of ``beginCall()``.
    /// The reason why a request got no usable response; nil if none failed.
    private(set) var serviceProblem: String?
    /// The problem of a result; nil if the results are valid.
    private(set) var invalidResult: String?
    /// The kind of the last error of the plugin; nil if there was none, or if it has no kind.
    private(set) var refusal: PluginRefusal.Kind?
    /// The addresses of the requests.
    private(set) var urls: [String] = []

    /// The number of processes that have not ended. A killed process may still exist when the next one starts.
    private var processCount = 0
    private var calls: [JSON: PluginMethod] = [:]
    private var requests: [JSON: String] = [:]
    private var endWaiter: CheckedContinuation<Void, Never>?

    init(isVerbose: Bool) { self.isVerbose = isVerbose }

    /// Resets the events of the call before.
    func beginCall() { (serviceProblem, invalidResult, refusal, urls) = (nil, nil, nil, []) }

    /// Waits for the end of all processes.
    func waitForEnd() async {
        guard processCount > 0 else { return }
        await withCheckedContinuation { endWaiter = $0 }
    }

    func record(_ event: PluginEvent) {
        switch event {
        case .started:
            processCount += 1
            (calls, requests) = ([:], [:])
        case .received(let line):
            show("received", line)
            messageCount += 1
            longestMessage = max(longestMessage, line.count)
            if let message = try? PluginMessage(parsing: line) { recordReceived(message) }
        case .sent(let line):
            show("sent", line.dropLast())
            if let message = try? PluginMessage(parsing: line.dropLast()) { recordSent(message) }
        case .errorLine(let text):
            show("error", text.utf8)
            errorLines.append(text)
            // The first and the last lines are kept.
            if errorLines.count > 100 { errorLines.remove(at: 50) }
        case .invalidResult(let reason): invalidResult = reason
        case .failed(let failure):
            failures.append(failure)
            if calls.isEmpty { lateFailure = lateFailure ?? failure }
        case .ended:
            processCount -= 1
            guard processCount == 0 else { return }
            endWaiter?.resume()
            endWaiter = nil
        }
    }

    private func show(_ kind: String, _ text: some Collection<UInt8>) {
        if isVerbose { Report.write([kind: .string(String(decoding: text, as: UTF8.self))]) }
    }

    private func recordReceived(_ message: PluginMessage) {
        switch message {
        case .call(let id, let method, let parameters):
            guard method == DaemonMethod.http.rawValue else { return }
            requestCount += 1
            guard let url = parameters["url"]?.string else { return }
            requests[id] = String(url.withoutUserInformation.prefix { $0 != "?" && $0 != "#" })
            urls.append(url)
        case .notification(let method, _):
            if DaemonMethod(rawValue: method) == nil, unknownNotifications.count < 20 {
                unknownNotifications.insert(method)
            }
        case .answer(let id, let result):
            if let method = calls.removeValue(forKey: id) { results[method] = result }
        case .refusal(let id, let error):
            calls[id] = nil
            refusal = error.code == PluginRefusal.methodNotFound ? .notSupported : error.kind
        }
    }

    private func recordSent(_ message: PluginMessage) {
        switch message {
        case .call(let id, let method, _): calls[id] = PluginMethod(rawValue: method)
        case .answer(let id, let result):
            if requests.removeValue(forKey: id) != nil,
                let status = result["status"]?.integer,
                500..<600 ~= status
            {
                serviceProblem = "it sent status \(status)"
            }
        case .refusal(let id, let refusal):
            let url = requests.removeValue(forKey: id)
            switch refusal.kind {
            case .forbiddenAddress, .invalidAddress, .denied, .tooLarge, nil:
                add(refusal, url)
            case .unreachable, .invalidResponse:
                if url != nil { serviceProblem = refusal.message }
            case .failed where url != nil: add(refusal, url)
            default: break
            }
        case .notification: break
        }
    }

    private func add(_ refusal: PluginRefusal, _ url: String?) {
        let text = (url.map { "\($0): " } ?? "") + refusal.message
        if refusals.count < 20, !refusals.contains(text) { refusals.append(text) }
    }
}

extension PluginFailure {
    /// The section that describes the rule.
    var section: Section {
        switch kind {
        case .violation: .protocolRules
        case .limit, .timeout: .limits
        }
    }

    /// The reason as a sentence.
    var sentence: String { "The plugin failed: \(reason)." }
}
