// Package usage counts what tenants use, for bills: for each provider, version and hour. Each thing is counted once. A process
// that is killed loses at most the last ten seconds.
package usage
