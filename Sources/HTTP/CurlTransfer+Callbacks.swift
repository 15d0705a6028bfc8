internal import CCurl
internal import Glibc
internal import System
internal import Translation
internal import Web

/// The callbacks of libcurl. They do not call libcurl.
extension CurlTransfer {
    /// - Throws: ``HTTPError/failed(_:)``.
    func install(on easy: EasyHandle) throws(HTTPError) {
        let context = CallbackContext.pointer(to: self)
        easy.set(CURLOPT_WRITEDATA, context)
        easy.set(CURLOPT_HEADERDATA, context)
        easy.set(CURLOPT_OPENSOCKETDATA, context)
        easy.set(CURLOPT_PREREQDATA, context)
        easy.set(CURLOPT_WRITEFUNCTION) { start, size, count, context in
            let bytes = UnsafeRawBufferPointer(start: start, count: size * count)
            return CallbackContext.enter(context, bytes) { (transfer: CurlTransfer, bytes) in
                transfer.receiveBody(bytes)
            } ?? 0
        }
        easy.set(CURLOPT_HEADERFUNCTION) { start, size, count, context in
            let bytes = UnsafeRawBufferPointer(start: start, count: size * count)
            return CallbackContext.enter(context, bytes) { (transfer: CurlTransfer, bytes) in
                transfer.receiveHeader(bytes)
            } ?? 0
        }
        easy.set(CURLOPT_OPENSOCKETFUNCTION) { context, _, address in
            CallbackContext.enter(context, address) { (transfer: CurlTransfer, address) in
                address.map { transfer.openSocket($0) } ?? -1
            } ?? -1
        }
        easy.set(CURLOPT_PREREQFUNCTION) { context, address, _, _, _ in
            CallbackContext.enter(context, address) { (transfer: CurlTransfer, address) in
                transfer.willSend(to: address.map { String(cString: $0) } ?? "")
                    ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            } ?? CURL_PREREQFUNC_ABORT
        }
        try easy.check()
    }

    // MARK: The connection

    /// Creates the socket of a connection if `address` is permitted. The check applies to the address of the connection
    /// itself, so that a later change of the name's addresses has no effect.
    private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        let isAllowed = UnsafePointer(address).pointer(to: \.addr).map { pointer in
            isProxied || isPermitted(IPAddress(family: address.pointee.family, pointer))
        }
        guard isAllowed == true else { return -1 }
        opensConnection = true
        let descriptor = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        // The kernel ends a connection over a broken path after this time, which is shorter than the limit for a silent
        // server, because a silent server may only be slow.
        var milliseconds = UInt32(client.limits.acknowledgement / .milliseconds(1))
        setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
            socklen_t(MemoryLayout<UInt32>.size))
        return descriptor
    }

    /// Checks a new or reused connection before the request is sent on it.
    private func willSend(to address: String) -> Bool {
        guard isProxied || isPermitted(IPAddress(address)) else {
            failure = refusal
            return false
        }
        // libcurl repeats a request if a reused connection was closed before the response. A POST must not be sent
        // twice, because the server may have processed it: it may contain a one-time token or a like.
        sendings += 1
        guard hop?.request.method != .post || sendings == 1 else {
            failure = .failed(Message("the connection was closed before the response"))
            return false
        }
        connected()
        return true
    }

    private func isPermitted(_ address: IPAddress?) -> Bool {
        guard let hop else { return false }
        guard let address else {
            refusal = .forbiddenAddress(
                Message(
                    "the network of {server} is not supported", ["server": hop.address.origin.host])
            )
            return false
        }
        let isPermitted = reach(of: hop).permits(
            address, hop.address.origin.scheme, isResolved: hop.address.literal == nil)
        if isPermitted { return true }
        refusal = hop.refusal(address)
        return false
    }

    // MARK: The response

    private func receiveHeader(_ line: UnsafeRawBufferPointer) -> Int {
        watchdog?.stirred()
        do {
            let wasComplete = head.isComplete
            try head.receive(line, client.limits)
            if head.isComplete && !wasComplete { try examineHead() }
            return line.count
        } catch {
            failure = error
            return 0
        }
    }

    private func examineHead() throws(HTTPError) {
        next = try redirect()
        guard next == nil else { return }
        if writesFile { try fileBegins() }
        guard let length = writesFile ? fileLength : head.bodyLength else { return }
        guard length <= bodyLimit else { throw .tooLarge(limit: bodyLimit) }
        if !writesFile { body.reserveCapacity(length) }
    }

    private func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        watchdog?.stirred()
        if next != nil {
            received += bytes.count
            // Closing the connection is cheaper than reading the rest of an unused body.
            return received <= client.limits.redirectBytes ? bytes.count : 0
        }
        guard bytes.count <= bodyLimit - received else {
            failure = .tooLarge(limit: bodyLimit)
            return 0
        }
        if writesFile, let download {
            watchdog?.bodyStirred()
            guard !download.isFull else {
                watchdog?.state = .held
                return Int(CURL_WRITEFUNC_PAUSE)
            }
            download.append(bytes)
        } else {
            guard hasMemory(forBodyOf: body.count + bytes.count, atMost: bodyLimit) else {
                failure = .failed(
                    Message(verbatim: "the large responses to plugins exceed their limit"))
                return 0
            }
            body += bytes
        }
        received += bytes.count
        return bytes.count
    }

    private var writesFile: Bool {
        download != nil && (200..<300 ~= head.status || resumption != nil)
    }

    /// The largest size of the decompressed body.
    private var bodyLimit: Int {
        download == nil || writesFile
            ? request.maximumBytes : min(request.maximumBytes, client.limits.failureBytes)
    }
}
