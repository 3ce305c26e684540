// Package approval remembers which capabilities the user granted to which module, and asks the user at a terminal.
//
// Nothing is granted by default. A manifest requests capabilities, and an answer of the user is valid for the digest of
// one module. Answers are stored in a private folder, one file for each digest, to which neither providers nor clients
// can write.
//
// A new version has another digest. It inherits the grants of an earlier version if it requests no more, and if no
// other user can have put another provider in its place: it has the same name and the same path, and only the user and
// the system can write to the file and to the folders above it. The name alone proves nothing, since any provider can
// have it. A pinned approval is valid for its digest only. Revoking a version also ends inheritance from earlier ones.
package approval
