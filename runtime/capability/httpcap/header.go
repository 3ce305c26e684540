package httpcap

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/wasmres/wasmres/abi"
)

const (
	maxFields         = 64       // of a request
	maxHeader         = 32 << 10 // bytes of the header of a request
	maxAnswerFields   = 200      // of a response; further ones are left out
	maxResponseHeader = 64 << 10 // bytes of the header of a response
)

// agent is the default User-Agent.
var agent = []string{"wasmres"}

// reserved are fields that a guest may not set: they belong to the connection, or may make a server read another
// request than the matched one.
var reserved = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Cookie2", "Expect", "Forwarded", "Host", "Http2-Settings",
	"Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Via", "X-Http-Method", "X-Http-Method-Override",
	"X-Method-Override", "X-Original-Url", "X-Real-Ip", "X-Rewrite-Url",
}

// reservedPrefixes begin the names of further reserved fields.
var reservedPrefixes = []string{"Proxy-", "X-Forwarded-"}

// sensitive are fields that a redirect to another origin does not carry.
var sensitive = []string{
	"Api-Key", "Authorization", "Cookie", "Private-Token", "X-Access-Token", "X-Api-Key", "X-Auth-Token", "X-Csrf-Token",
	"X-Goog-Api-Key", "X-Xsrf-Token",
}

// withheld are fields of responses that guests do not receive: they belong to the connection, or set cookies.
var withheld = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Connection", "Set-Cookie",
	"Set-Cookie2", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// requestHeader checks the header of a guest.
func requestHeader(fields []abi.HTTPField) (http.Header, error) {
	if len(fields) > maxFields {
		return nil, abi.Errorf(abi.CodeInvalidParams, "more than %d header fields", maxFields)
	}
	header, size := make(http.Header, len(fields)+1), 0
	for _, f := range fields {
		if size += len(f.Name) + len(f.Value); size > maxHeader {
			return nil, abi.Errorf(abi.CodeInvalidParams, "the header has more than %d bytes", maxHeader)
		}
		if !httpguts.ValidHeaderFieldName(f.Name) || !httpguts.ValidHeaderFieldValue(f.Value) {
			return nil, abi.Errorf(abi.CodeInvalidParams, "malformed header field %.64q", f.Name)
		}
		if isReserved(http.CanonicalHeaderKey(strings.ReplaceAll(f.Name, "_", "-"))) { // as gateways may read it
			return nil, abi.Errorf(abi.CodeInvalidParams, "guests may not set the header field %.64q", f.Name)
		}
		name := http.CanonicalHeaderKey(f.Name)
		header[name] = append(header[name], f.Value)
	}
	if _, ok := header["User-Agent"]; !ok {
		header["User-Agent"] = agent
	}
	return header, nil
}

func isReserved(name string) bool {
	return slices.Contains(reserved, name) ||
		slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// forwarded returns the header of a request that a redirect sends to another origin. It keeps fields with placeholders:
// the rule of the new origin decides whether they are sent.
func forwarded(header http.Header) http.Header {
	left := make(http.Header, len(header))
	for name, values := range header {
		for _, value := range values {
			if hasPlaceholder(value) || !slices.Contains(sensitive, name) {
				left[name] = append(left[name], value)
			}
		}
	}
	return left
}

// fields returns the header of a response for the guest: sorted, bounded and redacted. Fields with a secret in their
// name are left out and do not count, so that the order and the selection of fields tell nothing about a secret.
func (s *redactor) fields(header http.Header) []abi.HTTPField {
	c := s.responseRedactor()
	fields := make([]abi.HTTPField, 0, min(len(header), maxAnswerFields))
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if slices.Contains(withheld, name) || c.named(name) {
			continue
		}
		for _, value := range header[name] {
			if len(fields) == maxAnswerFields {
				return fields
			}
			fields = append(fields, abi.HTTPField{Name: name, Value: c.text(value)})
		}
	}
	return fields
}
