package abitest

import (
	"math"
	"strings"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

const envTemplate = "kit://env/{name}"

// streamID is the number of everything that comes in parts.
const streamID = math.MaxUint64 - 9

// granted reads a resource of a template with some services; vars are names and values by turns.
func (k *kit) granted(t testing.TB, services map[abi.Service]Service, template string, vars ...string) Outcome {
	t.Helper()
	req := k.powered(t, template, vars...)
	o := k.do(t, abi.OpRead, &Exchange{Request: req.Append(nil), Services: services})
	for _, c := range o.Contents {
		if c.URI != req.URI {
			t.Errorf("got a content of %s, want %s", c.URI, req.URI)
		}
	}
	return o
}

// powered makes the request of a template, with x for each variable in its URI.
func (k *kit) powered(t testing.TB, template string, vars ...string) *abi.Request {
	t.Helper()
	uri := template[:strings.IndexByte(template, '{')] + strings.TrimPrefix(strings.Repeat("/x", len(vars)/2), "/")
	return k.routed(t, template, uri, vars...)
}

// wantGranted compares the only content, of any type.
func wantGranted(t testing.TB, o Outcome, kind abi.Kind, body string) {
	t.Helper()
	got := one(t, o)
	wantContent(t, got, got.URI, "", kind, body)
}

func checkStream(t testing.TB, request []byte) {
	t.Helper()
	var req abi.StreamRequest
	if err := req.Decode(request); err != nil || req.Stream != streamID {
		t.Errorf("the guest asks for more of stream %d, %v, want %d", req.Stream, err, uint64(streamID))
	}
}

func (k *kit) testEnv(t *testing.T) {
	read := func(name string, config map[string]string) Outcome {
		t.Helper()
		req := k.powered(t, envTemplate, "name", name)
		return k.do(t, abi.OpRead, &Exchange{Request: req.Append(nil), Config: config})
	}
	config := map[string]string{
		"env:HOME": "/größe", "env:EMPTY": "", "env:LONG": strings.Repeat("abcdefgh", 4<<10), "HOME": "no", "env:": "no",
	}
	for _, name := range []string{"HOME", "EMPTY", "LONG"} {
		wantGranted(t, read(name, config), abi.KindText, config["env:"+name])
	}
	wantCode(t, read("ABSENT", config), abi.CodeNotFound)
	wantCode(t, read("home", config), abi.CodeNotFound)
	if code := read("HOME", nil).Code; code != abi.CodeNotFound && code != abi.CodeDenied {
		t.Errorf("without configuration: got %v", code)
	}
}

// testRefused has the host refuse each service.
func (k *kit) testRefused(t *testing.T) {
	for template, vars := range map[string][]string{
		fetchTemplate: {"url", pageURL}, postTemplate: {"url", pageURL}, rowsTemplate: {"query", query},
		getTemplate: {"key", "a"}, keepTemplate: {"key", "a", "value", "b"}, swapTemplate: {"key", "a", "value", "b"},
		dropTemplate: {"key", "a"}, keysTemplate: {"prefix", "a"},
		fileTemplate: {"name", "a"}, writeTemplate: {"name", "a", "text", "b"}, removeTemplate: {"name", "a"},
		folderTemplate: {"name", "a"}, someTemplate: {"name", "a"},
	} {
		t.Run(template, func(t *testing.T) {
			wantCode(t, k.granted(t, nil, template, vars...), abi.CodeDenied)
			for code := abi.CodeInvalidParams; code <= abi.CodeTooLarge; code++ {
				if code != abi.CodeCancelled {
					wantCode(t, k.granted(t, refusing(code), template, vars...), code)
				}
			}
			for _, code := range []abi.Code{abi.CodeInternal, abi.CodeProtocol, 255, 1<<31 - 1, 1<<32 - 1} {
				if got := k.granted(t, refusing(code), template, vars...).Code; got == abi.CodeOK {
					t.Errorf("%v of the host is %v of the guest", code, got)
				}
			}
		})
	}
}

// kitServices are all services that the kit's provider uses but for configuration.
var kitServices = []abi.Service{
	abi.ServiceHTTP, abi.ServiceStream, abi.ServiceSQL, abi.ServiceSQLRows,
	abi.ServiceKVGet, abi.ServiceKVPut, abi.ServiceKVDelete, abi.ServiceKVList,
	abi.ServiceFileStat, abi.ServiceFileRead, abi.ServiceFileWrite, abi.ServiceFileRemove, abi.ServiceFileList,
}

// refusing returns services that answer a code.
func refusing(code abi.Code) map[abi.Service]Service {
	services := map[abi.Service]Service{}
	for _, service := range kitServices {
		services[service] = func([]byte) (message, body []byte, err error) { return nil, nil, &abi.Error{Code: code} }
	}
	return services
}
