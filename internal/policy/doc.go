// Package policy is what an operator permits a provider, as a value and as YAML.
//
// It owns the format of policy files, which the tags of its structs define for package strict. It reads them strictly,
// compares and merges policies, describes them in words, and makes them of flags and of other MCP hosts' files. It
// grants nothing itself: package app opens the capabilities that a Policy permits.
package policy
