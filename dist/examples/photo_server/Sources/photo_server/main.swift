// An example of a provider in Swift with an API key: see imagefeed-providers(7). It shows the photos of an Immich server, as
// the built-in provider does, with a small part of its features. In this folder:
//
//     swift build --configuration release --static-swift-stdlib
//     providers=~/.local/share/imagefeed/providers
//     install -D --target-directory $providers/photo_server .build/release/photo_server
//     cp photo_server.provider $providers
//     imagefeedctl login photo_server --server photos.example.org --password-file -
//
// Create an API key in the account settings of Immich.
import PluginRuntime

PluginRuntime.run(Immich())
