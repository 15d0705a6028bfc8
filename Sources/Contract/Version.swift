internal import CHomepage

/// The version of the daemon and of its command line.
package let programVersion = "0.2.0"

/// The address of the project, which `HOMEPAGE` sets when the programs are built; empty if it is not set.
package let homepage = String(cString: shim_homepage())

/// The user agent of requests to services.
package let userAgent = makeUserAgent(homepage: homepage)

/// Returns the user agent, with the address at which a service reaches the publisher of the program.
func makeUserAgent(homepage: String) -> String {
    "ImageFeed/\(programVersion)" + (homepage.isEmpty ? "" : " (+\(homepage))")
}
