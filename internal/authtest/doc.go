// Package authtest is an OAuth issuer for tests, which does as it is told: it issues access tokens with any defect, rotates its keys,
// and answers requests slowly, wrongly or not at all. It signs with the standard library alone, so that it shares no code with
// what it tests.
package authtest
