internal import CCurl
internal import Glibc
internal import Translation
internal import Web

/// The libcurl handle of a request, with the memory that it refers to.
final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let library: CurlLibrary
    private let body: UnsafeMutableRawBufferPointer
    /// The buffer for the error message of libcurl.
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private var fields: UnsafeMutablePointer<curl_slist>?
    private var names: UnsafeMutablePointer<curl_slist>?
    private var wrong: CURLoption?

    /// - Parameters:
    ///   - hop: The request.
    ///   - userAgent: The user agent.
    ///   - proxy: The proxy; nil for none.
    ///   - certificates: The file of the trusted certificates; nil for those of the system.
    ///   - limits: The limits of the client.
    /// - Throws: ``HTTPError/failed(_:)``.
    init(
        _ hop: Hop, userAgent: String, proxy: ProxyAddress?, certificates: String?, limits: Limits
    ) throws(HTTPError) {
        let library = try CurlLibrary.load()
        guard let pointer = library.functions.easy_init() else {
            throw .failed(Message(verbatim: "out of memory"))
        }
        self.pointer = pointer
        self.library = library
        body = .allocate(byteCount: hop.request.body.count, alignment: 1)
        body.copyBytes(from: hop.request.body)
        errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorBuffer))
        restrict(proxy, limits)
        if let certificates {
            set(CURLOPT_CAINFO, certificates)
            // Otherwise the folder of the system's certificates would also apply where libcurl has one.
            set(CURLOPT_CAPATH, UnsafeMutableRawPointer?.none)
        }
        set(CURLOPT_URL, hop.address.text)
        set(CURLOPT_USERAGENT, userAgent)
        describe(hop)
        try append(hop)
        set(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(fields))
        try check()
    }

    isolated deinit {
        library.functions.easy_cleanup(pointer)
        // A form body may contain a secret, and a header field may contain the token.
        var field = fields
        while let current = field?.pointee {
            explicit_bzero(current.data, strlen(current.data))
            field = current.next
        }
        library.functions.slist_free_all(fields)
        library.functions.slist_free_all(names)
        body.wipe()
        body.deallocate()
        errorBuffer.deallocate()
    }

    /// Returns the text of libcurl about an error of the transfer.
    func text(of code: CURLcode) -> String {
        let message = String(cString: errorBuffer)
        return message.isEmpty ? library.describe(code) : message
    }

    // MARK: Request options

    private func restrict(_ proxy: ProxyAddress?, _ limits: Limits) {
        let takesNames = shim_curl_easy_set_string(
            library.table, pointer, SHIM_CURLOPT_PROTOCOLS_STR, "http,https")
        if takesNames != CURLE_OK {
            set(SHIM_CURLOPT_PROTOCOLS, Int(CURLPROTO_HTTP | CURLPROTO_HTTPS))
        }
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_PROXY, proxy?.text ?? "")
        if let username = proxy?.username { set(CURLOPT_PROXYUSERNAME, username) }
        if let password = proxy?.password { set(CURLOPT_PROXYPASSWORD, password) }
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        for name in limits.names { names = library.functions.slist_append(names, name) ?? names }
        if names != nil { set(CURLOPT_RESOLVE, UnsafeMutableRawPointer(names)) }
        // The process has several threads, in which libcurl must not use signals.
        set(CURLOPT_NOSIGNAL, 1)
        // Otherwise libcurl waits at the end of a transfer for the resolver thread of a slow name.
        _ = shim_curl_easy_set_long(library.table, pointer, SHIM_CURLOPT_QUICK_EXIT, 1)
        set(CURLOPT_CONNECTTIMEOUT_MS, max(1, Int(limits.connecting / .milliseconds(1))))
        // All encodings that libcurl supports.
        set(CURLOPT_ACCEPT_ENCODING, "")
    }

    private func describe(_ hop: Hop) {
        // With this option, a request waits for TLS to negotiate the version of HTTP on a connection that the request
        // may share. Without TLS, the wait would last until the first response and count towards the connection
        // timeout.
        set(CURLOPT_PIPEWAIT, hop.address.origin.scheme == .https ? 1 : 0)
        let sendsBody =
            [.post, .put, .patch].contains(hop.request.method) || !hop.request.body.isEmpty
        if sendsBody && hop.request.method != .get {
            set(CURLOPT_POST, 1)
            check(
                shim_curl_easy_set_offset(
                    library.table, pointer, CURLOPT_POSTFIELDSIZE_LARGE,
                    curl_off_t(body.count)), CURLOPT_POSTFIELDSIZE_LARGE)
            // libcurl does not copy the body; the body is freed after the handle.
            if body.isEmpty {
                set(CURLOPT_POSTFIELDS, "")
            } else {
                set(CURLOPT_POSTFIELDS, body.baseAddress)
            }
        } else {
            set(CURLOPT_HTTPGET, 1)
        }
        if hop.request.method != .get, hop.request.method != .post {
            set(CURLOPT_CUSTOMREQUEST, hop.request.method.rawValue)
        }
    }

    // MARK: Header fields

    private func append(_ hop: Hop) throws(HTTPError) {
        var names: Set<String> = []
        for field in hop.request.headers.fields {
            let name = field.name.lowercased()
            guard field.isAllowedInRequest else {
                throw .failed(
                    Message(
                        verbatim:
                            "its header field \(name.debugDescription) is reserved or not valid"))
            }
            if hop.request.token != nil, hop.request.tokenField.lowercased().hasPrefix("\(name):") {
                continue
            }
            names.insert(name)
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            try append(Array(line.utf8))
        }
        if let token = hop.request.token { try append(token, in: hop.request.tokenField) }
        // A field without a value removes the field that libcurl adds by default.
        try append(Array("Expect:".utf8))
        if !names.contains("content-type") { try append(Array("Content-Type:".utf8)) }
    }

    private func append(_ token: Secret, in field: String) throws(HTTPError) {
        var line = Array(field.utf8)
        token.withBytes { bytes in
            // One allocation: when an array grows, its former memory is not wiped.
            line.reserveCapacity(line.count + bytes.count + 1)
            line.append(contentsOf: bytes)
        }
        defer { line.wipe() }
        guard line.allSatisfy(HTTPHeaders.isOfValue) else {
            throw .failed(Message(verbatim: "the token contains control characters"))
        }
        try append(line)
    }

    private func append(_ line: [UInt8]) throws(HTTPError) {
        let extended = line.withUnsafeBytes { line in
            // Adds the NUL terminator, and wipes the copy.
            withUnsafeTemporaryAllocation(byteCount: line.count + 1, alignment: 1) { text in
                text.copyMemory(from: line)
                text[line.count] = 0
                defer { text.wipe() }
                return library.functions.slist_append(
                    fields, text.baseAddress?.assumingMemoryBound(to: CChar.self))
            }
        }
        guard let extended else { throw .failed(Message(verbatim: "out of memory")) }
        fields = extended
    }

    // MARK: Options

    private func check(_ code: CURLcode, _ option: CURLoption) {
        if code != CURLE_OK { wrong = wrong ?? option }
    }

    func set(_ option: CURLoption, _ value: Int) {
        check(shim_curl_easy_set_long(library.table, pointer, option, value), option)
    }

    func set(_ option: CURLoption, _ value: String) {
        check(shim_curl_easy_set_string(library.table, pointer, option, value), option)
    }

    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
        check(shim_curl_easy_set_pointer(library.table, pointer, option, value), option)
    }

    func set(_ option: CURLoption, _ function: @escaping curl_write_callback) {
        check(shim_curl_easy_set_data_function(library.table, pointer, option, function), option)
    }

    func set(_ option: CURLoption, _ function: @escaping curl_opensocket_callback) {
        check(shim_curl_easy_set_socket_function(library.table, pointer, option, function), option)
    }

    func set(_ option: CURLoption, _ function: @escaping curl_prereq_callback) {
        check(shim_curl_easy_set_request_function(library.table, pointer, option, function), option)
    }

    /// Checks that libcurl has accepted all options.
    ///
    /// - Throws: ``HTTPError/failed(_:)`` if an option was rejected.
    func check() throws(HTTPError) {
        if let wrong {
            throw .failed(
                Message(verbatim: "libcurl does not support the option \(wrong.rawValue)"))
        }
    }

    /// Resumes a paused transfer. Must not be called in a callback.
    ///
    /// The corresponding C function is `curl_easy_pause`.
    func resume() { _ = library.functions.easy_pause(pointer, 0) }
}
