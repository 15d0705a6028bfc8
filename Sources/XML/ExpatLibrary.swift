internal import CExpat
internal import Synchronization

/// libexpat, loaded when it is first needed, for the rest of the program's life.
enum ExpatLibrary {
    private static let loaded = Mutex<shim_expat?>(nil)

    /// Loads the library, unless that was done. After a failure, the next call tries again.
    ///
    /// - Returns: The functions of the library.
    /// - Throws: ``XMLError/unavailable(_:)``.
    static func load() throws(XMLError) -> shim_expat {
        let result: Result<shim_expat, XMLError> = loaded.withLock { loaded in
            if let loaded { return .success(loaded) }
            let result = Result { () throws(XMLError) in try find("libexpat.so.1") }
            loaded = try? result.get()
            return result
        }
        return try result.get()
    }

    /// Loads a library. It stays loaded.
    ///
    /// The corresponding C function is `dlopen`.
    static func find(_ name: String) throws(XMLError) -> shim_expat {
        var table = shim_expat()
        if let reason = shim_expat_load(&table, name) {
            throw .unavailable("libexpat could not be loaded: \(String(cString: reason))")
        }
        return table
    }
}
