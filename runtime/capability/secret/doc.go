// Package secret keeps what must not be shown.
//
// It owns where secrets come from, and the type whose every printed form is "[redacted]". It knows nothing of what they
// are for: a power that may use one asks the [Store] for it by name.
package secret
