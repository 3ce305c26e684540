// Package machine has the commands doctor and cache, about what this machine gives providers.
package machine
