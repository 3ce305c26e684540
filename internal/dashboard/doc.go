// Package dashboard serves the web pages on which operators see and manage a server of tenants.
//
// All that a page shows and does is a request to the admin API on behalf of the person at the browser: the API decides what they
// may see and do, records it, and checks that nothing has changed since they saw it.
//
// # Who may use it
//
// A person signs in with an admin key, or with a certificate that the settings name. Their browser gets a cookie, which is good for eight hours, as long as the key is, and until
// they sign out; a restart of the server signs all out. Forms of other sites are refused.
package dashboard
