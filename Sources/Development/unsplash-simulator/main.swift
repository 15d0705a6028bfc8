// A simulated Unsplash, to try the program without a client ID. Runs until Ctrl-C.

internal import Glibc
internal import UnsplashSimulator

/// The redirect address that the provider documents, and those in the arguments.
let redirectURIs = ["http://127.0.0.1:43117/callback"] + CommandLine.arguments.dropFirst()
if redirectURIs.contains(where: { $0.hasPrefix("-") }) {
    print(
        """
        Usage: unsplash-simulator [REDIRECT-ADDRESS…]

        Simulates Unsplash on this computer and prints the settings for imagefeed.conf.
        \(redirectURIs[0]) and pasted codes always work.
        """)
    exit(redirectURIs.contains("--help") ? 0 : 64)
}

let unsplash: SimulatedUnsplash
do {
    // The same ports in each run, if they are free, so that a configuration stays valid.
    unsplash = try (try? .start(apiPort: 43118, webPort: 43119)) ?? .start()
} catch {
    print("Cannot start the simulator: \(error)")
    exit(1)
}
unsplash.addUser("ada")
unsplash.settings.redirectURIs += redirectURIs

print(
    """
    The simulated Unsplash runs until you press Ctrl-C. Put this into imagefeed.conf:

    [Provider unsplash]
    ApiUrl=\(unsplash.apiURL)
    WebUrl=\(unsplash.webURL)
    ClientId=\(unsplash.clientID)

    The client secret: \(unsplash.clientSecret)
    """)
// Flushes the output for scripts that wait for it.
fflush(nil)

while true { pause() }
