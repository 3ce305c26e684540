package session

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/wasmres/wasmres/abi"
)

// A serviceFormat is how files write what a guest asks of one service, and what the service answers.
type serviceFormat struct {
	service    abi.Service
	name       string // as in "fs.stat"
	capability string // that grants the service
	positional string // the words that every question begins with, for people; they are the first fields of the request
	request    message
	response   message
	hasBody    bool // the answer may have bytes beside the response
}

// A message is one of the ABI. Those of a serviceFormat only give the type.
type message interface {
	Append(b []byte) []byte
	Decode(b []byte) error // may keep views of b
}

// serviceFormats has all services that can be recorded.
var serviceFormats = []*serviceFormat{
	{abi.ServiceFileStat, "fs.stat", CapabilityFS, "PATH", &abi.FileRequest{}, &abi.FileResponse{}, true},
	{abi.ServiceFileRead, "fs.read", CapabilityFS, "PATH", &abi.FileRequest{}, &abi.FileResponse{}, true},
	{abi.ServiceFileList, "fs.list", CapabilityFS, "PATH", &abi.FileRequest{}, &abi.FileResponse{}, true},
	{abi.ServiceFileWrite, "fs.write", CapabilityFS, "PATH", &abi.FileRequest{}, &abi.FileResponse{}, false},
	{abi.ServiceFileRemove, "fs.remove", CapabilityFS, "PATH", &abi.FileRequest{}, &abi.FileResponse{}, false},
	{abi.ServiceKVGet, "kv.get", CapabilityKV, "KEY", &abi.KVRequest{}, &abi.KVResponse{}, true},
	{abi.ServiceKVPut, "kv.put", CapabilityKV, "KEY", &abi.KVRequest{}, &abi.KVResponse{}, false},
	{abi.ServiceKVDelete, "kv.delete", CapabilityKV, "KEY", &abi.KVRequest{}, &abi.KVResponse{}, false},
	{abi.ServiceKVList, "kv.list", CapabilityKV, "", &abi.KVRequest{}, &abi.KVResponse{}, false},
	{abi.ServiceHTTP, "http.fetch", CapabilityHTTP, "METHOD URL", &abi.HTTPRequest{}, &abi.HTTPResponse{}, true},
	{abi.ServiceStream, "http.stream", CapabilityHTTP, "NUMBER", &abi.StreamRequest{}, &abi.StreamResponse{}, true},
	{abi.ServiceSQL, "sql.query", CapabilitySQL, `CONNECTION "STATEMENT"`, &abi.SQLRequest{}, &abi.SQLResponse{}, false},
	{abi.ServiceSQLRows, "sql.rows", CapabilitySQL, "NUMBER", &abi.StreamRequest{}, &abi.SQLResponse{}, false},
	{abi.ServiceConfig, "env.get", CapabilityEnv, "NAME", &abi.ConfigRequest{}, &abi.ConfigResponse{}, false},
}

const bytesOptions = "text=TEXT, blob=BASE64, sha256=HEX"

// layouts names the fields of messages. In a request a name is that of an option, with what people write after it, or
// several of them; in a response it is that of a member in JSON, and omitempty leaves out a member that is zero. A field
// with the name "-" is positional or else not written.
var layouts = map[reflect.Type]map[string]string{
	reflect.TypeFor[abi.FileRequest](): {"Path": "-", "Offset": "offset=N", "Length": "length=N", "After": "after=NAME",
		"Data": bytesOptions, "Appends": "append"},
	reflect.TypeFor[abi.FileResponse](): {"Files": "files", "More": "more,omitempty"},
	reflect.TypeFor[abi.File](): {"Name": "name", "Size": "size,omitempty", "ModifiedMillis": "modified,omitempty",
		"Dir": "dir,omitempty"},
	reflect.TypeFor[abi.KVRequest](): {"Key": "-", "Value": bytesOptions, "TTLMillis": "ttl=MILLISECONDS",
		"IfVersion": "ifVersion=N", "IfAbsent": "ifAbsent", "Prefix": "prefix=TEXT", "After": "after=KEY", "Limit": "limit=N"},
	reflect.TypeFor[abi.KVResponse](): {"Entries": "entries", "More": "more,omitempty", "Conflict": "conflict,omitempty"},
	reflect.TypeFor[abi.KVEntry](): {"Key": "key", "Size": "size,omitempty", "ExpiresMillis": "expires,omitempty",
		"Version": "version,omitempty"},
	reflect.TypeFor[abi.HTTPRequest](): {"Method": "-", "URL": "-", "Header": `header="NAME: VALUE"`, "Body": bytesOptions,
		"MaxBytes": "maxBytes=N", "TimeoutMillis": "timeout=MILLISECONDS"},
	reflect.TypeFor[abi.HTTPResponse](): {"Status": "status,omitempty", "Header": "header,omitempty", "URL": "url,omitempty",
		"Stream": "stream,omitempty"},
	reflect.TypeFor[abi.StreamRequest]():  {"Stream": "-"},
	reflect.TypeFor[abi.StreamResponse](): {"More": "more,omitempty"},
	reflect.TypeFor[abi.SQLRequest](): {"Connection": "-", "Query": "-",
		"Args": "null, bool=, int=, float=, text=, blob=, sha256=, kind=", "MaxRows": "maxRows=N"},
	reflect.TypeFor[abi.SQLResponse]():    {"Columns": "columns,omitempty", "Rows": "rows", "Stream": "stream,omitempty"},
	reflect.TypeFor[abi.SQLColumn]():      {"Name": "name", "Type": "type,omitempty"},
	reflect.TypeFor[abi.ConfigRequest]():  {"Key": "-"},
	reflect.TypeFor[abi.ConfigResponse](): {"Value": "value"},
}

// A field is one of a message.
type field struct {
	name      string
	omitEmpty bool
	value     reflect.Value
}

// fieldsOf returns the fields of a struct of the ABI, in their order there.
func fieldsOf(v reflect.Value) []field {
	fields := make([]field, v.NumField())
	for i := range fields {
		layout, ok := layouts[v.Type()][v.Type().Field(i).Name]
		if !ok {
			panic(fmt.Sprintf("session: layouts has no name for %s.%s", v.Type(), v.Type().Field(i).Name))
		}
		name, omitEmpty := strings.CutSuffix(layout, ",omitempty")
		fields[i] = field{name, omitEmpty, v.Field(i)}
	}
	return fields
}

// names returns those of all fields that have one, for people.
func names(fields []field) (list []string) {
	for _, f := range fields {
		if f.name != "-" {
			list = append(list, f.name)
		}
	}
	return list
}

// zero returns a new message of the type of m.
func zero(m message) message { return reflect.New(reflect.TypeOf(m).Elem()).Interface().(message) }

// findFormat returns the format of a service by its number or by the name it has in files; nil when there is none.
func findFormat(id abi.Service, name string) *serviceFormat {
	for _, f := range serviceFormats {
		if f.service == id || f.name == name {
			return f
		}
	}
	return nil
}

// serviceNames lists the services for people.
func serviceNames() string {
	var list []string
	for _, f := range serviceFormats {
		list = append(list, f.name)
	}
	return strings.Join(list, ", ")
}

// decodeRequest reads what a guest asks. The request may keep views of b.
func (f *serviceFormat) decodeRequest(b []byte) (message, error) {
	m := zero(f.request)
	err := m.Decode(b)
	switch r := m.(type) {
	case *abi.HTTPRequest:
		r.Method = cmp.Or(r.Method, "GET")
	case *abi.ConfigRequest:
		r.Key = strings.TrimPrefix(r.Key, envKey)
	}
	return m, err
}
