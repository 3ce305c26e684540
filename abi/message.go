package abi

// A Request is the input of an operation. The operations that read a field stand beside it; for others it is zero.
type Request struct {
	URI         string     // read, complete, subscribe, unsubscribe, poll; for complete the text of the template
	Route       uint32     // read, subscribe, poll: 1-based index into Manifest.Templates; 0 when no template matched
	Vars        []Var      // variables of the matched template, decoded; for complete the variables already resolved
	Cursor      string     // list: where the page begins; empty for the start
	Limit       uint32     // list: soft page size; 0 leaves it to the guest
	RangeOffset uint64     // read: first byte, only when the template declares ranges
	RangeLength uint64     // read: number of bytes; 0 for all
	IfNoneMatch string     // read, poll: etag the client has
	MaxBytes    uint64     // read: most bytes that body accepts
	Arg         string     // complete: variable name
	Value       string     // complete: what has been typed so far
	Principal   *Principal // the client; nil on transports without authentication
	Meta        string     // JSON object: the request's _meta without reserved keys; empty for none
	Config      string     // configure: JSON object
	HostMinor   uint32     // configure: the host's Minor

	// Session names the MCP session of the client; empty when there is none. The host does not encode it.
	Session string
}

// A Var is one template variable; exploded lists repeat the name.
type Var struct {
	Name, Value string
}

// A Principal is an authenticated client.
type Principal struct {
	Subject string
	Tenant  string
	Scopes  []string
	Claims  string // JSON object; empty for none
}

// A Reply is all that a guest emitted in one call except contents. Those go to a [Sink] while the guest runs.
type Reply struct {
	Resources       []Resource  // list
	Templates       []Template  // reserved for guests with dynamic templates
	NextCursor      string      // list: empty when this page is the last
	Error           *GuestError // only with a non-zero code
	Completions     []string    // complete
	CompletionTotal uint32      // complete: how many there are in all; 0 when unknown
	CompletionMore  bool        // complete: there are more than those given
	Manifest        *Manifest   // describe
	TTLMillis       uint64      // list, read: how long a client may cache the result
	CacheScope      CacheScope  // list, read
	PollMillis      uint32      // subscribe: how often the host sends poll; 0 for never
}

// A CacheScope says to which clients a cached result may be served.
type CacheScope uint32

// The cache scopes.
const (
	CachePrivate CacheScope = 0 // the client that asked
	CachePublic  CacheScope = 1 // all clients
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

// An Audience is a set of the parties that a resource is meant for.
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

// A Content is the head of one content of a read. Its bytes follow, inline or through body.
type Content struct {
	URI          string
	MIMEType     string
	Kind         Kind
	Inline       []byte // emitted with the head: a view of the frame, valid until the call returns
	Size         uint64 // bytes in all, as stated by the guest; 0 when unknown; never trusted
	ETag         string
	LastModified string // RFC 3339
	Meta         string // JSON object; empty for none
	NotModified  bool   // the client's etag is current
	RangeTotal   uint64 // bytes of the whole when this is a range
}

// Progress is how far a read has come, as stated by the guest.
type Progress struct {
	Done    float64
	Total   float64 // 0 when unknown
	Message string
}

// A Sink takes the contents of a read in order while the guest runs. An error stops the guest and becomes the outcome
// of the call. Arguments are valid until the method returns.
type Sink interface {
	// Content begins the next content. Its Inline bytes are passed to Body again.
	Content(c *Content) error
	// Body appends bytes to the content last begun.
	Body(p []byte) error
	// Progress reports on the call; a sink may drop it.
	Progress(p Progress)
}

// A GuestError describes a failure in the guest's words.
type GuestError struct {
	Message          string
	Data             string // JSON text; empty for none
	RetryAfterMillis uint64
}

// A ConfigRequest asks for one configuration value.
type ConfigRequest struct{ Key string }

// A ConfigResponse has the value.
type ConfigResponse struct{ Value string }

// A NotifyRequest names the resource that has changed.
type NotifyRequest struct{ URI string }

// A FileRequest names a file or directory of a granted directory. Paths are absolute and slash-separated.
type FileRequest struct {
	Path    string
	Offset  uint64 // read: first byte
	Length  uint64 // read: most bytes; list: most entries; 0 for as many as one answer holds
	After   string // list: name of the last entry already seen
	Data    []byte // write: the file's new bytes, or those to append
	Appends bool   // write: append Data to the file, instead of replacing its bytes
}

// A FileResponse describes the files found.
type FileResponse struct {
	Files []File // list: sorted by name
	More  bool   // list: there are entries after these
}

// A File is one regular file or directory.
type File struct {
	Name           string // last element of the path
	Size           uint64 // bytes; 0 for a directory
	ModifiedMillis int64  // since 1970-01-01 UTC
	Dir            bool
}
