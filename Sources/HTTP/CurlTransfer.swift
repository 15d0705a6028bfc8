internal import CCurl
internal import System
internal import Translation
internal import Web

/// A request with its redirects and repetitions, until its response. A limit or ``end(_:)`` may end the transfer
/// earlier.
final class CurlTransfer {
    let request: HTTPRequest
    /// The client, which retains the transfer from its start to its end.
    let client: CurlClient
    private let certificateFiles: [String: String]
    private var continuation: CheckedContinuation<HTTPResponse, any Error>?
    /// The result, as soon as it is known; the file may still be written.
    private var result: Result<HTTPResponse, any Error>?

    /// The origin of the request, before redirects.
    private var origin: ParsedAddress.Origin?
    private var easy: EasyHandle?
    private var pool: ConnectionPool?
    private var redirects = 0
    /// True if a redirect led to another origin, after which the credentials are not sent.
    private var leftOrigin = false
    private(set) var watchdog: Watchdog?
    /// The state that an interrupted download needs to continue.
    private(set) var resumption: Resumption?
    private var pause: MainLoopTimer?

    // State of the callbacks of libcurl, see CurlTransfer+Callbacks.swift.
    var hop: Hop?
    var head = ResponseHead()
    /// The target of a redirect.
    var next: Hop?
    /// The error for which a callback stopped libcurl.
    var failure: HTTPError?
    /// The error for which a connection was refused; nil if a connection was made.
    var refusal: HTTPError?
    var isProxied = false
    var received = 0
    /// The number of times that the request was sent.
    var sendings = 0
    /// True if a connection was opened for this hop.
    var opensConnection = false
    /// True if the hop was repeated on a new connection after a timeout.
    private var isRepeated = false
    /// True if the network has changed since the hop began.
    private var isNetworkChanged = false
    var body: [UInt8] = []
    var download: Download?
    /// The memory reservation of a large body; nil while the body is small.
    private var memory: MemoryReservation?

    init(_ request: HTTPRequest, _ client: CurlClient) {
        self.request = request
        self.client = client
        certificateFiles = client.certificateFiles
    }

    /// Writes the body of a 2xx response into a file.
    func write(into file: Int32, progress: @escaping @Sendable (HTTPProgress) -> Void) {
        download = Download(file, progress: progress, self)
    }

    /// - Parameter continuation: Resumed exactly once, within this call or later.
    func start(_ continuation: CheckedContinuation<HTTPResponse, any Error>) {
        self.continuation = continuation
        watchdog = Watchdog(self)
        do {
            let address = try ParsedAddress(request.url)
            origin = address.origin
            try begin(Hop(address: address, request: request))
        } catch {
            end(.failure(error))
        }
    }

    private func begin(_ hop: Hop) throws(HTTPError) {
        try hop.check(reach(of: hop))
        if let hosts = request.allowedHosts, !hosts.permits(hop.address.text) {
            throw .forbiddenAddress(
                Message("{server} is not a permitted host", ["server": hop.address.origin.host]))
        }
        self.hop = hop
        if hop.address.origin != origin { leftOrigin = true }
        resetHop()
        watchdog?.state = .queued
        client.enter(self, to: hop.address.origin)
    }

    /// Resets the results of the last hop, or of the last attempt.
    private func resetHop() {
        head = ResponseHead()
        next = nil
        failure = nil
        refusal = nil
        sendings = 0
        opensConnection = false
        isNetworkChanged = false
        body = []
        memory = nil
        if resumption == nil { received = 0 }
    }

    /// Sends the current hop, for which a connection is available.
    func send() {
        guard let hop else { return }
        do { try send(hop) } catch { end(.failure(error)) }
    }

    /// Passes the request to libcurl and starts the connection timeout.
    private func send(_ hop: Hop) throws(HTTPError) {
        let reach = reach(of: hop)
        let proxy = try client.proxies.proxy(for: hop.address, reach)
        isProxied = proxy != nil
        if isProxied { try hop.checkProxied(reach) }
        let easy = try EasyHandle(
            hop, userAgent: hop.request.userAgent ?? client.userAgent, proxy: proxy,
            certificates: certificateFiles[hop.address.origin.host], limits: client.limits)
        if request.plugin != nil {
            easy.set(CURLOPT_MAX_RECV_SPEED_LARGE, client.limits.pluginBytesPerSecond)
        }
        try install(on: easy)
        let pool = try client.pool(reach)
        self.easy = easy
        self.pool = pool
        watchdog?.state = .connecting
        try pool.add(easy) { [self] code in finish(code) }
    }

    private func removeHandle() {
        if let easy { pool?.remove(easy) }
        easy = nil
        pool = nil
    }

    func reach(of hop: Hop) -> AddressScope {
        switch hop.request.addressSource {
        case .configuration:
            request.allowedHosts?.isNamed(hop.address.text) == true ? .named : .anywhere
        case .service: request.allowsLoopback ? .publicOrLoopback : .publicOnly
        }
    }

    /// Returns the target of a redirect; nil if the response is not a redirect.
    func redirect() throws(HTTPError) -> Hop? {
        guard let hop, let origin else { return nil }
        let next = try hop.next(after: head, from: request.addressSource, to: origin)
        guard next != nil else { return nil }
        redirects += 1
        guard redirects <= client.limits.redirects else {
            throw .failed(
                Message(
                    "it was redirected more than {count} times",
                    ["count": "\(client.limits.redirects)"]))
        }
        return next
    }

    // MARK: The watchdog

    func connected() {
        refusal = nil
        watchdog?.state = .connected
    }

    /// Handles the end of a limit.
    ///
    /// - Parameters:
    ///   - error: The error for the caller.
    ///   - mayResume: False if the transfer must not be retried.
    func limitExpired(_ error: HTTPError, mayResume: Bool) {
        retireConnection(after: .zero)
        guard mayResume else { return end(.failure(error)) }
        guard canRepeat, !isRepeated, isNetworkChanged || !opensConnection else {
            return breakOff(error)
        }
        isRepeated = true
        sendAgain()
    }

    // MARK: Dead connections

    /// Retires the pool if the transfer waits for a server that has sent nothing for `silence`.
    ///
    /// The end of a transfer does not close its connection if the connection uses HTTP/2.
    private func retireConnection(after silence: Duration) {
        if let pool, watchdog?.isSilent(for: silence) == true { client.retire(pool) }
    }

    /// True if the current hop can be sent a second time, from its beginning.
    private var canRepeat: Bool { hop?.request.method == .get && resumption == nil }

    /// Handles a change of the network, after which the connection may be dead. Must not be called in a callback of
    /// libcurl.
    func networkChanged() {
        guard result == nil, easy != nil else { return }
        isNetworkChanged = true
        if watchdog?.state == .connecting, sendings == 0 {
            // The server has not received the request, and the connection or the name resolution may fail.
            sendAgain()
        } else if canRepeat && !isRepeated || resumption?.canContinue == true {
            watchdog?.doubtConnection(for: client.limits.silenceAfterChange)
        }
    }

    /// Sends the current hop again, on a new connection if the pool was retired. Keeps the position in the queue.
    private func sendAgain() {
        guard result == nil else { return }
        removeHandle()
        resetHop()
        send()
    }

    // MARK: The end

    /// Handles the end of the transfer in libcurl.
    private func finish(_ code: CURLcode) {
        let text = code == CURLE_OK ? "" : easy?.text(of: code) ?? ""
        easy = nil
        pool = nil
        client.leave(self)
        do {
            if let failure { throw failure }
            if let next, code == CURLE_OK || code == CURLE_WRITE_ERROR { return try begin(next) }
            // libcurl has a limit for one line of the header, and no code of its own for it in all versions.
            if [CURLE_OUT_OF_MEMORY, SHIM_CURLE_TOO_LARGE].contains(code), sendings > 0,
                !head.isComplete
            {
                throw HTTPError.tooLarge(limit: client.limits.headerBytes)
            }
            guard code == CURLE_OK else {
                let server = hop.flatMap { reach(of: $0) == .named ? $0.address.origin : nil }
                let error = HTTPError.curl(code, text, refusal, server)
                // The requested server was reached.
                if leftOrigin, case .unreachable(let reason) = error {
                    return breakOff(.failed(reason))
                }
                return breakOff(error)
            }
            guard let hop, head.isComplete else {
                throw HTTPError.failed(Message("the response has no complete header"))
            }
            if let length = resumption?.length, length != received {
                throw HTTPError.failed(
                    Message(
                        "the response has only {received} of {length} bytes",
                        ["received": "\(received)", "length": "\(length)"]))
            }
            let head = resumption?.head ?? head
            var response = HTTPResponse(
                status: head.status, headers: head.headers, body: body, url: hop.address.text)
            response.leftOrigin = leftOrigin
            response.memory = memory
            end(.success(response))
        } catch {
            end(.failure(error))
        }
    }

    // MARK: Interrupted downloads

    /// Handles the start of the body of a file, or of the rest of it.
    ///
    /// - Throws: ``HTTPError/failed(_:)`` if the response is not the rest of the same file.
    func fileBegins() throws(HTTPError) {
        if let resumption {
            try resumption.check(head, at: received)
        } else if request.method == .get {
            resumption = Resumption(head)
        }
        download?.begin(total: fileLength)
    }

    /// The length of the file; nil if the server does not send it.
    var fileLength: Int? { resumption?.length ?? head.bodyLength }

    /// Handles a lost connection. A download continues after its last byte if the server supports that.
    private func breakOff(_ error: HTTPError) {
        guard var hop, let pauseBefore = resumption?.nextPause(received: received, error) else {
            return end(.failure(error))
        }
        removeHandle()
        watchdog?.state = .connecting
        client.leave(self)
        hop = resumption?.hop(hop, at: received) ?? hop
        guard pauseBefore > .zero else { return continueDownload(hop, error) }
        pause = MainLoopTimer(after: pauseBefore) { [self] in
            pause = nil
            continueDownload(hop, error)
        }
    }

    private func continueDownload(_ hop: Hop, _ reason: HTTPError) {
        guard result == nil else { return }
        do { try begin(hop) } catch { end(.failure(reason)) }
    }

    /// Handles the end of a write to the file, successful or not.
    func advance() {
        guard let download else { return }
        if let code = download.failure { end(.failure(HTTPError.cannotWrite(code))) }
        if watchdog?.state == .held && download.hasRoom && result == nil { resume() }
        if result != nil { complete() }
    }

    /// Resumes the transfer, which waits for the file. Must not be called in a callback of libcurl.
    private func resume() {
        watchdog?.state = .connected
        easy?.resume()
        if let failure { end(.failure(failure)) }
    }

    // MARK: Memory

    /// Reserves memory for a large body of a response to a plugin.
    ///
    /// - Returns: False if the body is large and no memory is left for it.
    func hasMemory(forBodyOf count: Int, atMost bodyLimit: Int) -> Bool {
        guard request.plugin != nil, count > client.limits.smallBodyBytes, memory == nil
        else { return true }
        memory = client.reserve(min(head.bodyLength ?? bodyLimit, bodyLimit))
        return memory != nil
    }

    /// Ends the transfer, unless it has ended. Must not be called in a callback of libcurl.
    func end(_ result: Result<HTTPResponse, any Error>) {
        if case .success = self.result, case .failure = result {
            // The transfer was cancelled, or the disk is full, while the last bytes are being written.
        } else if self.result != nil {
            return
        }
        self.result = result
        retireConnection(after: client.limits.suspiciousSilence)
        watchdog?.cancel()
        watchdog = nil
        pause = nil
        removeHandle()
        client.leave(self)
        memory = nil
        if case .failure = result { download?.stop() }
        complete()
    }

    private func complete() {
        // The caller may close the file after the continuation is resumed, so no write may be in progress.
        guard let result, download?.isIdle ?? true, let continuation else { return }
        self.continuation = nil
        if case .success(let response) = result, response.isSuccess {
            download?.reportEnd(total: fileLength)
        }
        client.ended(self)
        continuation.resume(with: result)
    }
}
