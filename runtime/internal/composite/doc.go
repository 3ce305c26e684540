// Package composite makes one source of resources of several, its members.
//
// It owns which member a URI belongs to, the order of a list that has the entries of all, the cursors of such a list,
// and what becomes of a list when a member fails. internal/app may import it. It never looks into a provider, never
// keeps an entry or a content, and never lets the failure of one member become another's.
//
// # Whose a URI is
//
// A member claims resources by their URI, templates, prefixes, and perhaps the rest. A URI belongs to the most specific
// claim it meets: a resource goes first, then templates and prefixes in the order of [uritemplate.Compare], where a
// prefix counts as the template that goes on with {+rest}; the rest is the prefix of no characters. A member with
// prefixes owns nothing outside of them. Two members must not claim the same, which [New] refuses, so that the order in
// which they are given never decides whose something is, and nobody takes over what another serves by coming first.
//
// # Lists
//
// A list has the entries of each member in turn, in the order of the members. A page holds no more entries than
// Config.PageSize, asks each member at most once, and no member for more than the page has room for: what a member
// answers beyond that is cut off, and asked for again for the next page. Entries that belong to another member are left
// out: nobody names what it does not serve.
//
// A member that fails, or does not answer within Config.Patience, is left out of the rest of the list, which goes on
// with the next one. The page says so, and may not be kept. Nothing of a list of several pages may be shared, since one
// page does not know what the others will turn out to be.
//
// # Cursors
//
// A cursor says where a list goes on: version, kind of list, member, how much of that member's page has been listed,
// and the member's own cursor, then a MAC, all in unpadded base64url. It is opaque, not secret. It holds for lists of
// the same members in the same order under the same key; any other is refused before anything in it is looked at.
package composite
