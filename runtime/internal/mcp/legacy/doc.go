// Package legacy serves the protocol revisions that begin with a handshake, 2024-11-05 to 2025-11-25, through the official
// go-sdk.
//
// It has one *sdk.Server for both transports: HTTP with sessions, and one session for each pair of streams. The SDK
// does the handshake, stores the sessions, and frames messages. The core answers requests for resources; the SDK's own
// registry of resources stays empty. This package serves GET streams, so that clients can resume them and newer ones
// replace older ones. Once a session is ready, a front may answer its core requests by the core. The session counts
// them as its own, and cancels them when it ends.
//
// Its callers have checked the headers Host and Origin. No other package but tests imports go-sdk.
package legacy
