// Package secret reads secrets and keeps them out of logs.
//
// It owns the sources of secrets, and the type whose every printed form is "[redacted]". It does not know their use: a
// capability that may use a secret looks it up in the [Store] by name.
package secret
