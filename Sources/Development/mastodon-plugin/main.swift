// The provider of Mastodon and Pixelfed as a program of its own: a proof that providers run either way. Not installed.

internal import MastodonProvider
internal import ProviderKit

ProviderKit.run(MastodonProvider())
