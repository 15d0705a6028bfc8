internal import DBus
internal import Translation

/// The window of Image Feed, a separate program that the bus starts when it is needed.
///
/// Source: Desktop Entry Specification, "D-Bus Activation".
@MainActor
struct ViewerWindow {
    private static let name: BusName = "org.imagefeed.Viewer"
    private let window: BusProxy

    init(_ connection: BusConnection) {
        window = BusProxy(connection, Self.name, "/org/imagefeed/Viewer")
    }

    /// Shows a photo.
    ///
    /// - Parameter reference: `ACCOUNT/ID`.
    /// - Throws: ``CommandFailure`` if the window is not installed; ``BusError``.
    func open(_ reference: String) async throws {
        do {
            try await window.perform(
                "org.freedesktop.Application", "ActivateAction", "open",
                [Variant.string(reference)], [String: Variant]())
        } catch BusError.reply(let reply) where reply.name == .serviceUnknown {
            throw CommandFailure(
                .unavailable,
                tr("The window is not installed. Install the package imagefeed-viewer."))
        }
    }
}
