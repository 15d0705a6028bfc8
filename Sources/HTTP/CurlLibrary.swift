internal import CCurl
internal import ProviderKit

/// libcurl, loaded when it is first needed, for the rest of the program's life.
final class CurlLibrary {
    /// Its functions, as the C shims take them.
    let table: UnsafePointer<shim_curl>

    private static var loaded: CurlLibrary?

    /// 7.80: the first with the hook before a request is sent.
    private static let oldestVersion: UInt32 = 0x075000

    /// Loads it, unless that was done. After a failure the next call tries again.
    ///
    /// - Parameter name: What the dynamic loader looks for.
    /// - Returns: The one library of the process.
    /// - Throws: ``HTTPError/failed(_:)``.
    static func load(_ name: String = "libcurl.so.4") throws(HTTPError) -> CurlLibrary {
        if let loaded { return loaded }
        let library = try CurlLibrary(name)
        loaded = library
        return library
    }

    init(_ name: String) throws(HTTPError) {
        let table = UnsafeMutablePointer<shim_curl>.allocate(capacity: 1)
        table.initialize(to: shim_curl())
        // For the rest of the program's life, like the library.
        self.table = UnsafePointer(table)
        if let reason = shim_curl_load(table, name) {
            table.deallocate()
            throw .failed("libcurl could not be loaded: \(String(cString: reason))")
        }
        let code = functions.global_init(Int(CURL_GLOBAL_ALL))
        guard code == CURLE_OK else {
            throw .failed("libcurl could not be started: \(describe(code))")
        }
        guard let version = functions.version_info(CURLVERSION_FIRST),
            version.pointee.version_num >= Self.oldestVersion
        else { throw .failed("libcurl is older than 7.80") }
    }

    /// Its functions.
    var functions: shim_curl { table.pointee }

    func describe(_ code: CURLcode) -> String {
        functions.easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
    }
}
