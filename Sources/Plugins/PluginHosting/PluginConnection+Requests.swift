internal import JSONFormat
internal import Logging
internal import PluginProtocol
internal import ProviderKit

/// The calls and notifications that a plugin sends.
extension PluginConnection {
    func handleCall(_ id: JSON, _ method: String, _ parameters: PluginReader) throws(PluginFault) {
        guard DaemonMethod(rawValue: method) == .http else {
            return refuse(id, .unknownMethod(method))
        }
        guard let account = callingAccount(try parameters.requiredText("account")) else {
            log(.warning, "an HTTP request was refused: its account is in no running call")
            return refuse(id, PluginRefusal(.denied, "No call for this account is running."))
        }
        let request: HTTPRequest
        do {
            request = try account.confine(
                HTTPRequest(parameters), timeLimit: timeLeft(for: account))
        } catch let fault as PluginFault {
            throw fault
        } catch {
            log(.warning, "an HTTP request was refused: \(error)")
            return refuse(id, PluginRefusal(error))
        }
        perform(id, bytes: request.body.count) { [self] in
            do {
                let response = try await account.ports.http.send(request)
                logger.debug(
                    "A request of a plugin was answered",
                    metadata: [
                        "method": "\(request.method.rawValue)", "status": "\(response.status)",
                        "host": "\(WebAddress(request.url)?.host ?? "")",
                        "sent": "\(request.body.count)", "received": "\(response.body.count)",
                    ])
                return response
            } catch HTTPError.forbiddenAddress(let reason) {
                log(.warning, "an HTTP request was refused: \(reason)")
                throw HTTPError.forbiddenAddress(reason)
            }
        }
    }

    /// Returns the account of a waiting call; nil if no call concerns the account.
    private func callingAccount(_ id: String) -> PluginAccount? {
        calls.values.lazy.compactMap(\.account).first { $0.id == id }
    }

    /// Returns the time limit of an HTTP request for an account, which leaves the plugin time to answer the call.
    private func timeLeft(for account: PluginAccount) -> Duration {
        let reserve = Duration.seconds(1)
        let ends = calls.values.lazy.filter { $0.account === account }.map(\.end)
        guard let end = ends.min() else { return reserve }
        return max(reserve, end - reserve - SuspendingClock.now)
    }

    func handleNotification(_ method: String, _ parameters: PluginReader) throws(PluginFault) {
        switch DaemonMethod(rawValue: method) {
        case .log:
            let level = try parameters.text("level").flatMap(Logger.Level.init(rawValue:))
            log(level ?? .info, try parameters.requiredText("message"))
        case .status:
            let id = try parameters.requiredText("account")
            notify(.status(try SessionStatus(parameters)), .status, about: id)
        case .rateLimit:
            let id = try parameters.requiredText("account")
            notify(.rateLimit(try RateLimit(parameters)), .rateLimit, about: id)
        // A notification of a later version of the protocol.
        case .http, nil: break
        }
    }
}
