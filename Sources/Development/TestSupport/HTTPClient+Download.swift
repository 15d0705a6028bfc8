internal import Glibc
package import ProviderKit

extension HTTPClient {
    /// Downloads an image.
    ///
    /// - Parameter address: The address of the image.
    /// - Returns: The status of the response, and the first two bytes of the image.
    /// - Throws: The error of the download.
    package func downloadImage(_ address: String) async throws -> (status: Int, start: [UInt8]) {
        let directory = try TemporaryDirectory()
        let file = open(try directory.write("", to: "image"), O_RDWR)
        defer { close(file) }
        let response = try await download(HTTPRequest(.get, address), into: file) { _ in }
        var start: [UInt8] = [0, 0]
        let count = pread(file, &start, start.count, 0)
        return (response.status, Array(start.prefix(max(0, count))))
    }
}
