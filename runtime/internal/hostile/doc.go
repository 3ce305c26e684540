// Package hostile is the corpus of attacks that the runtime must survive: what each is, how its module is made and how
// it must end.
//
// It owns the catalogue ([Cases]), a generator of providers that attack in one phase of their life and are honest in all
// others ([Generated]), one that asks for all a guest can get ([Probe]), and the programs that make modules no text format
// can express. Its tests run every case in a process of its own, beside a neighbour that must not notice, and hold it to
// bounds of time and memory. What WebAssembly text can say is in the folder modules.
//
// A case that has become harmless stays.
package hostile
