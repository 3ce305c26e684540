package abi

const (
	maxVars   = 1024
	maxScopes = 256
)

// Append appends the encoding of r to b.
func (r *Request) Append(b []byte) []byte {
	b = putString(b, 1, r.URI)
	b = putUint(b, 2, uint64(r.Route))
	for _, v := range r.Vars {
		b = putMessage(b, 3, v.append)
	}
	b = putString(b, 4, r.Cursor)
	b = putUint(b, 5, uint64(r.Limit))
	b = putUint(b, 6, r.RangeOffset)
	b = putUint(b, 7, r.RangeLength)
	b = putString(b, 8, r.IfNoneMatch)
	b = putUint(b, 9, r.MaxBytes)
	b = putString(b, 10, r.Arg)
	b = putString(b, 11, r.Value)
	if r.Principal != nil {
		b = putMessage(b, 12, r.Principal.append)
	}
	b = putString(b, 13, r.Meta)
	b = putString(b, 16, r.Config)
	return putUint(b, 17, uint64(r.HostMinor))
}

func (v Var) append(b []byte) []byte {
	return putString(putString(b, 1, v.Name), 2, v.Value)
}

func (p *Principal) append(b []byte) []byte {
	b = putString(b, 1, p.Subject)
	b = putString(b, 2, p.Tenant)
	b = putStrings(b, 3, p.Scopes)
	return putString(b, 4, p.Claims)
}

// Decode fills r from an encoded Request of at most [MaxRequest] bytes. A malformed one is [CodeProtocol].
func (r *Request) Decode(b []byte) error {
	if len(b) > MaxRequest {
		return tooLong("request", len(b), MaxRequest)
	}
	*r = Request{}
	return asProtocol("request", decode(b, r.set))
}

func (r *Request) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&r.URI)
	case 2:
		return f.uint32(&r.Route)
	case 3:
		v, err := grow(&r.Vars, "variables", maxVars)
		if err != nil {
			return err
		}
		return f.message(v.set)
	case 4:
		return f.string(&r.Cursor)
	case 5:
		return f.uint32(&r.Limit)
	case 6:
		return f.uint64(&r.RangeOffset)
	case 7:
		return f.uint64(&r.RangeLength)
	case 8:
		return f.string(&r.IfNoneMatch)
	case 9:
		return f.uint64(&r.MaxBytes)
	case 10:
		return f.string(&r.Arg)
	case 11:
		return f.string(&r.Value)
	case 12:
		r.Principal = &Principal{}
		return f.message(r.Principal.set)
	case 13:
		return f.string(&r.Meta)
	case 16:
		return f.string(&r.Config)
	case 17:
		return f.uint32(&r.HostMinor)
	}
	return nil
}

func (v *Var) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&v.Name)
	case 2:
		return f.string(&v.Value)
	}
	return nil
}

func (p *Principal) set(f *field) error {
	switch f.num {
	case 1:
		return f.string(&p.Subject)
	case 2:
		return f.string(&p.Tenant)
	case 3:
		return f.strings(&p.Scopes, "scopes", maxScopes)
	case 4:
		return f.string(&p.Claims)
	}
	return nil
}
