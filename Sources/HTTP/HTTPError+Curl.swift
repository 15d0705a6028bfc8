internal import CCurl
internal import ProviderKit

extension HTTPError {
    /// Returns the error for a code of libcurl.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - message: The text of libcurl about the transfer; empty if there is none.
    ///   - refusal: The error for which a connection was refused; nil if none was.
    ///   - server: The host, if the user named it as a server; nil for a host of a service.
    ///   - library: The library, which describes the code.
    /// - Returns: The error for the caller of the transfer.
    @MainActor static func curl(
        _ code: CURLcode, _ message: String, _ refusal: HTTPError?, _ server: String?,
        _ library: CurlLibrary
    ) -> HTTPError {
        let text = message.isEmpty ? library.describe(code) : message
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return .unreachable(text)
        // libcurl checks only the connection timeout; ``Watchdog`` checks the other limits.
        case CURLE_COULDNT_CONNECT, CURLE_OPERATION_TIMEDOUT:
            // Removes the number of milliseconds, which is of no use in a user message.
            let details = text.firstRange(of: " after ")?.lowerBound ?? text.endIndex
            let words = String(text[..<details])
            return code == CURLE_COULDNT_CONNECT
                ? refusal ?? .unreachable(words) : .unreachable(words)
        case CURLE_PEER_FAILED_VERIFICATION:
            // The texts of OpenSSL and of GnuTLS for a certificate that no trusted one has signed.
            let isUnknown = ["self-signed", "self signed", "issuer certificate", "not trusted"]
                .contains(where: text.contains)
            guard let server, isUnknown else { return .failed(text) }
            return .failed(
                "the certificate of \(server) is not trusted; see “Certificates” in imagefeedd(1)")
        default: return .failed(text)
        }
    }
}
