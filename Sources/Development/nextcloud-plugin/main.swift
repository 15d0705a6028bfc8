// The provider of Nextcloud as a separate program, to test that providers run in both ways. Not installed.

internal import NextcloudProvider
internal import PluginRuntime

PluginRuntime.run(NextcloudProvider())
