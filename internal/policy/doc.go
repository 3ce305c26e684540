// Package policy is what an operator permits a provider, as a value and as YAML.
//
// It owns the format of policy files, which the tags of its structs define for package strict. It reads them strictly,
// compares and merges policies, says them in words, and makes them of flags and of other hosts' files. It grants nothing
// itself: packages of powers get what they may do from a Policy, by the one who opens them.
package policy
