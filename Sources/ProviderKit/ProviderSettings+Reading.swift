extension ProviderSettings {
    /// Returns a setting that is true or false.
    ///
    /// - Parameters:
    ///   - key: The key of the setting.
    ///   - provider: The ID of the provider, for the error.
    /// - Returns: The value; false if it is missing.
    /// - Throws: ``ProviderError/notConfigured(_:)``.
    package func flag(_ key: String, of provider: String) throws(ProviderError) -> Bool {
        switch self[key] {
        case nil, "false": false
        case "true": true
        default: throw .invalidSetting(key, of: provider, "has to be true or false.")
        }
    }
}

extension ProviderError {
    /// Creates the error of an invalid setting.
    ///
    /// - Parameters:
    ///   - key: The key of the setting.
    ///   - provider: The ID of the provider.
    ///   - rule: The predicate of a sentence about the setting.
    /// - Returns: The error.
    package static func invalidSetting(
        _ key: String, of provider: String, _ rule: String
    ) -> ProviderError {
        .notConfigured("\(key) of [Provider \(provider)] in imagefeed.conf \(rule)")
    }
}

extension Result where Failure == ProviderError {
    /// The status of a session with this client, or without one.
    package var sessionStatus: SessionStatus {
        switch self {
        case .success: .ready
        case .failure(let error):
            if case .notConfigured = error {
                .failed(reason: "\(error)", remedy: .configure)
            } else {
                .failed(reason: "\(error)", remedy: .login)
            }
        }
    }
}
