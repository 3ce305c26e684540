// Code generated from abi/uritemplate by go generate ./guest-sdk. DO NOT EDIT.

// Package uritemplate matches a URI against RFC 6570 templates in reverse.
//
// It owns the template grammar (levels 1 to 4), the rule by which a URI is
// dealt out to the variables, and the order of specificity by which a router
// tries templates. Anyone who routes a resource URI may import it.
//
// It never expands a template, never compiles a regular expression, never
// touches the network or a guest, and never trusts a value: what it hands out
// is decoded, valid UTF-8, free of control characters and of "..".
//
// # How a URI is dealt out
//
// The URI and the literals are compared in normal form: an escaped unreserved
// or non-ASCII character equals the character itself, hex digits have no case.
//
//   - {x} takes one or more characters: unreserved, escaped, or non-ASCII.
//   - {+x} takes one or more of those or reserved characters. When a "?" or
//     "#" stands later in the template (literally, or as {?…} or {#…}), {+x}
//     leaves that character alone, so an unknown query key is never swallowed
//     as part of a path.
//   - {.x}, {/x}, {;x}, {?x}, {&x}, {#x} announce themselves by a character
//     and may be absent; after that character a value may be empty.
//   - {?x} and {&x} take "/", ":" and "@" too, which an expansion would escape:
//     people and models write them as they are.
//   - In {x,y} later variables may be absent, the first not. The separator of
//     an expression of several variables never belongs to a single value.
//   - {;…}, {?…} and {&…} match in any order, with omissions; an unknown key
//     or one repeated without "*" is no match. A comma in such a value
//     separates a list, which gives repeated Values.
//   - {x*} gives one Value for each element. {x:3} takes at most three
//     characters.
//
// Where several ways remain, the URI is read from its end: an expression that
// can be present is, and later variables take the least they can. So
// "{+dir}/{name}" leaves the last segment to name, "{stem}{.ext}" the last
// suffix to ext, and "{/dir*,name}" the last segment to name.
//
// # What a match costs
//
// A set of positions in the URI is a bitset, and each literal or variable maps
// one set to the next in one pass: a literal by Knuth-Morris-Pratt, a variable
// by one long addition (or about 2·log n of them for {x:n}), a query by one
// walk over its pairs. Nothing is ever tried twice, so a match takes at most
// (literals + variables) passes over the URI and that many bitsets of memory.
// The bounds (2 KiB of template, 32 expressions, 64 variables, 8 KiB of URI,
// 1024 values) keep the worst case at about half a millisecond and 800 KiB of
// memory, see BenchmarkMatchHostile; a usual match takes a quarter microsecond.
package uritemplate
