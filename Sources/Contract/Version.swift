internal import CHomepage

/// The version of the sources, which is that of the next or last release.
package let programVersion = "0.2.0"

/// The version of this build: between releases, with the number of commits and the commit, if `dist/build` made it.
package let buildVersion = {
    let linked = String(cString: shim_version())
    return linked.isEmpty ? programVersion : linked
}()

/// The address of the project, which `HOMEPAGE` sets when the programs are built; empty if it is not set.
package let homepage = String(cString: shim_homepage())

/// The user agent of requests to services, without the contact of the user.
package let userAgent = makeUserAgent(homepage: homepage)

/// Returns the user agent of requests to services, with the addresses at which a service reaches the publisher and the
/// user of the program.
///
/// - Parameters:
///   - homepage: The address of the project.
///   - contact: The address or mail address of the user; nil if it is not set.
/// - Returns: `ImageFeed/1.0 (+https://example.org; ada@example.org)`.
package func makeUserAgent(homepage: String, contact: String? = nil) -> String {
    let contacts = [homepage.isEmpty ? nil : "+\(homepage)", contact].compactMap(\.self)
    return "ImageFeed/\(programVersion)"
        + (contacts.isEmpty ? "" : " (\(contacts.joined(separator: "; ")))")
}
