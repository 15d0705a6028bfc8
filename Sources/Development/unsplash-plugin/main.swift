// The provider of Unsplash as a separate program, to test that providers run in both ways. Not installed.

internal import PluginRuntime
internal import UnsplashProvider

PluginRuntime.run(UnsplashProvider())
