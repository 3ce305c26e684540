package abi

// An Op is an operation of a guest: the first parameter of [ExportCall]. A guest answers [CodeUnsupported] to an
// operation it does not know.
type Op uint32

// The operations.
const (
	OpDescribe    Op = 0 // emit the Manifest; runs without any grant
	OpList        Op = 1 // emit one page of Resources
	OpRead        Op = 2 // emit Contents and push their bodies
	OpComplete    Op = 3 // emit completions for a template variable
	OpSubscribe   Op = 4 // a client subscribes to this URI; answer poll_ms to get OpPoll
	OpUnsubscribe Op = 5 // no client subscribes to this URI any longer
	OpConfigure   Op = 6 // take the configuration, once per instance
	OpPoll        Op = 7 // has this URI changed? emit a Content with its etag
	OpEvent       Op = 8 // reserved
	OpListDir     Op = 9 // emit one page of the direct children of a directory resource
)

var opNames = [...]string{"describe", "list", "read", "complete", "subscribe", "unsubscribe", "configure", "poll", "event", "listdir"}

func (op Op) String() string {
	if op < Op(len(opNames)) {
		return opNames[op]
	}
	return "unknown"
}

// A Service is a kind of host call that a guest makes through [ImportCall]. All but notices need a grant. The host
// answers an unknown or denied one with a code, so new services do not change this ABI.
type Service uint32

// The services.
const (
	ServiceConfig        Service = 1  // ConfigRequest -> ConfigResponse
	ServiceSecret        Service = 2  // reserved
	ServiceKVGet         Service = 3  // KVRequest -> KVResponse with one entry; its bytes in ChannelBody
	ServiceKVPut         Service = 4  // KVRequest -> KVResponse with one entry
	ServiceKVDelete      Service = 5  // KVRequest -> KVResponse
	ServiceKVList        Service = 6  // KVRequest -> KVResponse with a page of entries
	ServiceHTTP          Service = 7  // HTTPRequest -> HTTPResponse; the body, or its beginning, in ChannelBody
	ServiceSQL           Service = 8  // SQLRequest -> SQLResponse with the first rows
	ServiceNotifyUpdated Service = 9  // NotifyRequest -> nothing; always granted
	ServiceNotifyList    Service = 10 // nothing -> nothing; always granted
	ServiceRead          Service = 11 // reserved
	ServiceFileStat      Service = 12 // FileRequest -> FileResponse with one entry
	ServiceFileRead      Service = 13 // FileRequest -> FileResponse with one entry; bytes in ChannelBody
	ServiceFileList      Service = 14 // FileRequest -> FileResponse with a page of entries
	ServiceStream        Service = 15 // StreamRequest -> StreamResponse; more of an HTTP body in ChannelBody
	ServiceSQLRows       Service = 16 // StreamRequest -> SQLResponse with the next rows
	ServiceFileWrite     Service = 17 // FileRequest -> FileResponse with one entry
	ServiceFileRemove    Service = 18 // FileRequest -> FileResponse without entries
)
