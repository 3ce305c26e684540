// Package blobs keeps the modules of versions by their digests, in a folder of one server.
//
// A blob is written to the folder ingest, and moved to sha256/HEX when it is whole and on disk. So a file below sha256 is a
// whole blob, unless the disk or another program has changed it; [Store.Open] finds that out before anything runs.
package blobs
