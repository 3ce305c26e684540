// Package keys authenticates the clients of tenants by API keys.
//
// The text of a key is as that of a token: wr_ID_RANDOM, see package tokens. It is shown once, when [New] or [Rotate] makes
// it; a [tenant.Key] has its SHA-256. A [Set] has the keys of all tenants, as the last snapshot has them, and an Identity for
// each key in use. Nothing here logs the text of a key, or puts it into an error.
package keys
