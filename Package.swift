// swift-tools-version: 6.2
import PackageDescription

// MARK: Tables

/// Products of other packages, by the names that the tables use.
let products: [String: Target.Dependency] = [
    "ArgumentParser": .product(name: "ArgumentParser", package: "swift-argument-parser"),
    "Logging": .product(name: "Logging", package: "swift-log"),
]

func dependencies(_ names: String) -> [Target.Dependency] {
    names.split(whereSeparator: \.isWhitespace).map { products["\($0)"] ?? .byName(name: "\($0)") }
}

func module(_ name: String, _ uses: String = "", in folder: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies(uses), path: "Sources/\(folder ?? name)")
}

func program(_ name: String, _ uses: String = "", in folder: String? = nil) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies(uses), path: "Sources/\(folder ?? name)")
}

/// The folder `samples` in that of the tests contains no sources.
func tests(_ name: String, _ uses: String, excluding samples: String? = nil) -> Target {
    .testTarget(
        name: name, dependencies: dependencies(uses), exclude: samples.map { [$0] } ?? [])
}

/// The C library that a module uses, and the package of Debian with its headers.
func library(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Target {
    .systemLibrary(
        name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig,
        providers: package.map { [.apt([$0])] })
}

// Without pkgConfig, a library is loaded when it is needed.
let libraries = [
    library("CCurl", package: "libcurl4-openssl-dev"),
    library("CCrypt"),
    library("CDBus", pkgConfig: "dbus-1", package: "libdbus-1-dev"),
    library("CExpat", package: "libexpat1-dev"),
    library("CGLib", pkgConfig: "glib-2.0", package: "libglib2.0-dev"),
    library("CHomepage"),
    library("CImages"),
    library("CLinux"),
    library("CProcesses"),
    library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    library("CSandbox"),
    library("CSecret", pkgConfig: "glib-2.0", package: "libglib2.0-dev"),
    library("CSwiftRuntime"),
    library("CTranslation"),
]

let modules = [
    module(
        "Contract",
        "CHomepage DBus ImageMetadata JSONFormat ProviderKit Quoting System Translation"),
    tests("ContractTests", "Contract DBus ImageMetadata System TestSupport"),
    module(
        "BusService",
        """
        Contract DBus EngineCore EngineModel Feeds JSONFormat ProviderKit Quoting SlideshowCore
        Storage System Translation Logging
        """),
    tests(
        "BusServiceTests",
        """
        BusService Contract DBus EngineCore EngineModel Feeds OAuth ProviderKit Services
        SlideshowCore Storage TestSupport Logging
        """),
    module("Configuration", "CGLib ProviderKit Quoting System Translation"),
    tests("ConfigurationTests", "Configuration TestSupport"),
    module(
        "ControlCommands",
        """
        Configuration Contract DBus ImageMetadata JSONFormat ProviderKit Quoting System Translation
        ArgumentParser
        """
    ),
    tests(
        "ControlCommandsTests",
        """
        Contract ControlCommands DBus JSONFormat LoopbackHTTP ProviderKit System TestSupport
        imagefeed-plugin-launcher
        imagefeed-provider-test imagefeedctl
        """),
    module("DBus", "CDBus Quoting System"),
    tests("DBusTests", "DBus TestSupport"),
    module("Desktop", "CLinux DBus EngineCore EngineModel ProviderKit System Translation Logging"),
    tests("DesktopTests", "DBus Desktop EngineCore EngineModel ProviderKit TestSupport Logging"),
    module(
        "EngineCore",
        """
        CLinux EngineModel Feeds Images Likes OAuth ProviderKit Quoting Services SlideshowCore
        Storage System Translation Logging
        """, in: "Engine/EngineCore"),
    tests(
        "EngineCoreTests",
        """
        EngineCore EngineModel Feeds ImageMetadata Images Likes ProviderKit Services SlideshowCore
        Storage System TestSupport Logging
        """),
    module("EngineModel", "ProviderKit Quoting Storage Translation", in: "Engine/EngineModel"),
    module(
        "Feeds", "EngineModel ProviderKit Quoting Storage System Translation Logging",
        in: "Engine/Feeds"),
    tests("FeedsTests", "EngineModel Feeds ProviderKit Storage System TestSupport Logging"),
    module(
        "Images",
        "CLinux EngineModel ImageMetadata ProviderKit Quoting Storage System Translation",
        in: "Engine/Images"),
    tests("ImagesTests", "EngineModel Images ProviderKit TestSupport"),
    module("Likes", "EngineModel ProviderKit Storage System Translation", in: "Engine/Likes"),
    tests("LikesTests", "EngineModel Likes ProviderKit Storage System TestSupport"),
    module(
        "Services",
        """
        EngineModel Feeds ImageMetadata Images Likes OAuth ProviderKit Quoting Storage System
        Translation Logging
        """, in: "Engine/Services"),
    module(
        "SlideshowCore", "EngineModel ProviderKit Quoting Storage System Translation Logging",
        in: "Engine/SlideshowCore"),
    tests(
        "SlideshowCoreTests",
        "EngineModel LoopbackHTTP ProviderKit SlideshowCore Storage System TestSupport Logging"),
    module("HTTP", "CCurl System Translation Web"),
    tests("HTTPTests", "HTTP TestSupport Translation Web"),
    module(
        "ImageClient",
        "CLinux ImageMetadata ImageProtocol ProviderKit Sandbox System Translation Logging",
        in: "ImageHelper/ImageClient"),
    module("ImageProtocol", "CLinux ImageMetadata Web", in: "ImageHelper/ImageProtocol"),
    module(
        "ImageHelper",
        "CImages CLinux ImageMetadata ImageProtocol Sandbox",
        in: "ImageHelper/ImageHelper"),
    program("imagefeed-image-helper", "ImageHelper", in: "ImageHelper/imagefeed-image-helper"),
    tests(
        "ImageHelperTests",
        """
        ImageClient ImageHelper ImageMetadata ImageProtocol ProviderKit System TestSupport
        Translation UnsplashSimulator imagefeed-image-helper Logging
        """, excluding: "Samples"),
    module("ImageMetadata", "Translation Web"),
    tests("ImageMetadataTests", "ImageMetadata TestSupport Web"),
    module("JSONFormat"),
    tests("JSONFormatTests", "JSONFormat"),
    module("OAuth", "CGLib CLinux JSONFormat ProviderKit Quoting System Translation"),
    tests("OAuthTests", "OAuth ProviderKit System TestSupport"),
    program("imagefeed-plugin-launcher", in: "Plugins/imagefeed-plugin-launcher"),
    program(
        "imagefeed-provider-test",
        """
        Configuration HTTP ImageMetadata JSONFormat OAuth PluginHosting PluginProtocol ProviderKit
        System Logging
        """,
        in: "Plugins/imagefeed-provider-test"),
    module(
        "PluginProtocol", "JSONFormat ProviderKit Quoting Translation", in: "Plugins/PluginProtocol"
    ),
    module(
        "PluginRuntime",
        "JSONFormat PluginProtocol ProviderKit Quoting System Translation Logging",
        in: "Plugins/PluginRuntime"),
    module(
        "PluginHosting",
        "Configuration JSONFormat PluginProtocol ProviderKit Quoting Sandbox System Translation Logging",
        in: "Plugins/PluginHosting"),
    tests(
        "PluginHostingTests",
        """
        HTTP JSONFormat LoopbackHTTP PluginHosting PluginProtocol ProviderKit ServiceSimulator
        TestSupport UnsplashProvider UnsplashSimulator imagefeed-plugin-launcher unsplash-plugin
        Logging
        """),
    module("ProviderKit", "ImageMetadata Quoting Translation Web Logging"),
    tests("ProviderKitTests", "JSONFormat ProviderKit TestSupport"),
    module(
        "LocalProvider",
        """
        CCrypt CGLib CLinux EngineModel ImageMetadata ProviderKit Quoting Storage System Translation
        Logging
        """, in: "Providers/Local"),
    tests(
        "LocalProviderTests",
        """
        EngineModel ImageMetadata LocalProvider ProviderKit Storage System TestSupport Translation
        Logging
        """),
    module("Quoting"),
    tests("QuotingTests", "Quoting"),
    module("Sandbox", "CLinux CSandbox"),
    tests("SandboxTests", "Sandbox TestSupport"),
    module("Secrets", "CLinux CSecret DBus System Translation Web"),
    tests("SecretsTests", "DBus Secrets TestSupport Web"),
    module("Storage", "CSQLite System Translation Logging"),
    tests("StorageTests", "LoopbackHTTP Storage TestSupport Translation Logging"),
    module("System", "CLinux CProcesses CSwiftRuntime Sandbox Translation"),
    tests("SystemTests", "System TestSupport event-loop-scenarios"),
    module("Translation", "CTranslation"),
    tests("TranslationTests", "Translation TestSupport imagefeedctl"),
    module("Web", "Quoting Translation"),
    tests("WebTests", "TestSupport Web"),
    module("XML", "CExpat"),
    tests("XMLTests", "Quoting XML"),
    program("imagefeedctl", "ControlCommands"),
    program(
        "imagefeedd",
        """
        BusService CLinux Configuration Contract DBus DailyProvider Desktop EngineCore HTTP
        ImageClient ImmichProvider LocalProvider MastodonProvider NextcloudProvider PluginHosting
        ProviderKit Sandbox Secrets SlideshowCore Storage System Translation UnsplashProvider
        Logging
        """),
    tests(
        "imagefeeddTests",
        """
        Contract DBus EngineCore EngineModel Feeds ImmichSimulator LoopbackHTTP MastodonSimulator
        NextcloudSimulator ProviderKit ServiceSimulator Storage TestSupport Translation
        UnsplashSimulator Web WikimediaSimulator daily-plugin imagefeed-plugin-launcher imagefeedctl imagefeedd
        immich-plugin mastodon-plugin nextcloud-plugin unsplash-plugin
        """),
]

let providers = [
    module("DailyProvider", "ProviderKit Quoting Translation WebService", in: "Providers/Daily"),
    tests(
        "DailyProviderTests",
        "DailyProvider HTTP ProviderKit TestSupport WebService WikimediaSimulator Logging",
        excluding: "Examples"),
    module(
        "ImmichProvider", "ImageMetadata JSONFormat ProviderKit Quoting Translation WebService",
        in: "Providers/Immich"),
    tests(
        "ImmichProviderTests",
        """
        HTTP ImmichProvider ImmichSimulator LoopbackHTTP ProviderKit TestSupport Translation
        WebService Logging
        """,
        excluding: "Examples"),
    module(
        "MastodonProvider", "ImageMetadata ProviderKit Quoting Translation WebService",
        in: "Providers/Mastodon"),
    tests(
        "MastodonProviderTests",
        """
        HTTP JSONFormat LoopbackHTTP MastodonProvider MastodonSimulator OAuth ProviderKit TestSupport
        Translation WebService Logging
        """,
        excluding: "Recordings"),
    module(
        "NextcloudProvider",
        "ImageMetadata JSONFormat ProviderKit Quoting Translation WebService XML Logging",
        in: "Providers/Nextcloud"
    ),
    tests(
        "NextcloudProviderTests",
        """
        HTTP LoopbackHTTP NextcloudProvider NextcloudSimulator ProviderKit TestSupport WebService XML
        Logging
        """,
        excluding: "Examples"),
    module(
        "UnsplashProvider", "ImageMetadata ProviderKit Quoting Translation WebService Logging",
        in: "Providers/Unsplash"),
    tests(
        "UnsplashProviderTests",
        "JSONFormat ProviderKit TestSupport Translation UnsplashProvider WebService Logging",
        excluding: "Recordings"),
    module(
        "WebService", "JSONFormat ProviderKit Quoting Translation Logging",
        in: "Providers/WebService"),
]

// Simulated services, support for tests, and programs that only tests start.
let development = [
    module("LoopbackHTTP", "CLinux", in: "Development/LoopbackHTTP"),
    module("ServiceSimulator", "LoopbackHTTP", in: "Development/ServiceSimulator"),
    module("ImmichSimulator", "ServiceSimulator", in: "Development/ImmichSimulator"),
    module("MastodonSimulator", "ServiceSimulator", in: "Development/MastodonSimulator"),
    module(
        "NextcloudSimulator", "Quoting ServiceSimulator XML",
        in: "Development/NextcloudSimulator"),
    module("WikimediaSimulator", "ServiceSimulator", in: "Development/WikimediaSimulator"),
    module("UnsplashSimulator", "ServiceSimulator", in: "Development/UnsplashSimulator"),
    tests("SimulatorTests", "JSONFormat MastodonSimulator TestSupport UnsplashSimulator Web"),
    program("unsplash-simulator", "UnsplashSimulator", in: "Development/unsplash-simulator"),
    program(
        "simulated-services",
        """
        ImmichSimulator MastodonSimulator NextcloudSimulator ServiceSimulator UnsplashSimulator
        WikimediaSimulator
        """, in: "Development/simulated-services"),
    program(
        "event-loop-scenarios", "CSwiftRuntime DispatchLoop LoopbackHTTP System",
        in: "Development/event-loop-scenarios"),
    module(
        "TestSupport",
        "CSandbox DBus DispatchLoop ImageMetadata LoopbackHTTP ProviderKit System Translation Logging",
        in: "Development/TestSupport"),
    module("DispatchLoop", "CLinux System", in: "Development/DispatchLoop"),
]

// The built-in providers as plugins, for tests.
let plugins = ["Daily", "Immich", "Mastodon", "Nextcloud", "Unsplash"].map {
    program(
        "\($0.lowercased())-plugin", "\($0)Provider PluginRuntime",
        in: "Development/\($0.lowercased())-plugin")
}

let package = Package(
    name: "imagefeed",
    products: [
        .executable(name: "imagefeedd", targets: ["imagefeedd"]),
        .executable(name: "imagefeedctl", targets: ["imagefeedctl"]),
        .library(name: "ProviderKit", targets: ["PluginRuntime", "ProviderKit", "Translation"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: libraries + modules + providers + development + plugins,
    swiftLanguageModes: [.v6]
)

// The benchmark is opt-in: see `dist/development/benchmark`.
if Context.environment["IMAGEFEED_BENCHMARK"] != nil {
    package.targets.append(
        program(
            "Benchmark",
            """
            Contract DBus LoopbackHTTP PluginHosting ProviderKit System Translation UnsplashProvider
            UnsplashSimulator imagefeed-plugin-launcher Logging
            """, in: "Development/Benchmark"))
}

// The fuzzer is opt-in: see `dist/development/fuzz`.
if Context.environment["IMAGEFEED_FUZZER"] != nil {
    package.targets += [
        library("CFuzzer"),
        program(
            "Fuzzer",
            """
            CFuzzer Configuration DBus DailyProvider Feeds HTTP ImageMetadata ImageProtocol
            ImmichProvider MastodonProvider NextcloudProvider OAuth PluginHosting PluginProtocol
            ProviderKit Quoting System UnsplashProvider XML Logging
            """, in: "Development/Fuzzer"),
    ]
}

// The window is opt-in, because it needs GTK: see `dist/build --viewer`.
if Context.environment["IMAGEFEED_VIEWER"] != nil {
    package.products.append(.executable(name: "imagefeed", targets: ["imagefeed"]))
    package.targets += [
        library("CAdwaita", pkgConfig: "libadwaita-1", package: "libadwaita-1-dev"),
        module("Toolkit", "CAdwaita System Translation"),
        module(
            "Viewer",
            """
            Contract Configuration DBus ImageClient ImageMetadata ProviderKit System Toolkit Translation
            Logging
            """
        ),
        tests("ViewerTests", "Contract DBus TestSupport Viewer"),
        program("imagefeed", "Viewer"),
    ]
    package.targets.first { $0.name == "Viewer" }?.resources = [.embedInCode("Style.css")]
}

// The tests of one module, with what they need, are a small package: see CONTRIBUTING.
if let name = Context.environment["IMAGEFEED_TESTS"] {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var needed: Set<String> = []
    func addTarget(_ name: String) {
        guard let target = targets[name], needed.insert(name).inserted else { return }
        for case .byNameItem(let name, _) in target.dependencies { addTarget(name) }
    }
    addTarget(name)
    package.products = []
    package.targets.removeAll { !needed.contains($0.name) }
}

/// One thread owns the state of the programs: it is the main actor, whose event loop is the main
/// dispatch queue.
let mainActorTargets: Set = [
    "Benchmark", "BusService", "DBus", "Desktop", "EngineCore", "EngineModel", "Feeds", "HTTP",
    "ImageClient", "Images", "Likes", "OAuth", "PluginHosting", "Services", "SlideshowCore",
    "Toolkit", "Viewer", "imagefeed", "imagefeed-provider-test", "imagefeedctl", "imagefeedd",
]

// Packages of distributions are built without a network: the folder contains the sources of the
// dependencies.
if let folder = Context.environment["IMAGEFEED_DEPENDENCIES"] {
    package.dependencies = ["swift-argument-parser", "swift-log"].map {
        .package(path: "\(folder)/\($0)")
    }
}

for target in package.targets where target.type != .system {
    var settings: [SwiftSetting] = [
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
    // Also in debug builds, in which loops over pixels take a hundred times longer, and simulated services take much of
    // the time of the tests.
    if target.name == "ImageHelper" || target.name.hasSuffix("Simulator") {
        settings.append(.unsafeFlags(["-O"]))
    }
    // Optimized tests take longer to build; they mostly wait for programs.
    if target.type == .test || target.name == "TestSupport" {
        settings.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
    }
    target.swiftSettings = settings
    // Without --as-needed, the libraries that pkg-config names would be loaded at the start of each program.
    if target.type == .executable {
        var flags = ["-use-ld=lld", "-Xlinker", "--as-needed"]
        // The launcher is written in C; its sandbox may not contain the Swift libraries.
        if target.name == "imagefeed-plugin-launcher" {
            flags += ["-nostartfiles", "-static-stdlib"]
        } else if Context.environment["IMAGEFEED_STATIC"] != nil,
            target.name.hasPrefix("imagefeed")
        {
            // The installed programs: the dynamic libraries of Swift need ten times the memory of the used parts. The
            // programs of tests cannot be linked in this way.
            flags += ["-static-stdlib", "-l_FoundationCollections", "-l_FoundationCShims"]
        }
        target.linkerSettings = [.unsafeFlags(flags)]
    }
}
