extension SimulatedUnsplash {
    /// Returns the manifest of the provider as a plugin, `splash.provider`, for this service.
    ///
    /// - Parameter redirectPort: The port of the redirect address; nil for any.
    /// - Returns: The text of the file.
    package func pluginManifest(redirectPort: UInt16? = nil) -> String {
        """
        [Provider]
        Id=splash
        Name=Unsplash
        Exec=./splash/splash
        Capabilities=feed;like;profile;search;download;
        DefaultSource=editorial
        Sources=editorial;likes;topic:*;collection:*;user:*;search:*;
        Hosts=\(apiURL);\(imagesURL);\(webURL);

        [Authentication]
        Type=oauth2
        AuthorizationUrl=\(webURL)/oauth/authorize
        TokenUrl=\(webURL)/oauth/token
        RevocationUrl=\(webURL)/oauth/revoke
        TokenHosts=\(apiURL);
        Scopes=public;read_user;write_likes;
        \(redirectPort.map { "RedirectPort=\($0)" } ?? "")
        """
    }
}
