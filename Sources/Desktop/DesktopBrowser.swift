package import DBus
internal import EngineCore
internal import EngineModel
internal import Glibc
internal import System
internal import Translation

/// The user's browser, opened through the desktop portal, or with `xdg-open` if there is no portal.
///
/// Child processes inherit the resource limits and the sandbox of the daemon. Under systemd, no browser can run with
/// them, so the service manager starts it.
package final class DesktopBrowser {
    /// The time after which xdg-open counts as successful. Some versions wait for the browser.
    private static let timeout = Duration.seconds(5)

    private let portal: BusProxy
    private let manager: ServiceManager

    package init(_ connection: BusConnection) {
        manager = ServiceManager(connection)
        portal = BusProxy(
            connection, "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
    }

    /// Opens an address.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - activationToken: The token that permits the window to take the focus; empty for none.
    /// - Throws: ``EngineError/notSupported(_:)`` if no browser can be started.
    ///
    /// Source: XDG Desktop Portal, `org.freedesktop.portal.OpenURI`.
    package func open(_ address: String, activationToken: String) async throws {
        let options: [String: Variant] =
            activationToken.isEmpty ? [:] : ["activation_token": .string(activationToken)]
        do {
            let _: ObjectPath = try await portal.call(
                "org.freedesktop.portal.OpenURI", "OpenURI", "", address, options)
        } catch {
            // env(1) sets the variable, because other threads may read the environment of this process.
            let command =
                (activationToken.isEmpty ? [] : ["env", "XDG_ACTIVATION_TOKEN=\(activationToken)"])
                + ["xdg-open", address]
            let isOpen =
                ServiceManager.startedThisProcess
                ? (try? await manager.run(command, timeout: Self.timeout)) == true
                : await Self.run(command)
            guard isOpen else {
                throw EngineError.notSupported(
                    Message("No browser could be started; open the address of the login yourself."))
            }
        }
    }

    /// Runs a program as a child process.
    ///
    /// - Returns: True if it succeeded.
    private static func run(_ command: [String]) async -> Bool {
        let nothing = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        guard
            let process = try? SpawnedProcess(
                command[0], Array(command.dropFirst()),
                descriptors: [STDIN_FILENO: nothing, STDOUT_FILENO: nothing])
        else { return false }
        let isShown = OneShotResult<Bool, Never>()
        process.onExit { isShown.complete(.success($0 == .code(0))) }
        let timer = MainLoopTimer(after: timeout) { isShown.complete(.success(true)) }
        defer { timer.cancel() }
        return await isShown.value()
    }
}
