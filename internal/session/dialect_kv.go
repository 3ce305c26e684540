package session

import (
	"fmt"
	"time"

	"github.com/wasmres/wasmres/abi"
)

// kvDialects are those of the power to keep values.
var kvDialects = []*dialect{
	keyDialect(abi.ServiceKVGet, "kv.get", true),
	keyDialect(abi.ServiceKVPut, "kv.put", false),
	keyDialect(abi.ServiceKVDelete, "kv.delete", false),
	{
		service: abi.ServiceKVList, name: "kv.list", capability: CapabilityKV,
		options: kvOptions, answers: kvAnswers,
		question: func() question { return &kvQuestion{} }, response: func() response { return &kvResponse{} },
	},
}

const kvOptions = "text=TEXT, blob=BASE64, sha256=HEX, ttl=MILLISECONDS, ifVersion=N, ifAbsent, " +
	"prefix=TEXT, after=KEY, limit=N"

var kvAnswers = []string{"entries", "more", "conflict"}

// keyDialect is that of a service that is about one key.
func keyDialect(id abi.Service, name string, hasBody bool) *dialect {
	return &dialect{
		service: id, name: name, capability: CapabilityKV,
		places: "KEY", options: kvOptions, answers: kvAnswers, hasBody: hasBody,
		question: func() question { return &kvQuestion{hasKey: true} }, response: func() response { return &kvResponse{} },
	}
}

type kvQuestion struct {
	abi.KVRequest
	hasKey bool
	value  payload
}

func (q *kvQuestion) Decode(request []byte) error {
	err := q.KVRequest.Decode(request)
	q.value = payloadOf(q.Value)
	return err
}

func (q *kvQuestion) places() []*string {
	if q.hasKey {
		return []*string{&q.Key}
	}
	return nil
}

func (q *kvQuestion) options() (words []string) {
	words = q.value.option(words)
	words = numberOption(words, "ttl", q.TTLMillis)
	words = numberOption(words, "ifVersion", q.IfVersion)
	if q.IfAbsent {
		words = append(words, "ifAbsent")
	}
	words = textOption(words, "prefix", q.Prefix)
	words = textOption(words, "after", q.After)
	return numberOption(words, "limit", q.Limit)
}

func (q *kvQuestion) setOption(name, value string) (err error) {
	switch name {
	case "ttl":
		return setNumber(&q.TTLMillis, value)
	case "ifVersion":
		return setNumber(&q.IfVersion, value)
	case "ifAbsent":
		q.IfAbsent = true
		return parseFlag(value)
	case "prefix":
		q.Prefix = value
	case "after":
		q.After = value
	case "limit":
		return setNumber(&q.Limit, value)
	default:
		q.value, err = parsePayload(name, value)
	}
	return err
}

func (q *kvQuestion) check() error { return nil }

type kvResponse struct{ abi.KVResponse }

func (r *kvResponse) check() error {
	for _, e := range r.Entries {
		if !hasYear(e.ExpiresMillis) {
			return fmt.Errorf("the time at which %.128q expires is out of range", e.Key)
		}
	}
	return nil
}

func (r *kvResponse) members() []member {
	var entries []*value
	for _, e := range r.Entries {
		entries = append(entries, object(
			member{"key", text(e.Key)}, member{"size", unlessZero(e.Size)},
			member{"expires", timeValue(e.ExpiresMillis)}, member{"version", unlessZero(e.Version)},
		))
	}
	return []member{{"entries", array(entries)}, {"more", ifTrue(r.More)}, {"conflict", ifTrue(r.Conflict)}}
}

func (r *kvResponse) set(m member) error {
	switch m.name {
	case "entries":
		return r.setEntries(m.value)
	case "more":
		return m.value.into(&r.More)
	case "conflict":
		return m.value.into(&r.Conflict)
	}
	return errUnknown
}

func (r *kvResponse) setEntries(v *value) error {
	var list []struct {
		Key     string
		Size    uint64
		Expires time.Time
		Version uint64
	}
	if err := v.into(&list); err != nil {
		return err
	}
	r.Entries = nil
	for _, e := range list {
		r.Entries = append(r.Entries, abi.KVEntry{
			Key: e.Key, Size: e.Size, ExpiresMillis: millisOf(e.Expires), Version: e.Version,
		})
	}
	return nil
}
