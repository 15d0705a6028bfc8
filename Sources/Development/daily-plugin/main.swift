// The provider of pictures of the day as a separate program, to test that providers run in both ways. Not installed.

internal import DailyProvider
internal import PluginRuntime

PluginRuntime.run(DailyProvider())
