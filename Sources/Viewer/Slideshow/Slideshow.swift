internal import BusAPI
internal import DBus

/// `org.imagefeed.ImageFeed1.Slideshow`.
struct Slideshow {
    static let interface: InterfaceName = "org.imagefeed.ImageFeed1.Slideshow"
    static let path = ServiceName.root.appending("slideshow")

    let proxy: BusProxy

    init(_ connection: BusConnection) { proxy = BusProxy(connection, ServiceName.bus, Self.path) }

    func perform(_ member: String) async throws {
        try await proxy.perform(Self.interface, MemberName(member))
    }
    func perform(_ member: String, _ photo: String) async throws {
        try await proxy.perform(Self.interface, MemberName(member), photo)
    }
    func properties() async throws -> [String: Variant] {
        try await proxy.properties(Self.interface)
    }
    func setPaused(_ isPaused: Bool) async throws {
        try await proxy.set(Self.interface, "Paused", to: isPaused)
    }
}
