package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/wasmres/wasmres/abi"
	"github.com/wasmres/wasmres/internal/approval"
	"github.com/wasmres/wasmres/internal/policy"
	"github.com/wasmres/wasmres/runtime/capability"
)

// A Denial is a call of a capability that the grants of the provider do not allow.
type Denial struct {
	Provider   string // the name of its file, without directory and extension
	Capability string // its name in manifests: "fs", "http", "sql", "kv"
	Subject    string // of the call, as "GET https://example.org"; empty if all calls of the capability are denied
	Why        string // why the grants do not allow Subject; empty if nothing of the capability is granted
	Grant      string // the flag that grants it; empty if none does
}

// String returns a sentence for the operator. It is not for clients.
func (d Denial) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "permission denied: provider %q called %s", d.Provider, d.Capability)
	switch {
	case d.Why == "":
		b.WriteString(", which is not granted")
	case d.Subject == "":
		b.WriteString(": " + d.Why)
	default:
		fmt.Fprintf(&b, " for %s, which its grants do not allow: %s", d.Subject, d.Why)
	}
	if d.Grant == "" {
		return b.String()
	}
	b.WriteString("; grant it with " + d.Grant)
	if strings.Contains(d.Grant, policy.PlaceholderFolder+":") {
		b.WriteString(", where " + policy.PlaceholderFolder + " is a folder of yours")
	}
	if strings.Contains(d.Grant, policy.PlaceholderVariable) {
		b.WriteString(", where " + policy.PlaceholderVariable + " is an environment variable that has the address of the database, as sqlite:FILE")
	}
	return b.String()
}

const (
	denialsEvery = time.Minute
	maxDenials   = 8   // different ones reported in that time
	maxSubject   = 200 // bytes of the guest's text in a denial
)

// denials decides which denials to report: each different one once in denialsEvery, and at most maxDenials of them. It is
// safe for concurrent use.
type denials struct {
	mu       sync.Mutex
	began    time.Time           // guarded by mu; when reported was empty
	reported map[string]struct{} // guarded by mu
}

// isNew reports whether to report a denial now, and whether it is the last one of this minute.
func (d *denials) isNew(text string) (fresh, last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := time.Now(); d.reported == nil || now.Sub(d.began) >= denialsEvery {
		d.began, d.reported = now, map[string]struct{}{}
	}
	if _, known := d.reported[text]; known || len(d.reported) == maxDenials {
		return false, false
	}
	d.reported[text] = struct{}{}
	return true, len(d.reported) == maxDenials
}

// any reports whether there was a denial within the last minute.
func (d *denials) any() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.reported) > 0
}

// deny reports a denial to the operator.
func (a *App) deny(d Denial) {
	text := d.String()
	fresh, last := a.denials.isNew(text)
	if !fresh {
		return
	}
	if a.cfg.Denied != nil {
		a.cfg.Denied(d)
		return
	}
	a.cfg.Logger.Warn(text)
	if last {
		a.cfg.Logger.Warn("further denials of this provider suppressed for a minute", "provider", d.Provider)
	}
}

// ungranted reports a call of a service that is not granted. It implements OnUngranted of [runtime.Options].
func (a *App) ungranted(_ context.Context, id abi.Service, request []byte) {
	if d, ok := a.denialOf(id, request); ok {
		if a.cfg.Asked != nil {
			a.cfg.Asked(d.Capability, abi.CodeDenied)
		}
		a.deny(d)
	}
}

// reportingServices wraps granted services, to report calls that the grants do not allow.
func (a *App) reportingServices(services capability.Services) capability.Services {
	out := capability.Services{}
	for id, service := range services {
		if out[id] = service; capabilityOf[id] != "" {
			out[id] = reportingService{a, id, service}
		}
	}
	return out
}

type reportingService struct {
	app     *App
	id      abi.Service
	service capability.Service
}

// Call implements [capability.Service].
func (w reportingService) Call(ctx context.Context, request []byte) (capability.Response, error) {
	resp, err := w.service.Call(ctx, request)
	if w.app.cfg.Asked != nil {
		w.app.cfg.Asked(capabilityOf[w.id], abi.CodeOf(err))
	}
	if abi.CodeOf(err) != abi.CodeDenied {
		return resp, err
	}
	if d, ok := w.app.denialOf(w.id, request); ok {
		d.Why = clipped(reasonOf(err))
		if d.Subject == "" || strings.Contains(d.Why, d.Subject) {
			d.Subject = ""
		}
		if w.app.hasFlag(d.Grant) {
			d.Grant = "" // that grant was not the reason
		}
		w.app.deny(d)
	}
	return resp, err
}

// MayRepeat implements [capability.Repeatable] with that of the service, if it has one.
func (w reportingService) MayRepeat(request []byte) bool {
	r, ok := w.service.(capability.Repeatable)
	return ok && r.MayRepeat(request)
}

// IsPrompt implements [capability.Prompt] with that of the service, if it has one.
func (w reportingService) IsPrompt() bool {
	p, ok := w.service.(capability.Prompt)
	return ok && p.IsPrompt()
}

// reasonOf returns the message of an error and of its cause, which guests do not receive.
func reasonOf(err error) string {
	text := err.Error()
	var public *abi.Error
	if errors.As(err, &public) && public.Cause != nil {
		text += " (" + public.Cause.Error() + ")"
	}
	return text
}

func clipped(s string) string {
	if len(s) <= maxSubject {
		return s
	}
	return strings.ToValidUTF8(s[:maxSubject], "") + "…"
}

// capabilityOf names the capability of a service; empty for services that need no grant, or continue the call of another.
var capabilityOf = map[abi.Service]string{
	abi.ServiceKVGet: policy.CapabilityKV, abi.ServiceKVPut: policy.CapabilityKV, abi.ServiceKVDelete: policy.CapabilityKV, abi.ServiceKVList: policy.CapabilityKV,
	abi.ServiceHTTP: policy.CapabilityHTTP, abi.ServiceSQL: policy.CapabilitySQL,
	abi.ServiceFileStat: policy.CapabilityFS, abi.ServiceFileRead: policy.CapabilityFS, abi.ServiceFileList: policy.CapabilityFS,
	abi.ServiceFileWrite: policy.CapabilityFS, abi.ServiceFileRemove: policy.CapabilityFS,
}

// denialOf describes a denied call, and the flag that would allow it. The request is as the guest sent it.
func (a *App) denialOf(id abi.Service, request []byte) (d Denial, ok bool) {
	d = Denial{Provider: a.cfg.From.ShortName(a.cfg.File), Capability: capabilityOf[id]}
	var flag, value string
	switch d.Capability {
	case "":
		return d, false
	case policy.CapabilityHTTP:
		d.Subject, value = aboutHTTP(request)
		flag = "net"
	case policy.CapabilityFS:
		d.Subject, value = aboutFile(id, request)
		flag = "dir"
	case policy.CapabilitySQL:
		d.Subject, value = aboutSQL(request)
		flag = "sql"
	default:
		flag = "kv"
	}
	d.Subject = clipped(d.Subject)
	d.Grant = a.grantFlag(flag, value)
	return d, true
}

// grantFlag returns a flag with its value as it is written on the command line; without a value, except for --kv, none.
func (a *App) grantFlag(flag, value string) string {
	if flag == "kv" {
		return "--kv"
	}
	if value == "" || len(value) > maxSubject {
		return ""
	}
	if a.cfg.among {
		value = a.cfg.Name + "=" + value
	}
	return approval.Quote([]string{"--" + flag, value})
}

// hasFlag reports whether what a flag grants is granted already.
func (a *App) hasFlag(grant string) bool {
	switch {
	case grant == "--kv":
		return a.cfg.Grants.KV != nil
	case !strings.HasPrefix(grant, "--net ") || a.cfg.among:
		return false
	}
	wanted, err := policy.FromFlags(policy.Flags{Net: []string{strings.TrimPrefix(grant, "--net ")}})
	return err == nil && policy.Covers(&a.cfg.Grants, wanted)
}

// aboutHTTP returns the request that a guest wanted to send, without its query, and the least value of --net that names
// its server and method.
func aboutHTTP(request []byte) (subject, grant string) {
	var req abi.HTTPRequest
	if req.Decode(request) != nil {
		return "", ""
	}
	u, err := url.Parse(req.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", ""
	}
	method := strings.ToUpper(req.Method)
	if method == "" {
		method = "GET"
	}
	server := u.Scheme + "://" + strings.ToLower(u.Host)
	if grant = server; method != "GET" && method != "HEAD" {
		grant = method + ":" + server
	}
	if _, err := policy.FromFlags(policy.Flags{Net: []string{grant}}); err != nil {
		grant = ""
	}
	return method + " " + server + u.EscapedPath(), grant
}

// aboutFile returns the path of a request, and a value of --dir that grants its directory.
func aboutFile(id abi.Service, request []byte) (subject, grant string) {
	var req abi.FileRequest
	if req.Decode(request) != nil {
		return "", ""
	}
	verb, access := "reading", ""
	if id == abi.ServiceFileWrite || id == abi.ServiceFileRemove {
		verb, access = "writing", ":rw"
	}
	return verb + " " + req.Path, policy.PlaceholderFolder + ":" + topFolder(req.Path) + access
}

// topFolder returns the first directory of a path, where providers expect granted directories.
func topFolder(path string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(path, "/"), "/")
	if first == "" || first == "." || first == ".." || strings.ContainsRune(first, ':') {
		return policy.PlaceholderPath
	}
	return "/" + first
}

// aboutSQL returns the connection of a request, and a value of --sql that grants it.
func aboutSQL(request []byte) (subject, grant string) {
	var req abi.SQLRequest
	if req.Decode(request) != nil {
		return "", ""
	}
	if _, err := policy.FromFlags(policy.Flags{SQL: []string{req.Connection + "=env:X"}}); err != nil {
		return "", ""
	}
	return "the connection " + req.Connection, req.Connection + "=env:" + policy.PlaceholderVariable
}
