package main

import (
	"maps"
	"slices"
)

// glossary has the meaning of each word.
var glossary = map[string]string{
	"annotation":   "What a server says of a resource for clients: whom it is for, how important it is, when it changed.",
	"capability":   "Something a client or a server can do, said when a session begins or with each request.",
	"client":       "The side that asks: a program beside a model, which reads resources and calls tools.",
	"completion":   "Values a server suggests for a variable of a template while somebody types.",
	"cursor":       "A text that leads to the next page of a list. Only the server knows what it means.",
	"notification": "A message nobody answers, as that a resource was updated.",
	"provider":     "A WebAssembly module that serves resources through wasmres.",
	"resource":     "Something that can be read, named by a URI: a file, a row, a page.",
	"server":       "The side that answers: a program that has resources, tools or prompts.",
	"subscription": "A client's wish to hear when a resource has changed.",
	"template":     "A URI with variables, as in users://{id}: a family of resources.",
	"tool":         "Something a model can have done, by name and with arguments.",
}

// words gives the words there are, sorted.
func words() []string { return slices.Sorted(maps.Keys(glossary)) }
