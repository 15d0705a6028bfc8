// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "imagefeed",
    products: [
        .executable(name: "imagefeedd", targets: ["imagefeedd"]),
        .executable(name: "imagefeedctl", targets: ["imagefeedctl"]),
        .library(name: "ProviderKit", targets: ["PluginRuntime", "ProviderKit"]),
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
        .systemLibrary(name: "CExpat", providers: [.apt(["libexpat1-dev"])]),
        .systemLibrary(name: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CImages"),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(
            name: "CPango", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CProcesses"),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSandbox"),
        .systemLibrary(
            name: "CSecret", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CSwiftRuntime"),

        // MARK: BusAPI

        .target(name: "BusAPI", dependencies: ["DBus", "System"]),
        .testTarget(
            name: "BusAPITests", dependencies: ["BusAPI", "DBus", "System", "TestSupport"]),

        // MARK: BusService

        .target(
            name: "BusService",
            dependencies: [
                "BusAPI", "DBus", "Engine", "System", "ProviderKit", "Quoting", "Storage",
            ]),
        .testTarget(
            name: "BusServiceTests",
            dependencies: [
                "BusAPI", "BusService", "DBus", "Engine", "OAuth", "ProviderKit", "Storage",
                "TestSupport", .product(name: "Logging", package: "swift-log"),
            ]),

        // MARK: Configuration

        .target(name: "Configuration", dependencies: ["CGLib", "Quoting", "System"]),
        .testTarget(name: "ConfigurationTests", dependencies: ["Configuration", "TestSupport"]),

        // MARK: ControlCommands

        .target(
            name: "ControlCommands",
            dependencies: [
                "BusAPI", "System", "DBus", "Quoting",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(
            name: "ControlCommandsTests",
            dependencies: [
                "BusAPI", "ControlCommands", "DBus", "LoopbackHTTP", "System", "TestSupport",
                "imagefeed-plugin-launcher", "imagefeed-provider-test", "imagefeedctl",
            ]),

        // MARK: DBus

        .target(name: "DBus", dependencies: ["CDBus", "System", "Quoting"]),
        .testTarget(name: "DBusTests", dependencies: ["DBus", "TestSupport"]),

        // MARK: Desktop

        .target(
            name: "Desktop",
            dependencies: [
                "CLinux", "DBus", "Engine", "ProviderKit", "System",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "DesktopTests",
            dependencies: [
                "DBus", "Desktop", "Engine", "ProviderKit", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // MARK: Development

        .target(
            name: "LoopbackHTTP", dependencies: ["CLinux"], path: "Sources/Development/LoopbackHTTP"
        ),
        .target(
            name: "ServiceSimulator", dependencies: ["LoopbackHTTP"],
            path: "Sources/Development/ServiceSimulator"),
        .target(
            name: "ImmichSimulator", dependencies: ["ServiceSimulator"],
            path: "Sources/Development/ImmichSimulator"),
        .target(
            name: "MastodonSimulator", dependencies: ["ServiceSimulator"],
            path: "Sources/Development/MastodonSimulator"),
        .testTarget(
            name: "MastodonSimulatorTests", dependencies: ["MastodonSimulator", "TestSupport"]),
        .target(
            name: "NextcloudSimulator", dependencies: ["ServiceSimulator", "XML"],
            path: "Sources/Development/NextcloudSimulator"),
        .target(
            name: "WikimediaSimulator", dependencies: ["ServiceSimulator"],
            path: "Sources/Development/WikimediaSimulator"),
        .target(
            name: "UnsplashSimulator", dependencies: ["ServiceSimulator"],
            path: "Sources/Development/UnsplashSimulator"),
        .testTarget(
            name: "UnsplashSimulatorTests",
            dependencies: [
                "LoopbackHTTP", "TestSupport", "UnsplashSimulator", "unsplash-simulator",
            ]),
        .executableTarget(
            name: "unsplash-simulator", dependencies: ["UnsplashSimulator"],
            path: "Sources/Development/unsplash-simulator"),
        // All simulators in a process of its own, for the tests of the window.
        .executableTarget(
            name: "simulated-services",
            dependencies: [
                "ImmichSimulator", "MastodonSimulator", "NextcloudSimulator", "ServiceSimulator",
                "UnsplashSimulator", "WikimediaSimulator",
            ],
            path: "Sources/Development/simulated-services"),
        // The event loop in a process of its own, for tests.
        .executableTarget(
            name: "event-loop-scenarios", dependencies: ["LoopbackHTTP", "System"],
            path: "Sources/Development/event-loop-scenarios"),
        // The built-in providers as plugins, for tests.
        .executableTarget(
            name: "daily-plugin", dependencies: ["DailyProvider", "PluginRuntime"],
            path: "Sources/Development/daily-plugin"),
        .executableTarget(
            name: "immich-plugin", dependencies: ["ImmichProvider", "PluginRuntime"],
            path: "Sources/Development/immich-plugin"),
        .executableTarget(
            name: "mastodon-plugin", dependencies: ["MastodonProvider", "PluginRuntime"],
            path: "Sources/Development/mastodon-plugin"),
        .executableTarget(
            name: "nextcloud-plugin", dependencies: ["NextcloudProvider", "PluginRuntime"],
            path: "Sources/Development/nextcloud-plugin"),
        .executableTarget(
            name: "unsplash-plugin", dependencies: ["PluginRuntime", "UnsplashProvider"],
            path: "Sources/Development/unsplash-plugin"),
        .target(
            name: "TestSupport",
            dependencies: ["CSandbox", "DBus", "LoopbackHTTP", "ProviderKit", "System"],
            path: "Sources/Development/TestSupport"),

        // MARK: Engine

        .target(
            name: "Engine",
            dependencies: [
                "CLinux", "ImageMetadata", "OAuth", "ProviderKit", "Quoting", "Storage", "System",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "EngineTests",
            dependencies: [
                "Engine", "ImageMetadata", "ProviderKit", "Storage", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // MARK: HTTP

        .target(name: "HTTP", dependencies: ["CCurl", "ProviderKit", "System"]),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "ProviderKit", "TestSupport"]),

        // MARK: ImageHelper

        .target(
            name: "ImageClient",
            dependencies: [
                "CLinux", "ImageProtocol", "ProviderKit", "System",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/ImageHelper/Client"),
        .target(
            name: "ImageProtocol", dependencies: ["CLinux"], path: "Sources/ImageHelper/Protocol"),
        .target(
            name: "ImageHelper",
            dependencies: [
                "CImages", "CLinux", "CPango", "ImageMetadata", "ImageProtocol", "ProviderKit",
                "Sandbox",
            ],
            path: "Sources/ImageHelper/Helper",
            // Also in debug builds, whose pixel loops would take a hundred times longer.
            swiftSettings: [.unsafeFlags(["-O"])]),
        .executableTarget(
            name: "imagefeed-image-helper", dependencies: ["ImageHelper"],
            path: "Sources/ImageHelper/imagefeed-image-helper"),
        .testTarget(
            name: "ImageHelperTests",
            dependencies: [
                "ImageClient", "ImageHelper", "ImageMetadata", "ImageProtocol", "ProviderKit",
                "System", "TestSupport", "UnsplashSimulator", "imagefeed-image-helper",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Samples"]),

        // MARK: ImageMetadata

        .target(name: "ImageMetadata", dependencies: ["ProviderKit"]),
        .testTarget(
            name: "ImageMetadataTests",
            dependencies: ["ImageMetadata", "ProviderKit", "TestSupport"]),

        // MARK: OAuth

        .target(name: "OAuth", dependencies: ["CGLib", "CLinux", "ProviderKit", "System"]),
        .testTarget(
            name: "OAuthTests", dependencies: ["OAuth", "ProviderKit", "System", "TestSupport"]),

        // MARK: Plugins

        .executableTarget(
            name: "imagefeed-plugin-launcher", path: "Sources/Plugins/imagefeed-plugin-launcher"),
        .executableTarget(
            name: "imagefeed-provider-test",
            dependencies: [
                "Configuration", "HTTP", "PluginProtocol", "Plugins", "ProviderKit", "System",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Plugins/imagefeed-provider-test"),
        .target(
            name: "PluginProtocol", dependencies: ["ProviderKit"],
            path: "Sources/Plugins/Protocol"),
        .target(
            name: "PluginRuntime",
            dependencies: [
                "PluginProtocol", "ProviderKit", "Quoting", "System",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Plugins/Runtime"),
        .target(
            name: "Plugins",
            dependencies: [
                "Configuration", "PluginProtocol", "ProviderKit", "Quoting", "Sandbox", "System",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Plugins/Host"),
        .testTarget(
            name: "PluginsTests",
            dependencies: [
                "HTTP", "LoopbackHTTP", "PluginProtocol", "Plugins", "ProviderKit",
                "ServiceSimulator", "TestSupport", "UnsplashProvider", "UnsplashSimulator",
                "imagefeed-plugin-launcher",
                "unsplash-plugin",
                .product(name: "Logging", package: "swift-log"),
            ]),

        // MARK: ProviderKit

        .target(
            name: "ProviderKit",
            dependencies: ["Quoting", .product(name: "Logging", package: "swift-log")]),
        .testTarget(name: "ProviderKitTests", dependencies: ["ProviderKit", "TestSupport"]),

        // MARK: Providers

        .target(
            name: "DailyProvider",
            dependencies: [
                "ProviderKit", "Quoting", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Providers/Daily"),
        .testTarget(
            name: "DailyProviderTests",
            dependencies: [
                "DailyProvider", "HTTP", "ProviderKit", "TestSupport", "WikimediaSimulator",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Examples"]),

        .target(
            name: "ImmichProvider",
            dependencies: [
                "ProviderKit", "Quoting", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Providers/Immich"),
        .testTarget(
            name: "ImmichProviderTests",
            dependencies: [
                "HTTP", "ImmichProvider", "ImmichSimulator", "LoopbackHTTP", "ProviderKit",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Examples"]),

        .target(
            name: "LocalProvider",
            dependencies: [
                "CCrypt", "CGLib", "CLinux", "System", "ImageMetadata", "ProviderKit",
                "Quoting",
                "Storage",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Providers/Local"),
        .testTarget(
            name: "LocalProviderTests",
            dependencies: [
                "System", "ImageMetadata", "LocalProvider", "ProviderKit", "Storage",
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
            name: "NextcloudProvider",
            dependencies: [
                "ProviderKit", "Quoting", "XML", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Providers/Nextcloud"),
        .testTarget(
            name: "NextcloudProviderTests",
            dependencies: [
                "HTTP", "LoopbackHTTP", "NextcloudProvider", "NextcloudSimulator", "ProviderKit",
                "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Examples"]),

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

        // MARK: Storage

        .target(name: "Storage", dependencies: ["CSQLite"]),
        .testTarget(name: "StorageTests", dependencies: ["Storage", "TestSupport"]),

        // MARK: System

        .target(name: "System", dependencies: ["CLinux", "CProcesses", "CSwiftRuntime"]),
        .testTarget(
            name: "SystemTests", dependencies: ["System", "TestSupport", "event-loop-scenarios"]),

        // MARK: XML

        .target(name: "XML", dependencies: ["CExpat"]),
        .testTarget(name: "XMLTests", dependencies: ["XML"]),

        // MARK: imagefeedctl

        .executableTarget(name: "imagefeedctl", dependencies: ["ControlCommands"]),

        // MARK: imagefeedd

        .executableTarget(
            name: "imagefeedd",
            dependencies: [
                "BusAPI", "BusService", "CLinux", "System", "Configuration", "DBus",
                "DailyProvider", "Engine", "HTTP", "ImageClient", "ImmichProvider", "LocalProvider",
                "MastodonProvider", "NextcloudProvider",
                "Desktop", "Plugins",
                "ProviderKit", "Sandbox", "Secrets", "Storage", "UnsplashProvider",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "imagefeeddTests",
            dependencies: [
                "BusAPI", "DBus", "Engine", "ImmichSimulator", "LoopbackHTTP", "MastodonSimulator",
                "NextcloudSimulator", "ProviderKit", "ServiceSimulator", "Storage", "TestSupport",
                "UnsplashSimulator", "WikimediaSimulator", "daily-plugin",
                "imagefeedctl", "imagefeed-plugin-launcher", "imagefeedd", "immich-plugin",
                "mastodon-plugin", "nextcloud-plugin", "unsplash-plugin",
            ],
            exclude: ["OlderVersions"]),
    ],
    swiftLanguageModes: [.v6]
)

// The benchmark is opt-in: see `dist/benchmark`.
if Context.environment["IMAGEFEED_BENCHMARK"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Benchmark",
            dependencies: [
                "BusAPI", "System", "DBus", "LoopbackHTTP", "Plugins", "ProviderKit",
                "UnsplashProvider", "UnsplashSimulator", "imagefeed-plugin-launcher",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Development/Benchmark"))
}

// The fuzzer is opt-in: see `dist/fuzz`.
if Context.environment["IMAGEFEED_FUZZER"] != nil {
    package.targets += [
        .systemLibrary(name: "CFuzzer"),
        .executableTarget(
            name: "Fuzzer",
            dependencies: [
                "CFuzzer", "Configuration", "DBus", "DailyProvider", "Engine", "HTTP",
                "ImageMetadata",
                "ImageProtocol", "ImmichProvider", "MastodonProvider", "NextcloudProvider", "OAuth",
                "PluginProtocol", "Plugins",
                "ProviderKit", "UnsplashProvider", "XML",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Development/Fuzzer"),
    ]
}

// The window is opt-in, because it needs GTK: see `dist/build --viewer`.
if Context.environment["IMAGEFEED_VIEWER"] != nil {
    package.products.append(.executable(name: "imagefeed", targets: ["imagefeed"]))
    package.targets += [
        .systemLibrary(
            name: "CAdwaita", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        .target(name: "Toolkit", dependencies: ["CAdwaita", "System"]),
        .target(
            name: "Viewer",
            dependencies: [
                "BusAPI", "Configuration", "DBus", "ImageClient", "ProviderKit", "System",
                "Toolkit", .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(name: "ViewerTests", dependencies: ["DBus", "Viewer"]),
        .executableTarget(name: "imagefeed", dependencies: ["Viewer"]),
    ]
}

/// One thread owns the state of the programs: it is the main actor, whose event loop is the main
/// dispatch queue.
let mainActorTargets: Set = [
    "Benchmark", "BusService", "DBus", "Desktop", "Engine", "HTTP", "ImageClient", "OAuth",
    "Plugins", "Toolkit", "Viewer", "imagefeed", "imagefeed-provider-test", "imagefeedctl",
    "imagefeedd",
]

// Packages of distributions are built without a network: the folder contains the sources of the
// dependencies.
if let folder = Context.environment["IMAGEFEED_DEPENDENCIES"] {
    package.dependencies = ["swift-argument-parser", "swift-log"].map {
        .package(path: "\(folder)/\($0)")
    }
}

for target in package.targets where target.type == .system {
    target.path = "Sources/C/\(target.name)"
}

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
    // Without --as-needed, the libraries that pkg-config names would be loaded at the start of each program.
    if target.type == .executable {
        var flags = ["-use-ld=lld", "-Xlinker", "--as-needed"]
        // The launcher is written in C; its sandbox may not contain the Swift libraries.
        if target.name == "imagefeed-plugin-launcher" {
            flags += ["-nostartfiles", "-static-stdlib"]
        }
        target.linkerSettings = [.unsafeFlags(flags)]
    }
}
