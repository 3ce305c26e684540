// Package clientconfig knows the configuration files of MCP clients, and changes the entry of one server in them.
//
// A change keeps all else in the file as it is, comments and layout included. It is checked before it is written: the file
// must mean the same as before, but for that entry. Files are foreign: a file that cannot be understood is not changed.
package clientconfig
