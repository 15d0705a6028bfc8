// The provider of Unsplash as a program of its own: a proof that providers run either way. Not installed.

internal import ProviderKit
internal import UnsplashProvider

ProviderKit.run(UnsplashProvider())
