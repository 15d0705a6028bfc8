// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "immich",
    dependencies: [
        // A checkout of Image Feed; the path is relative to this file.
        .package(name: "imagefeed", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "immich", dependencies: [.product(name: "ProviderKit", package: "imagefeed")])
    ]
)
