// Package legacy serves the protocol revisions that open with a handshake, 2024-11-05 to 2025-11-25, through the
// official go-sdk.
//
// It owns the one *sdk.Server behind both transports: its HTTP handler with sessions, and one session for each stdio
// connection. The SDK keeps the handshake, the sessions and the framing; whatever concerns resources is answered by the
// core, and the SDK's own registry of resources stays empty. GET streams are served here, so that they can be resumed and
// replaced. The fronts before it may answer usual requests themselves,
// once a session is ready: it counts them among the session's, and ends them with it.
//
// Only internal/app imports it, and no other package but tests imports go-sdk. It checks neither origin nor host nor
// credentials, which is done in front of it, and knows nothing of revision 2026-07-28.
package legacy
