// Package certs authenticates the clients of tenants by the certificates that they show by TLS. A tenant names the authorities
// that sign them, and the roles of their names. Clients that send another credential, or have shown no certificate, are
// authenticated by that.
package certs
