package import Translation

extension ProviderSettings {
    /// Returns a setting that is true or false.
    ///
    /// - Parameters:
    ///   - key: The key of the setting.
    ///   - provider: The ID of the provider, for the error.
    ///   - standard: The value if the setting is missing.
    /// - Returns: The value.
    /// - Throws: ``ProviderError/notConfigured(_:)``.
    package func flag(
        _ key: String, of provider: String, default standard: Bool = false
    ) throws(ProviderError) -> Bool {
        switch self[key] {
        case nil: standard
        case "false": false
        case "true": true
        default: throw .invalidSetting(key, of: provider, Message("has to be true or false."))
        }
    }

    /// Returns the port of redirect addresses that services compare exactly.
    ///
    /// - Throws: ``ProviderError/notConfigured(_:)``.
    package func redirectPort(of provider: String) throws(ProviderError) -> UInt16 {
        let text = self["RedirectPort"] ?? "43117"
        guard text.utf8.allSatisfy(\.isDigit), let port = UInt16(text), port > 0 else {
            throw .invalidSetting(
                "RedirectPort", of: provider,
                Message("has to be a number from 1 to 65535, such as 43117."))
        }
        return port
    }

    /// Returns the address of a service, without a trailing slash.
    ///
    /// - Parameters:
    ///   - key: The key of the setting.
    ///   - provider: The ID of the provider, for the error.
    ///   - standard: The address if the setting is missing.
    /// - Returns: An address that is secure or on this computer.
    /// - Throws: ``ProviderError/notConfigured(_:)``.
    package func address(
        _ key: String, of provider: String, default standard: String
    ) throws(ProviderError) -> WebAddress {
        guard let address = WebAddress(ofService: self[key] ?? standard) else {
            throw .invalidSetting(
                key, of: provider,
                Message(
                    "is not the address of a service, such as {address}.", ["address": standard]))
        }
        guard address.isSafe else {
            throw .invalidSetting(
                key, of: provider,
                Message("has to begin with https://; http:// is only for this computer."))
        }
        return address
    }
}

extension WebAddress {
    /// Parses the address of a service without its trailing slashes; nil if it is invalid, or has a query or a fragment.
    package init?(ofService text: String) {
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        self.init(text)
        if rest.contains(where: { "?#".contains($0) }) { return nil }
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
        _ key: String, of provider: String, _ rule: Message
    ) -> ProviderError {
        .notConfigured(
            // Translators: {rule} is one of the texts such as “has to be true or false.”
            Message(
                "{setting} of [Provider {provider}] in imagefeed.conf {rule}",
                messages: [
                    "setting": Message(verbatim: key), "provider": Message(verbatim: provider),
                    "rule": rule,
                ]))
    }
}
