// A provider for Image Feed that shows the photos of an Immich server: see imagefeed-providers(7). In this folder:
//
//     swift build --configuration release --static-swift-stdlib
//     providers=~/.local/share/imagefeed/providers
//     install -D --target-directory $providers/immich .build/release/immich
//     cp immich.provider $providers
//     imagefeedctl login immich --server photos.example.org --password-file -
//
// Create an API key in the account settings of Immich.
import PluginRuntime

PluginRuntime.run(Immich())
