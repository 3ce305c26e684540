// Package test has the command test, which replays recorded sessions.
package test
