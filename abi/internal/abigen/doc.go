// Abigen writes the constants of package abi in the languages of the guest SDKs.
//
// It reads the source of package abi, so that a constant is written once. A language is one function that renders
// constants; see languages. Run it with go generate ./abi; a test here compares what it would write with what is there.
package main
