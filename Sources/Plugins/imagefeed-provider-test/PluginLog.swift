internal import PluginProtocol
internal import Plugins
internal import ProviderKit

/// The events of a plugin that the checks use.
final class PluginLog {
    /// A failure that ended the plugin.
    struct Failure {
        let kind: PluginFailure
        let reason: String
    }

    private(set) var failures: [Failure] = []
    private(set) var errorLines: [String] = []
    private(set) var deniedCalls: [String] = []
    /// The requests that the daemon refused, and the calls of unknown methods, each once.
    private(set) var refusals: [String] = []
    private(set) var unknownNotifications: Set<String> = []
    /// The reason why the last request that failed got no usable response; nil if none failed.
    private(set) var serviceProblem: String?
    private(set) var requestCount = 0
    private(set) var messageCount = 0
    private(set) var longestMessage = 0
    /// The number of processes that have not ended. A killed process may still exist when the next one starts.
    private var processCount = 0
    private var requests: [JSONValue: String] = [:]
    private var endWaiter: CheckedContinuation<Void, Never>?

    func record(_ event: PluginEvent) {
        switch event {
        case .started:
            processCount += 1
            requests = [:]
        case .received(let line): recordReceived(line)
        case .sent(let line): recordSent(line)
        case .errorLine(let text):
            errorLines.append(text)
            // The first and the last lines are kept.
            if errorLines.count > 100 { errorLines.remove(at: 50) }
        case .deniedSystemCall(let name):
            if !deniedCalls.contains(name) { deniedCalls.append(name) }
        // The failure of the call is reported separately.
        case .invalidResult: break
        case .failed(let kind, _, let reason): failures.append(Failure(kind: kind, reason: reason))
        case .ended:
            processCount -= 1
            guard processCount == 0 else { return }
            endWaiter?.resume()
            endWaiter = nil
        }
    }

    private func recordReceived(_ line: [UInt8]) {
        messageCount += 1
        longestMessage = max(longestMessage, line.count)
        guard let message = try? PluginMessage(parsing: line) else { return }
        switch message {
        case .call(let id, let method, let parameters):
            guard method == DaemonMethod.http.rawValue else { return }
            requestCount += 1
            guard case .string(let url)? = parameters["url"] else { return }
            requests[id] = String(url.withoutUserInformation.prefix { $0 != "?" && $0 != "#" })
        case .notification(let method, _):
            if DaemonMethod(rawValue: method) == nil, unknownNotifications.count < 20 {
                unknownNotifications.insert(method)
            }
        case .answer, .refusal: break
        }
    }

    private func recordSent(_ line: [UInt8]) {
        guard let message = try? PluginMessage(parsing: line.dropLast()) else { return }
        switch message {
        case .answer(let id, let result):
            if requests.removeValue(forKey: id) != nil,
                case .integer(let status)? = result["status"],
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
        case .call, .notification: break
        }
    }

    private func add(_ refusal: PluginRefusal, _ url: String?) {
        let text = (url.map { "\($0): " } ?? "") + refusal.message
        if refusals.count < 20, !refusals.contains(text) { refusals.append(text) }
    }

    /// Resets ``serviceProblem`` before another call.
    func forgetServiceProblem() { serviceProblem = nil }

    /// Waits for the end of all processes.
    func waitForEnd() async {
        guard processCount > 0 else { return }
        await withCheckedContinuation { endWaiter = $0 }
    }
}

extension PluginLog.Failure {
    /// The section that describes the rule.
    var section: Section {
        switch kind {
        case .message, .exit: .protocolRules
        case .limit, .timeout: .limits
        }
    }

    /// The reason as a sentence.
    var sentence: String { "The plugin failed: \(reason)." }
}
