package store

import "context"

// OpenAfter opens a store with a program that knows further versions of the tables.
func OpenAfter(ctx context.Context, c Config, further ...string) (*Store, error) {
	return open(ctx, c, append(migrations[:len(migrations):len(migrations)], further...))
}

// ReadRow reads the body of a row of a tenant or a key, and gives it as it would be written.
func ReadRow(id, of string, gone int64, body string, isTenant bool) (string, error) {
	r := row{kind: keys, id: id, of: of, gone: gone, body: []byte(body)}
	if isTenant {
		t, err := r.tenant()
		if err != nil {
			return "", err
		}
		r, err = tenantRow(t)
		return string(r.body), err
	}
	k, err := r.key()
	if err != nil {
		return "", err
	}
	r, err = keyRow(k)
	return string(r.body), err
}

// Version is that of the tables.
func Version() int { return len(migrations) }
