// Unsplash to try the program with, without a key: serves until Ctrl-C.

internal import Glibc
internal import UnsplashSimulator

/// What the provider of Unsplash tells people to register, and what they say beside it.
let redirectURIs = ["http://127.0.0.1:43117/callback"] + CommandLine.arguments.dropFirst()
if redirectURIs.contains(where: { $0.hasPrefix("-") }) {
    print(
        """
        Usage: unsplash-simulator [REDIRECT-ADDRESS…]

        Serves what Unsplash serves, on this computer, and prints what to put into imagefeed.conf.
        \(redirectURIs[0]) and codes that are pasted work without being named.
        """)
    exit(redirectURIs.contains("--help") ? 0 : 64)
}

let unsplash: SimulatedUnsplash
do {
    // The same addresses every time, if nobody else has them, so that a configuration stays right.
    unsplash = try (try? .start(apiPort: 43118, webPort: 43119)) ?? .start()
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
// They are read by people and by scripts, which get them at once.
fflush(nil)

while true { pause() }
