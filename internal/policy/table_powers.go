package policy

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

var (
	nameForm     = words(name, schema{"pattern": nameShape})
	varForm      = words(variable, schema{"pattern": variableShape})
	pathForm     = words(hostPath, nil)
	sizeForm     = figure(size, formatSize, "64Mi")
	countForm    = figure(count, formatCount, "1000")
	cpuForm      = figure(Processors, formatProcessors, "500m")
	durationForm = scalar([]kind{text}, duration, formatDuration,
		schema{"type": "string", "examples": []string{"2s", "500ms"}})
)

var storageForm = checked(mounted(record(
	required(key("uri", "the folder with all below it, as fs:///srv/data/**; "+
		"without a third slash it is taken from the folder of this file",
		uriForm, func(s *Storage) *string { return &s.Host })),
	key("guest", "the absolute path at which the provider sees it; else that of the URI",
		words(guestPath, schema{"pattern": "^/"}), func(s *Storage) *string { return &s.Guest }),
	required(key("access", "what may be done", accessForm, func(s *Storage) *Access { return &s.Access })),
	key("max_bytes", "how much what is written may add; 256Mi when nothing is said",
		sizeForm, func(s *Storage) *uint64 { return &s.MaxBytes }),
	key("max_files", "how many files and folders may be added; 10000 when nothing is said",
		countForm, func(s *Storage) *uint64 { return &s.MaxFiles }),
)), growsByWriting)

// growsByWriting finds bounds for what is added to a folder to which nothing is.
func growsByWriting(s Storage) string {
	if s.Access&Write == 0 && s.MaxBytes+s.MaxFiles > 0 {
		return "max_bytes and max_files bound what is written, and access does not have write: " +
			"add it, or leave them out"
	}
	return ""
}

var uriForm = scalar([]kind{text}, storageURI, writeStorageURI,
	schema{"type": "string", "pattern": `^fs://.+`, "examples": []string{"fs://workspace/**"}})

func writeStorageURI(host string) any {
	if host == "/" {
		return "fs:///**"
	}
	return storageScheme + host + "/**"
}

// mounted gives folders the path at which guests see them.
func mounted(f form[Storage]) form[Storage] {
	read := f.read
	f.read = func(r *reader, n node, into *Storage) {
		read(r, n, into)
		if into.Guest != "" || into.Host == "" {
			return
		}
		into.Guest = guestOf(into.Host)
		if _, err := guestPath(into.Guest); err != nil {
			r.fail(n, "%v: say with guest where the provider sees it", err)
		}
	}
	return f
}

var accessWords = []struct {
	word   string
	access Access
}{{"read", Read}, {"write", Write}}

var accessList = some(list(words(oneOf("access", "read", "write"), schema{"enum": []string{"read", "write"}})))

var accessForm = form[Access]{
	read: func(r *reader, n node, into *Access) {
		var words []string
		accessList.read(r, n, &words)
		for _, a := range accessWords {
			if slices.Contains(words, a.word) {
				*into |= a.access
			}
		}
	},
	write: func(a Access) any {
		var words []any
		for _, w := range accessWords {
			if a&w.access != 0 {
				words = append(words, w.word)
			}
		}
		return words
	},
	schema: accessList.schema,
}

var (
	schemes = []string{"https", "http"}
	methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

	hostForm    = words(host, schema{"examples": []string{"api.example.org", "*.example.org"}})
	schemesForm = some(list(words(oneOf("scheme", schemes...), schema{"enum": schemes})))
	methodsForm = some(list(words(oneOf("method", methods...), schema{"enum": methods})))
	pathsForm   = some(list(words(pathPattern, schema{"pattern": "^/"})))
	namesForm   = some(list(nameForm))
	portsForm   = some(list(scalar([]kind{number}, port, func(p uint16) any { return int(p) },
		schema{"type": "integer", "minimum": 1, "maximum": 65535})))
)

var networkForm = checked(record(
	required(key("host", "a name, *.example.org for those below it, or an address",
		hostForm, func(n *Network) *string { return &n.Host })),
	key("schemes", "https when nothing is said", schemesForm, func(n *Network) *[]string { return &n.Schemes }),
	key("ports", "the one of the scheme when nothing is said", portsForm, func(n *Network) *[]uint16 { return &n.Ports }),
	key("methods", "GET and HEAD when nothing is said", methodsForm, func(n *Network) *[]string { return &n.Methods }),
	key("paths", "as /v1, which is all below it too, or /v1/*/profile; every path when nothing is said",
		pathsForm, func(n *Network) *[]string { return &n.Paths }),
	key("private", "whether the host may have an address of a private network, or of this machine",
		flag, func(n *Network) *bool { return &n.Private }),
	key("secrets", "names of the secrets that requests may carry",
		namesForm, func(n *Network) *[]string { return &n.Secrets }),
), secretsTravelSafe)

func secretsTravelSafe(n Network) string {
	if len(n.Secrets) > 0 && !n.Private && slices.Contains(n.Schemes, "http") {
		return fmt.Sprintf("the rule for %s lets secrets travel over http: let schemes be [https], or private be true",
			n.Host)
	}
	return ""
}

var variableForm = record(required(key("key", "the name of the variable", varForm, self[string])))

var secretForm = checked(record(
	required(key("name", "what rules and the provider call it", nameForm, func(s *Secret) *string { return &s.Name })),
	key("env", "the variable of the host's environment that has it", varForm, func(s *Secret) *string { return &s.Env }),
	key("file", "the file that has it", pathForm, func(s *Secret) *string { return &s.File }),
	key("keyring", "its entry in the system's keyring, as SERVICE/USER",
		words(keyring, schema{"pattern": "^[^/]+/.+$"}), func(s *Secret) *string { return &s.Keyring }),
), func(s Secret) string {
	return exactlyOne("secret", s.Name, "env, file or keyring", s.Env, s.File, s.Keyring)
})

// exactlyOne says when not one of several values is set.
func exactlyOne(what, name, keys string, values ...string) string {
	set := 0
	for _, v := range values {
		if v != "" {
			set++
		}
	}
	if set == 1 {
		return ""
	}
	return fmt.Sprintf("the %s %q has %d sources: give it one of %s", what, name, set, keys)
}

var kvForm = record(
	key("namespace", "the store's name, when it is not the provider's",
		nameForm, func(k *KV) *string { return &k.Namespace }),
	key("max_bytes", "of all keys and values", sizeForm, func(k *KV) *uint64 { return &k.MaxBytes }),
	key("max_keys", "how many there may be", countForm, func(k *KV) *uint64 { return &k.MaxKeys }),
	key("max_value", "the size of one value", sizeForm, func(k *KV) *uint64 { return &k.MaxValue }),
	key("read_only", "whether values can be read alone, and neither put nor deleted",
		flag, func(k *KV) *bool { return &k.ReadOnly }),
)

var sqlForm = checked(record(
	required(key("name", "what the provider calls the connection", nameForm, func(s *SQL) *string { return &s.Name })),
	key("dsn_env", "the variable of the host's environment that has the data source name",
		varForm, func(s *SQL) *string { return &s.DSNEnv }),
	key("dsn_file", "the file that has it", pathForm, func(s *SQL) *string { return &s.DSNFile }),
	key("dsn", "the data source name itself, when it carries no password",
		words(openDSN, nil), func(s *SQL) *string { return &s.DSN }),
	key("timeout", "of one statement", durationForm, func(s *SQL) *time.Duration { return &s.Timeout }),
	key("max_rows", "of one statement", countForm, func(s *SQL) *uint64 { return &s.MaxRows }),
	key("max_bytes", "of the rows of one statement", sizeForm, func(s *SQL) *uint64 { return &s.MaxBytes }),
	key("privileged", "whether the role may be one that a read-only transaction does not hold",
		flag, func(s *SQL) *bool { return &s.Privileged }),
), func(s SQL) string {
	return exactlyOne("connection", s.Name, "dsn_env, dsn_file or dsn", s.DSNEnv, s.DSNFile, s.DSN)
})

var limitsForm = record(
	key("cpu", "processors that calls may use, all together and in the long run", cpuForm, func(l *Limits) *uint32 { return &l.MilliCPU }),
	key("memory", "linear memory of one instance", sizeForm, func(l *Limits) *uint64 { return &l.Memory }),
	key("fuel", "instructions of one call", countForm, func(l *Limits) *uint64 { return &l.Fuel }),
	key("timeout", "wall-clock time of one call", durationForm, func(l *Limits) *time.Duration { return &l.Timeout }),
	key("output", "contents of one read", sizeForm, func(l *Limits) *uint64 { return &l.Output }),
	key("stack", "native stack of one call", sizeForm, func(l *Limits) *uint64 { return &l.Stack }),
	key("log", "what may be logged in one call", sizeForm, func(l *Limits) *uint64 { return &l.Log }),
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
