// The provider of Unsplash as a separate program, to test that providers run in both ways. Not installed.

internal import ProviderKit
internal import UnsplashProvider

ProviderKit.run(UnsplashProvider())
