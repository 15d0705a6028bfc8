// Unsplash to try the program with, without a key: serves until Ctrl-C.

internal import Glibc
internal import UnsplashSimulator

/// Where the program listens for the browser, and what a user copies where it cannot.
let redirectURIs = CommandLine.arguments.dropFirst()
if redirectURIs.contains(where: { $0.hasPrefix("-") }) {
    print("Usage: unsplash-simulator [REDIRECT-ADDRESS…]")
    exit(redirectURIs.contains("--help") ? 0 : 64)
}

let unsplash: SimulatedUnsplash
do {
    unsplash = try .start()
} catch {
    print("The simulator cannot start: \(error)")
    exit(1)
}
unsplash.addUser("ada")
unsplash.settings.redirectURIs += redirectURIs

print(
    """
    Unsplash is simulated here until you press Ctrl-C. Put this into imagefeed.conf:

    [Provider unsplash]
    ApiUrl=\(unsplash.apiURL)
    WebUrl=\(unsplash.webURL)
    ClientId=\(unsplash.clientID)

    The client secret: \(unsplash.clientSecret)
    """)
// The lines are read by people and by scripts, which get them at once.
fflush(nil)

while true { pause() }
