// The provider of Mastodon and Pixelfed as a separate program, to test that providers run in both ways. Not installed.

internal import MastodonProvider
internal import PluginRuntime

PluginRuntime.run(MastodonProvider())
