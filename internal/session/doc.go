// Package session tests providers by recorded sessions: files of requests with the answers they are to get.
//
// It owns the format of those files, which people read and write by hand, and what it takes to replay them: what a
// guest asks of the host is answered from the file, so that a replay needs no grants and gives the same answers
// everywhere. Files are foreign input: what stands in one is bounded and checked before it is used.
package session
