// Package session tests providers with recorded sessions. A recorded session is a text file of requests and the answers
// a provider must give to them.
//
// The package has the format of those files and replays them. In a replay the file answers for the services of the host,
// so that a replay needs no grants and gives the same result on every machine. Files are untrusted input: the package
// checks their bounds before it uses what they hold.
package session
