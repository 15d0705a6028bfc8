package import DBus
internal import Engine
internal import Glibc
internal import System

/// The user's browser: through the desktop portal, or with `xdg-open` where there is none.
///
/// What we start ourselves has our limits. Under systemd they are such that no browser would run, so it is systemd that
/// starts one, or nobody.
package final class DesktopBrowser {
    /// How long xdg-open may take until it counts as having shown something: some wait for the browser.
    private static let timeout = Duration.seconds(5)

    private let portal: BusProxy
    private let manager: ServiceManager

    package init(_ connection: BusConnection) {
        manager = ServiceManager(connection)
        portal = BusProxy(
            connection, "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
    }

    /// Shows an address.
    ///
    /// - Parameters:
    ///   - address: What the browser is to open.
    ///   - activationToken: Lets its window come to the front; empty for none.
    /// - Throws: ``EngineError/notSupported(_:)`` when nothing here can show it.
    ///
    /// Source: XDG Desktop Portal, `org.freedesktop.portal.OpenURI`.
    package func open(_ address: String, activationToken: String = "") async throws {
        let options: [String: Variant] =
            activationToken.isEmpty ? [:] : ["activation_token": .string(activationToken)]
        do {
            let _: ObjectPath = try await portal.call(
                "org.freedesktop.portal.OpenURI", "OpenURI", "", address, options)
        } catch {
            // Through env(1), since other threads may be reading our own environment.
            let command =
                (activationToken.isEmpty ? [] : ["env", "XDG_ACTIVATION_TOKEN=\(activationToken)"])
                + ["xdg-open", address]
            if Supervision.isService {
                try await openWithManager(command)
            } else {
                try await openWithProgram(command)
            }
        }
    }

    private func openWithManager(_ command: [String]) async throws {
        do {
            let isDone = try await manager.run(
                command[0], Array(command.dropFirst()), timeout: Self.timeout)
            guard isDone else { throw Self.noBrowser }
        } catch is BusError {
            throw Self.noBrowser
        }
    }

    private func openWithProgram(_ command: [String]) async throws {
        let nothing = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        let process: SpawnedProcess
        do {
            process = try SpawnedProcess(
                command[0], Array(command.dropFirst()),
                descriptors: [STDIN_FILENO: nothing, STDOUT_FILENO: nothing])
        } catch {
            throw Self.noBrowser
        }
        let isShown = OneShotResult<Bool, Never>()
        process.onExit { isShown.complete(.success($0 == .code(0))) }
        let timer = MainLoopTimer(after: Self.timeout) { isShown.complete(.success(true)) }
        defer { timer.cancel() }
        guard await isShown.value() else { throw Self.noBrowser }
    }

    private static let noBrowser = EngineError.notSupported(
        "No browser could be started; open the address of the login yourself.")
}
