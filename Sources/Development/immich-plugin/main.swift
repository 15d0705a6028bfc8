// The provider of Immich as a separate program, to test that providers run in both ways. Not installed.

internal import ImmichProvider
internal import PluginRuntime

PluginRuntime.run(ImmichProvider())
