package check

import "slices"

// A Severity is the severity of a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // a client fails or is misled
	Warning Severity = "warning" // a client may fail, or the check may be wrong
)

// A Rule is a rule for the answers of a provider.
type Rule struct {
	Name     string // lower-case words with hyphens; never changes its meaning
	Severity Severity
	Broken   string // what is wrong with a provider that breaks it, in half a sentence
	Advice   string // what the author of the provider can do
}

// The names of the rules.
const (
	ruleUnfinished         = "unfinished"
	ruleManifest           = "manifest"
	ruleTemplateShadowed   = "template-shadowed"
	ruleListFails          = "list-fails"
	ruleListEndless        = "list-endless"
	ruleListUnstable       = "list-unstable"
	ruleListPaging         = "list-paging"
	ruleCursorFails        = "cursor-fails"
	ruleURIInvalid         = "uri-invalid"
	ruleURIDuplicate       = "uri-duplicate"
	ruleReadFails          = "read-fails"
	ruleTextInvalid        = "text-invalid"
	ruleMIMEInvalid        = "mime-invalid"
	ruleMIMEDiffers        = "mime-differs"
	ruleSizeDiffers        = "size-differs"
	ruleETagStale          = "etag-stale"
	ruleETagMatch          = "etag-match"
	ruleRangeWrong         = "range-wrong"
	ruleNotFound           = "not-found"
	ruleCompletionFails    = "completion-fails"
	ruleCompletionWrong    = "completion-wrong"
	ruleCursorTaken        = "cursor-taken"
	ruleContentURI         = "content-uri"
	ruleMIMEMissing        = "mime-missing"
	ruleMIMESniffed        = "mime-sniffed"
	ruleReadUnstable       = "read-unstable"
	ruleETagUnstable       = "etag-unstable"
	ruleCompletionDangling = "completion-dangling"
	ruleDirectoryUnlisted  = "directory-unlisted"
	ruleSkillInvalid       = "skill-invalid"
	ruleSkillUnstable      = "skill-unstable"
	ruleMetaReserved       = "meta-reserved"
	ruleEnginesDiffer      = "engines-differ"
)

var rules = []Rule{
	{ruleUnfinished, Error, "the check did not end in time",
		"answer sooner, or run the check with fewer --samples or a longer --max-time"},
	{ruleManifest, Error, "the manifest contradicts itself or the ABI",
		"correct what the provider registers"},
	{ruleTemplateShadowed, Error, "a template matches the same URIs as another one",
		"declare one of them: the names of variables make no difference to the URIs that match"},
	{ruleListFails, Error, "a page of the list or of a directory cannot be read",
		"answer every page; see the log with --log-level debug"},
	{ruleListEndless, Error, "the list or a directory does not end",
		"set a next cursor only when there is more, never one that was given before"},
	{ruleListUnstable, Error, "two passes over the list or a directory differ",
		"sort the list: maps and directories have no fixed order"},
	{ruleListPaging, Error, "the list or a directory differs with smaller pages",
		"set the next cursor to the first entry that did not fit"},
	{ruleCursorFails, Error, "a cursor that the provider did not give makes it fail",
		"answer invalid_params to an unknown cursor"},
	{ruleURIInvalid, Error, "a URI is not absolute, or malformed",
		"begin with a scheme, and percent-encode reserved characters in values"},
	{ruleURIDuplicate, Error, "a URI is listed more than once",
		"list each resource once; those of the manifest are listed by the host"},
	{ruleReadFails, Error, "a resource cannot be read",
		"make it readable, or do not list it; wasmres read shows the error"},
	{ruleTextInvalid, Error, "a text is not UTF-8",
		"send it as bytes, or convert it"},
	{ruleMIMEInvalid, Error, "a MIME type is malformed",
		"write it as type/subtype, as in text/plain; charset=utf-8"},
	{ruleMIMEDiffers, Error, "a content has a different MIME type than its list entry or template",
		"give both the same type, or give a template with several types none"},
	{ruleSizeDiffers, Error, "a content has a different size than its list entry or the content itself says",
		"count bytes, not characters, or leave the size out"},
	{ruleETagStale, Error, "two versions of a resource have the same etag",
		"compute the etag from everything the content depends on"},
	{ruleETagMatch, Error, "a read with another etag, or with none, is answered with not modified",
		"answer not_modified only if the etag of the request is the current one"},
	{ruleRangeWrong, Error, "a range has other bytes than the request asked for",
		"answer range_total and the bytes from the offset on, or all bytes without range_total"},
	{ruleNotFound, Error, "a resource that does not exist is answered, or fails with a code other than not_found",
		"answer not_found to every URI that names nothing"},
	{ruleDirectoryUnlisted, Error, "a listed directory has no children that a client can list",
		"register what lists directories, or give the resource another type"},
	{ruleSkillInvalid, Error, "a listed SKILL.md is not that of a skill that clients get",
		"correct its frontmatter, or the directory; or list the file under another name"},
	{ruleSkillUnstable, Error, "a skill has other digests at the second read",
		"answer each file of a skill with the same bytes until it changes"},
	{ruleCompletionFails, Error, "a completion fails",
		"answer no values rather than an error"},
	{ruleCompletionWrong, Error, "a completion has invalid, repeated or too many values",
		"answer at most 1000 values, each once, and a total of at least their number"},
	{ruleEnginesDiffer, Error, "a call ends in another way on the other engine, or cannot run there; only with --engines both",
		"this is a fault of an engine or of wasmres, and not of the provider: report it, with the files if the module may be seen"},
	{ruleCursorTaken, Warning, "a cursor that the provider did not give is answered with a page",
		"answer invalid_params to an unknown cursor"},
	{ruleContentURI, Warning, "a content has a URI that is neither the requested one nor below it",
		"set the requested URI, or those of a directory's children"},
	{ruleMIMEMissing, Warning, "a blob has no MIME type",
		"set the MIME type"},
	{ruleMIMESniffed, Warning, "the bytes look like another MIME type",
		"correct the type, or ignore this if the bytes are right"},
	{ruleReadUnstable, Warning, "a resource differs between reads without a new etag or time of change",
		"set an etag or a time of change"},
	{ruleETagUnstable, Warning, "the same bytes have different etags",
		"compute the etag from everything the content depends on"},
	{ruleCompletionDangling, Warning, "a completed value names no resource",
		"answer only values that can be read"},
	{ruleMetaReserved, Warning, "a key of _meta is reserved for MCP or wasmres, and the host removes it",
		"give the key a prefix of your own, as in com.example/name"},
}

// Rules returns all rules, errors first.
func Rules() []Rule { return slices.Clone(rules) }

// rank returns the index of a rule.
func rank(name string) int {
	return slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
}
