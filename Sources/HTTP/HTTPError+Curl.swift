internal import CCurl
internal import ProviderKit

extension HTTPError {
    /// Returns the error for a code of libcurl.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - message: The text of libcurl about the transfer; empty if there is none.
    ///   - refusal: The error for which a connection was refused; nil if none was.
    ///   - library: The library, which describes the code.
    /// - Returns: The error for the caller of the transfer.
    @MainActor static func curl(
        _ code: CURLcode, _ message: String, _ refusal: HTTPError?, _ library: CurlLibrary
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
        default: return .failed(text)
        }
    }
}
