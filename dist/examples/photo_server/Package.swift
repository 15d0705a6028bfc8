// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "photo_server",
    dependencies: [
        // A checkout of Image Feed; the path is relative to this file.
        .package(name: "imagefeed", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "photo_server", dependencies: [.product(name: "ProviderKit", package: "imagefeed")])
    ]
)
