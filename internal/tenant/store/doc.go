// Package store keeps what a server hosts in one SQLite file.
//
// The file is serve.db in the folder of the server's data. It has a row for each tenant, plan and key, and serve.lock beside
// it lets one server at a time write it. A [Store] reads all rows when it is opened; from then on everything is read from
// memory, and one goroutine writes. A change is in force, and seen by readers, once it is on disk.
//
// Each row has a checksum, and the file one of all rows together: what is damaged is refused rather than served. The folder
// backup has copies of the file, one a day and one from before each change of its tables.
package store
