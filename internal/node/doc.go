// Package node runs a server of tenants. It reads the files of the operator, keeps what was decided in a store, serves
// tenants on the listeners, and reads the files again when they change.
package node
