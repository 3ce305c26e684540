// Package layout stores artifacts in a folder that is an OCI image layout (OCI image specification 1.1), so that oras,
// crane and skopeo can read it. Several processes may use a layout at once, and each may be killed at any time.
//
//	oci-layout          the version of the layout
//	index.json          the manifests with their names, replaced as a whole while index.lock is locked
//	index.lock          locked (flock) by a process that changes the index or removes files
//	blobs/sha256/HEX    manifests and blobs, complete and read-only
//	ingest/RANDOM       files that are being written, locked by their writers
//	zstd/HEX.zst        modules that have not been used lately, instead of the blob
//	pins/HEX            locked by the processes that use the manifest
//	used/HEX            the time of this file is when the module was last run
//
// A file gets its name in blobs only when its content is complete, verified and on disk. A manifest enters the index only
// when the layout has all that it names. What a method has acknowledged is on disk.
//
// Nothing in the folder is trusted: names of files come from digests that have been checked, links are refused, sizes are
// bounded before anything is allocated, and what [Repository.Fetch] and [Layout.Path] return has been verified.
//
// The package is one of two doors to klauspost/compress.
package layout
