internal import ProviderKit

/// The settings that the transfers of a client share.
struct TransferSettings {
    let library: CurlLibrary
    let userAgent: String
    let proxies: ProxySettings
    let limits: Limits
    /// The files of trusted certificates, by host.
    let certificateFiles: [String: String]
    let admission: Admission
    /// The memory for large responses to plugins.
    let responseMemory: ResponseMemory
    /// Returns the pool for new connections within an address scope.
    let pool: (AddressScope) throws(HTTPError) -> ConnectionPool
    /// Replaces a pool that has a dead connection.
    let retire: (ConnectionPool) -> Void
}
