package check

import "slices"

// A Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // clients will fail or be misled
	Warning Severity = "warning" // clients may be, or the check may be mistaken
)

// A Rule is what a provider is held to.
type Rule struct {
	Name     string // words of lower case with hyphens; never changes its meaning
	Severity Severity
	Broken   string // what is wrong when it is broken, in half a sentence
	Advice   string // what to do then
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
	ruleMetaReserved       = "meta-reserved"
)

var rules = []Rule{
	{ruleUnfinished, Error, "the check did not come to its end in time",
		"answer sooner, have fewer --samples read, or give it a longer --max-time"},
	{ruleManifest, Error, "the manifest contradicts itself or the ABI",
		"correct what the provider registers"},
	{ruleTemplateShadowed, Error, "a template matches the same URIs as another one",
		"declare one of them: the names of variables make no difference to the URIs that match"},
	{ruleListFails, Error, "the list cannot be read to its end",
		"answer every page; see the log with --log-level debug"},
	{ruleListEndless, Error, "the list does not end",
		"set a next cursor only when there is more, never one that was given before"},
	{ruleListUnstable, Error, "the list is another each time",
		"list in one order, whatever the order of maps and folders, and only what can be read"},
	{ruleListPaging, Error, "the list is another when its pages are smaller",
		"let the cursor lead to the first entry that did not fit"},
	{ruleCursorFails, Error, "a cursor that the provider did not give makes it fail",
		"answer invalid_params to a cursor that cannot be understood"},
	{ruleURIInvalid, Error, "a URI is not absolute, or malformed",
		"percent-encode what stands for itself in a URI, and begin with a scheme"},
	{ruleURIDuplicate, Error, "a URI is listed more than once",
		"list each resource once; those of the manifest are listed by the host"},
	{ruleReadFails, Error, "a resource cannot be read",
		"make it readable, or do not list it; wasmres read shows what happens"},
	{ruleTextInvalid, Error, "a text is not UTF-8",
		"send it as bytes, or convert it"},
	{ruleMIMEInvalid, Error, "a MIME type is malformed",
		"write it as type/subtype, as in text/plain; charset=utf-8"},
	{ruleMIMEDiffers, Error, "a content has another MIME type than its list entry or template says",
		"say the same in both places, or leave the type of a template with several out"},
	{ruleSizeDiffers, Error, "a content has another size than is said of it",
		"count bytes, not characters, or leave the size out"},
	{ruleETagStale, Error, "two versions of a resource have the same etag",
		"make the etag from what the content is made of"},
	{ruleETagMatch, Error, "a content is not modified for somebody who has another version, or none",
		"answer not_modified only when the etag asked with is the current one"},
	{ruleRangeWrong, Error, "a range is not what was asked for",
		"answer range_total and the bytes from the offset on, or else the whole without range_total"},
	{ruleNotFound, Error, "what is not there is answered, or fails in another way than not_found",
		"answer not_found to every URI that names nothing"},
	{ruleCompletionFails, Error, "a completion fails",
		"answer no values rather than an error"},
	{ruleCompletionWrong, Error, "a completion has values that cannot be, or too many",
		"answer at most 1000 values, each once, and a total that is no less"},
	{ruleCursorTaken, Warning, "a cursor that the provider did not give is answered with a page",
		"answer invalid_params to a cursor that cannot be understood"},
	{ruleContentURI, Warning, "a content names a URI that is neither the one asked for nor below it",
		"name the URI that was asked for, or those of a folder's children"},
	{ruleMIMEMissing, Warning, "bytes have no MIME type",
		"say what they are"},
	{ruleMIMESniffed, Warning, "bytes look like something else than their MIME type says",
		"correct the type, or ignore this if the bytes are right"},
	{ruleReadUnstable, Warning, "a resource reads differently each time, and does not say so",
		"give versions of it an etag or a time of change"},
	{ruleETagUnstable, Warning, "the same bytes have another etag each time",
		"make the etag from what the content is made of"},
	{ruleCompletionDangling, Warning, "a completed value leads to no resource",
		"complete only what can be read"},
	{ruleMetaReserved, Warning, "a key of _meta is reserved to MCP or to wasmres, and clients never see it",
		"give the key a prefix of your own, as in com.example/name"},
}

// Rules gives all rules, errors first.
func Rules() []Rule { return slices.Clone(rules) }

// rank is the place of a rule among the others.
func rank(name string) int {
	return slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
}
