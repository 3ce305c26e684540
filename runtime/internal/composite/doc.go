// Package composite makes one source of resources of several, its members.
//
// It decides which member a URI belongs to. It owns the order of lists with the entries of all members, and their
// cursors, also when a member fails. Package runtime may import it. It caches no entry and no content, and a failed
// member does not affect others.
//
// # Owners
//
// A member claims resources by their URI, templates, prefixes, and perhaps the rest. A URI belongs to the member with
// the most specific claim that matches: a resource goes first, then templates and prefixes in the order of
// [uritemplate.Compare], where a prefix counts as the template that goes on with {+rest}; the rest is the prefix of no
// characters. A member with prefixes owns nothing outside of them. [New] refuses two members with equal claims, so that
// the order of members never decides which one owns a URI.
//
// # Lists
//
// A list has the entries of each member in turn, in the order of the members. A page holds no more entries than
// Config.PageSize. For one page the source asks each member at most once, and for at most the remaining number of
// entries. It cuts off further entries of the answer, and asks for them again for the next page. It leaves out entries
// that belong to another member.
//
// If a member fails, or does not answer within Config.MemberTimeout, the list continues without it. The page says so,
// and must not be cached. Pages of a longer list must not be shared between clients, since a later page may be
// degraded.
//
// # Cursors
//
// A cursor says where a list continues: version, kind of list, member, number of entries of that member's page already
// listed, the member's own cursor, and a MAC, all in unpadded base64url. It is opaque, not secret. It is valid for the
// same members in the same order under the same key. The source checks the MAC before it reads the rest.
package composite
