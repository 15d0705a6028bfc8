/// How much a plugin may do.
nonisolated package struct PluginLimits: Sendable {
    /// For an answer to one call. The daemon's clients are answered a little later at the latest.
    package var answering = Duration.seconds(15)
    /// From its start to the answer to `initialize`.
    package var starting = Duration.seconds(10)
    /// How long one that nobody asks stays.
    package var idling = Duration.seconds(60)
    /// How long one that is told to end may take.
    package var farewell = Duration.seconds(2)
    /// For one message, its end of line not counted.
    package var lineBytes = 8 << 20
    /// For all that it writes, counted over a second.
    package var bytesPerSecond = 32 << 20
    package var messagesPerSecond = 1000
    /// How many of its lines the log takes, counted over ten seconds.
    package var logLines = 50
    /// How many requests on the web it may have under way.
    package var requests = 8
    /// The memory that is its own and can be written: heap, anonymous mappings, data.
    package var memoryBytes = 512 << 20
    /// All of its address space: in addition, programs, libraries, and memory that cannot be written any more.
    package var addressSpaceBytes = 768 << 20
    package var processorSeconds = 600
    package var descriptors = 64
    /// The number of threads, the main thread included. `TasksMax=` of the unit has to leave room for the daemon and
    /// several plugins.
    package var threads = 32
    /// How often in a row it may fail until it is left alone.
    package var failures = 5
    /// How long it is left alone after a failure that is not the first; five times as long after each further one.
    package var firstPause = Duration.seconds(1)

    package init() {}
}
