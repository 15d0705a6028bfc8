// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "imagefeed",
    products: [
        .executable(name: "imagefeedd", targets: ["imagefeedd"]),
        .executable(name: "imagefeedctl", targets: ["imagefeedctl"]),
        .library(name: "ProviderKit", targets: ["ProviderKit"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // MARK: C libraries

        // No pkgConfig: it would link what is loaded when it is needed.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CCrypt"),
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CProcesses"),
        .systemLibrary(
            name: "CPixbuf", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSandbox"),
        .systemLibrary(
            name: "CSecret", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CSwiftRuntime"),

        // MARK: BusAPI

        .target(name: "BusAPI", dependencies: ["DBus"]),

        // MARK: BusService

        .target(
            name: "BusService",
            dependencies: [
                "BusAPI", "DBus", "Engine", "EventLoop", "ProviderKit", "Quoting", "Storage",
            ]),
        .testTarget(
            name: "BusServiceTests",
            dependencies: [
                "BusAPI", "BusService", "DBus", "Engine", "OAuth", "ProviderKit", "Storage",
                "TestSupport", .product(name: "Logging", package: "swift-log"),
            ]),

        // MARK: ChildProcesses

        .target(name: "ChildProcesses", dependencies: ["CProcesses"]),

        // MARK: Configuration

        .target(name: "Configuration", dependencies: ["CGLib", "Quoting"]),
        .testTarget(name: "ConfigurationTests", dependencies: ["Configuration", "TestSupport"]),

        // MARK: ControlCommands

        .target(
            name: "ControlCommands",
            dependencies: [
                "BusAPI", "ChildProcesses", "DBus", "EventLoop", "Quoting",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(
            name: "ControlCommandsTests",
            dependencies: ["BusAPI", "ControlCommands", "DBus", "TestSupport", "imagefeedctl"]),

        // MARK: DBus

        .target(name: "DBus", dependencies: ["CDBus", "EventLoop", "Quoting"]),
        .testTarget(name: "DBusTests", dependencies: ["DBus", "TestSupport"]),

        // MARK: Engine

        .target(
            name: "Engine",
            dependencies: [
                "CLinux", "OAuth", "ProviderKit", "Quoting", "Storage",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "Engine", "ProviderKit", "Storage", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // MARK: EventLoop

        .target(name: "EventLoop", dependencies: ["CSwiftRuntime"]),

        // MARK: FileAccess

        .target(name: "FileAccess"),
        .testTarget(name: "FileAccessTests", dependencies: ["FileAccess", "TestSupport"]),

        // MARK: HTTP

        .target(name: "HTTP", dependencies: ["CCurl", "ProviderKit"]),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "ProviderKit", "TestSupport"]),

        // MARK: ImageHelper

        .target(
            name: "ImageHelper",
            dependencies: [
                "CLinux", "CPixbuf", "ImageMessages", "ImageMetadata", "ProviderKit", "Sandbox",
            ]),
        .executableTarget(name: "imagefeed-image-helper", dependencies: ["ImageHelper"]),

        // MARK: ImageMessages

        .target(name: "ImageMessages", dependencies: ["CLinux"]),

        // MARK: ImageMetadata

        .target(name: "ImageMetadata", dependencies: ["ProviderKit"]),
        .testTarget(
            name: "ImageMetadataTests", dependencies: ["ImageMetadata", "ProviderKit"]),

        // MARK: Imaging

        .target(
            name: "Imaging",
            dependencies: [
                "CLinux", "ChildProcesses", "FileAccess", "ImageMessages", "ProviderKit",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "ImagingTests",
            dependencies: [
                "FileAccess",
                "ImageHelper", "ImageMessages", "ImageMetadata", "Imaging", "ProviderKit",
                "TestSupport", "UnsplashSimulator", "imagefeed-image-helper",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // MARK: LoopbackHTTP

        .target(name: "LoopbackHTTP", dependencies: ["CLinux"]),

        // MARK: MastodonSimulator

        .target(name: "MastodonSimulator", dependencies: ["ServiceSimulator"]),
        .testTarget(
            name: "MastodonSimulatorTests", dependencies: ["MastodonSimulator", "TestSupport"]),

        // MARK: NetworkState

        .target(
            name: "NetworkState",
            dependencies: [
                "CLinux", "DBus", .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "NetworkStateTests",
            dependencies: [
                "DBus", "NetworkState", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // MARK: Notifications

        .target(name: "Notifications", dependencies: ["DBus", "Engine"]),
        .testTarget(
            name: "NotificationsTests",
            dependencies: ["DBus", "Engine", "Notifications", "TestSupport"]),

        // MARK: OAuth

        .target(name: "OAuth", dependencies: ["CGLib", "CLinux", "ProviderKit"]),
        .testTarget(name: "OAuthTests", dependencies: ["OAuth", "ProviderKit", "TestSupport"]),

        // MARK: Plugins

        .executableTarget(name: "imagefeed-plugin-launcher"),
        // Built to be tested, not to be installed.
        .executableTarget(
            name: "mastodon-plugin", dependencies: ["MastodonProvider", "ProviderKit"]),
        .executableTarget(
            name: "unsplash-plugin", dependencies: ["ProviderKit", "UnsplashProvider"]),
        .executableTarget(
            name: "immich-example", dependencies: ["ProviderKit"], path: "dist/examples/immich",
            exclude: ["immich.provider"]),
        .target(
            name: "Plugins",
            dependencies: [
                "ChildProcesses", "Configuration", "EventLoop", "ProviderKit", "Quoting", "Sandbox",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "PluginsTests",
            dependencies: [
                "HTTP", "LoopbackHTTP", "Plugins", "ProviderKit", "ServiceSimulator", "TestSupport",
                "UnsplashProvider", "UnsplashSimulator", "imagefeed-plugin-launcher",
                "immich-example", "unsplash-plugin",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // MARK: ProviderKit

        .target(
            name: "ProviderKit",
            dependencies: [
                "CLinux", "EventLoop", "Quoting",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(name: "ProviderKitTests", dependencies: ["ProviderKit"]),

        // MARK: Providers

        .target(
            name: "LocalProvider",
            dependencies: [
                "CCrypt", "CGLib", "CLinux", "FileAccess", "ImageMetadata", "ProviderKit",
                "Quoting",
                "Storage",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Providers/Local"),
        .testTarget(
            name: "LocalProviderTests",
            dependencies: [
                "FileAccess", "ImageMetadata", "LocalProvider", "ProviderKit", "Storage",
                "TestSupport", .product(name: "Logging", package: "swift-log"),
            ]),

        .target(
            name: "MastodonProvider",
            dependencies: [
                "ProviderKit", "Quoting", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Providers/Mastodon"),
        .testTarget(
            name: "MastodonProviderTests",
            dependencies: [
                "MastodonProvider", "ProviderKit", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Recordings"]),

        .target(
            name: "UnsplashProvider",
            dependencies: [
                "ProviderKit", "Quoting", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Providers/Unsplash"),
        .testTarget(
            name: "UnsplashProviderTests",
            dependencies: [
                "ProviderKit", "TestSupport", "UnsplashProvider",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Recordings"]),

        // MARK: Quoting

        .target(name: "Quoting"),
        .testTarget(name: "QuotingTests", dependencies: ["Quoting"]),

        // MARK: Sandbox

        .target(name: "Sandbox", dependencies: ["CLinux", "CSandbox"]),
        .testTarget(name: "SandboxTests", dependencies: ["Sandbox", "TestSupport"]),

        // MARK: Secrets

        .target(name: "Secrets", dependencies: ["CLinux", "CSecret", "DBus", "ProviderKit"]),
        .testTarget(
            name: "SecretsTests", dependencies: ["DBus", "ProviderKit", "Secrets", "TestSupport"]),

        // MARK: ServiceSimulator

        .target(name: "ServiceSimulator", dependencies: ["LoopbackHTTP"]),

        // MARK: Storage

        .target(name: "Storage", dependencies: ["CSQLite"]),
        .testTarget(name: "StorageTests", dependencies: ["Storage", "TestSupport"]),

        // MARK: TestSupport

        .target(
            name: "TestSupport",
            dependencies: ["CSandbox", "ChildProcesses", "DBus", "LoopbackHTTP", "ProviderKit"]),

        // MARK: UnsplashSimulator

        .target(name: "UnsplashSimulator", dependencies: ["ServiceSimulator"]),
        .testTarget(
            name: "UnsplashSimulatorTests",
            dependencies: [
                "LoopbackHTTP", "TestSupport", "UnsplashSimulator", "unsplash-simulator",
            ]),
        .executableTarget(name: "unsplash-simulator", dependencies: ["UnsplashSimulator"]),

        // MARK: imagefeedctl

        .executableTarget(name: "imagefeedctl", dependencies: ["ControlCommands"]),

        // MARK: imagefeedd

        .executableTarget(
            name: "imagefeedd",
            dependencies: [
                "BusAPI", "BusService", "CLinux", "ChildProcesses", "Configuration",
                "DBus", "Engine", "EventLoop", "FileAccess", "HTTP", "Imaging", "LocalProvider",
                "MastodonProvider", "NetworkState", "Notifications", "Plugins", "ProviderKit",
                "Sandbox", "Secrets", "Storage", "UnsplashProvider",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "imagefeeddTests",
            dependencies: [
                "BusAPI", "DBus", "Engine", "LoopbackHTTP", "MastodonSimulator", "ProviderKit",
                "ServiceSimulator", "Storage", "TestSupport", "UnsplashSimulator", "imagefeedctl",
                "imagefeed-plugin-launcher", "imagefeedd", "immich-example", "mastodon-plugin",
                "unsplash-plugin",
            ],
            exclude: ["OlderVersions"]),
    ],
    swiftLanguageModes: [.v6]
)

// Who does not measure does not build what measures: see `dist/benchmark`.
if Context.environment["IMAGEFEED_BENCHMARK"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Benchmark",
            dependencies: [
                "BusAPI", "ChildProcesses", "DBus", "EventLoop", "LoopbackHTTP", "Plugins",
                "ProviderKit", "UnsplashProvider", "UnsplashSimulator",
                "imagefeed-plugin-launcher", .product(name: "Logging", package: "swift-log"),
            ]))
}

// Nor what looks for inputs that parsers stumble over: see `dist/fuzz`.
if Context.environment["IMAGEFEED_FUZZER"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer"),
        .executableTarget(
            name: "Fuzzer",
            dependencies: [
                "CFuzzer", "Configuration", "DBus", "Engine", "HTTP", "ImageMessages",
                "ImageMetadata", "MastodonProvider", "OAuth", "Plugins", "ProviderKit",
                "UnsplashProvider",
                .product(name: "Logging", package: "swift-log"),
            ]),
    ]
}

/// One thread owns the state of the programs: it is the main actor, whose event loop is the main
/// dispatch queue.
let mainActorTargets: Set = [
    "Benchmark", "BusService", "DBus", "Engine", "EventLoop", "HTTP", "Imaging", "NetworkState",
    "Notifications", "OAuth", "Plugins", "imagefeedctl", "imagefeedd",
]

for target in package.targets where target.type != .system {
    var settings = target.swiftSettings ?? []
    settings += [
        // `any` is written out: an existential costs.
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("ImmutableWeakCaptures"),
        .enableUpcomingFeature("InferIsolatedConformances"),
        // An import reaches no further than it says.
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        // An async function runs where its caller runs.
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ]
    if mainActorTargets.contains(target.name) {
        settings.append(.defaultIsolation(MainActor.self))
    }
    target.swiftSettings = settings
    // A library that is loaded when it is first needed is not loaded at the start: pkg-config names those, too.
    if target.type == .executable {
        var flags = ["-use-ld=lld", "-Xlinker", "--as-needed"]
        // What is written in C needs nothing of Swift's, which may not be there where it runs.
        if target.name == "imagefeed-plugin-launcher" {
            flags += ["-nostartfiles", "-static-stdlib"]
        }
        target.linkerSettings = [.unsafeFlags(flags)]
    }
}
