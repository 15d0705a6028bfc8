/// The limits of a client for servers and plugins.
nonisolated struct Limits {
    /// The time limit for name resolution, connection and TLS handshake together.
    var connecting = Duration.seconds(10)
    /// The longest time without data from a connected server.
    var silence = Duration.seconds(15)
    /// The time limit for the next data of a server after a change of the network. After this time, a transfer that can
    /// be repeated or continued uses a new connection.
    var silenceAfterChange = Duration.seconds(3)
    /// The time without data after which the connection of a cancelled transfer is not reused.
    var suspiciousSilence = Duration.seconds(5)
    /// The time limit for the acknowledgement of sent data by the host of the server.
    var acknowledgement = Duration.seconds(10)
    /// The time for which connections and their memory are kept after the last request.
    var idling = Duration.seconds(60)
    var redirects = 5
    var headerBytes = 64 << 10
    var headerFields = 256
    /// The largest body of a failed download, which is read into memory.
    var failureBytes = 1 << 20
    /// The largest part of the body of a redirect that is read and discarded.
    var redirectBytes = 64 << 10
    /// The largest number of transfers of each kind, requests and downloads, that run at a time at one host.
    var transfersPerHost = 6
    /// The largest number of transfers of both kinds at one host, and of its connections.
    var connectionsPerHost = 8
    /// The largest number of downloads that run at a time; the rest of ``connections`` is for requests.
    var downloads = 24
    var connections = 32
    /// The largest number of transfers of one plugin that run at a time.
    var transfersPerPlugin = 6
    /// The largest number of downloads of one plugin that run at a time.
    var downloadsPerPlugin = 4
    /// The largest number of transfers of all plugins that run at a time; the rest of ``connections`` is for built-in
    /// providers.
    var pluginTransfers = 24
    /// The largest number of downloads of all plugins that run at a time.
    var pluginDownloads = 16
    /// The largest number of bytes per second of a transfer of a plugin. Without a limit, the transfers from fast servers
    /// would delay other work of the main thread.
    var pluginBytesPerSecond = 16 << 20
    /// The largest number of bytes of the large responses to all plugins. One plugin has at most 8 requests of 8 MiB.
    var pluginBodyBytes = 128 << 20
    /// The size above which a response to a plugin is large.
    var smallBodyBytes = 256 << 10
    /// The longest time that a download waits for a connection. The waiting time of a request is limited only by its
    /// time limit.
    var queueing = Duration.seconds(300)
    /// Fixed addresses of names, in the form `name:port:address` of CURLOPT_RESOLVE.
    var names: [String] = []
}
