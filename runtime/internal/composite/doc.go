// Package composite makes one source of resources of several, its members.
//
// It owns which member a URI belongs to, the order of a list that has the entries of all, the cursors of such a list,
// and what becomes of a list when a member fails. Package runtime may import it. It never looks into a provider, caches no
// entry and no content, and does not let the failure of one member affect another.
//
// # Owners
//
// A member claims resources by their URI, templates, prefixes, and perhaps the rest. A URI belongs to the member with the
// most specific claim that matches: a resource goes first, then templates and prefixes in the order of
// [uritemplate.Compare], where a prefix counts as the template that goes on with {+rest}; the rest is the prefix of no
// characters. A member with prefixes owns nothing outside of them. [New] refuses two members with equal claims, so that
// the order of members never decides which one owns a URI, and no member takes over what another serves by coming first.
//
// # Lists
//
// A list has the entries of each member in turn, in the order of the members. A page holds no more entries than
// Config.PageSize. The source asks each member at most once for a page, for no more than the page has room for; it cuts
// off what a member answers beyond that, and asks for it again for the next page. It leaves out entries that belong to
// another member, so that no member lists what it does not serve.
//
// A member that fails, or does not answer within Config.MemberTimeout, is left out of the rest of the list, which goes on
// with the next one. The page says so, and must not be cached. A list of several pages must not be shared between
// clients, since one page does not know what the others will be.
//
// # Cursors
//
// A cursor says where a list goes on: version, kind of list, member, how much of that member's page has been listed,
// and the member's own cursor, then a MAC, all in unpadded base64url. It is opaque, not secret. It is valid for lists of
// the same members in the same order under the same key; the source refuses any other before it looks at anything in it.
package composite
