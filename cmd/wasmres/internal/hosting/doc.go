// Package hosting has the commands for servers of tenants: key, tenant, reload and top.
package hosting
