package abi

// A Request is what the host hands to an operation. Which fields an operation reads is said beside each; the others
// are zero.
type Request struct {
	URI         string     // read, complete, subscribe, unsubscribe, poll; for complete the template's text
	Route       uint32     // read, subscribe, poll: 1-based index into Manifest.Templates; 0 when no template matched
	Vars        []Var      // variables of the matched template, decoded; for complete the variables already resolved
	Cursor      string     // list: where to go on; empty for the start
	Limit       uint32     // list: soft page size; 0 leaves it to the guest
	RangeOffset uint64     // read: first byte wanted, only when the template declares ranges
	RangeLength uint64     // read: bytes wanted; 0 for all
	IfNoneMatch string     // read, poll: etag the asker has
	MaxBytes    uint64     // read: body refuses more
	Arg         string     // complete: variable name
	Value       string     // complete: what has been typed so far
	Principal   *Principal // who asks; nil on transports without authentication
	Meta        string     // JSON object: the request's _meta without reserved keys; empty for none
	Config      string     // configure: JSON object
	HostMinor   uint32     // configure: the host's Minor

	// Session names the MCP session that asks; empty when there is none. It stays with the host: it is not encoded.
	Session string
}

// A Var is one template variable; exploded lists repeat the name.
type Var struct {
	Name, Value string
}

// A Principal is the authenticated asker.
type Principal struct {
	Subject string
	Tenant  string
	Scopes  []string
	Claims  string // JSON object; empty for none
}

// A Reply is everything a guest emitted in one call, but for contents, which flow through a [Sink] while the guest
// runs.
type Reply struct {
	Resources       []Resource  // list
	Templates       []Template  // reserved for guests with dynamic templates
	NextCursor      string      // list: empty when this page is the last
	Error           *GuestError // only with a non-zero code
	Completions     []string    // complete
	CompletionTotal uint32      // complete: how many there are in all; 0 when unknown
	CompletionMore  bool        // complete: there are more than those given
	Manifest        *Manifest   // describe
	TTLMillis       uint64      // list, read: how long the result stays fresh
	CacheScope      CacheScope  // list, read
	PollMillis      uint32      // subscribe: ask with poll this often; 0 for never
}

// A CacheScope says who may be served a cached result.
type CacheScope uint32

// The cache scopes.
const (
	CachePrivate CacheScope = 0 // only who asked
	CachePublic  CacheScope = 1 // anybody
)

// A Resource is one entry of a list, as in the MCP specification.
type Resource struct {
	URI          string
	Name         string
	Title        string
	Description  string
	MIMEType     string
	Size         uint64   // bytes; 0 when unknown
	Priority     float64  // 0..1; NaN when not given
	LastModified string   // RFC 3339; empty when unknown
	Audience     Audience // zero when not given
	Icons        []Icon
	Meta         string // JSON object; empty for none
}

// An Audience is a set of those a resource is meant for.
type Audience uint32

// Members of an Audience.
const (
	AudienceUser      Audience = 1 << 0
	AudienceAssistant Audience = 1 << 1
)

// A Template is a family of resources named by an RFC 6570 URI template.
type Template struct {
	URITemplate string
	Name        string
	Title       string
	Description string
	MIMEType    string
	Priority    float64 // 0..1; NaN when not given
	Audience    Audience
	Icons       []Icon
	Meta        string   // JSON object; empty for none
	Completes   []string // variables the guest completes
	Ranges      bool     // read honours RangeOffset and RangeLength
	TTLMillis   uint64
	CacheScope  CacheScope
}

// An Icon is a picture a client may show beside a resource.
type Icon struct {
	Source   string
	MIMEType string
	Sizes    []string // as in "48x48" or "any"
	Theme    string   // "light", "dark" or empty
}

// A Kind says whether a content is text or bytes.
type Kind uint32

// The kinds.
const (
	KindNone Kind = 0 // no body, as when not modified
	KindText Kind = 1 // UTF-8
	KindBlob Kind = 2
)

// A Content is the head of one content of a read; its bytes follow, inline or through body.
type Content struct {
	URI          string
	MIMEType     string
	Kind         Kind
	Inline       []byte // bytes emitted with the head; a view of the frame, valid until the call that handed it out returns
	Size         uint64 // bytes in all if the guest knows; 0 otherwise; never trusted
	ETag         string
	LastModified string // RFC 3339
	Meta         string // JSON object; empty for none
	NotModified  bool   // the asker's etag is current
	RangeTotal   uint64 // bytes of the whole when this is a range
}

// Progress is how far a running read has come, as the guest tells it.
type Progress struct {
	Done    float64
	Total   float64 // 0 when unknown
	Message string
}

// A Sink takes the contents of a read in order while the guest runs. An error stops the guest and becomes the outcome
// of the call. What is handed over is valid until the method returns.
type Sink interface {
	// Content begins the next content. Its Inline bytes come again through Body.
	Content(c *Content) error
	// Body appends bytes to the content last begun.
	Body(p []byte) error
	// Progress reports on the call; it may be dropped.
	Progress(p Progress)
}

// A GuestError is what a guest says about a failure.
type GuestError struct {
	Message          string
	Data             string // JSON text; empty for none
	RetryAfterMillis uint64
}

// A ConfigRequest asks for one configuration value.
type ConfigRequest struct{ Key string }

// A ConfigResponse carries it.
type ConfigResponse struct{ Value string }

// A NotifyRequest names the resource that has changed.
type NotifyRequest struct{ URI string }

// A FileRequest names a file or folder of a granted directory. Paths are absolute and slash-separated.
type FileRequest struct {
	Path    string
	Offset  uint64 // read: first byte
	Length  uint64 // read: most bytes; list: most entries; 0 for as many as one answer holds
	After   string // list: name of the last entry already seen
	Data    []byte // write: what the file is to hold, or what is added to it
	Appends bool   // write: is put after what there is, not in its place
}

// A FileResponse describes what was found.
type FileResponse struct {
	Files []File // list: sorted by name
	More  bool   // list: there are entries after these
}

// A File is one regular file or folder.
type File struct {
	Name           string // last element of the path
	Size           uint64 // bytes; 0 for a folder
	ModifiedMillis int64  // since 1970-01-01 UTC
	Dir            bool
}
