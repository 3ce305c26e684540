package layout

// WithStep has step called between any two changes of the disk.
func (o Options) WithStep(step func(name string)) Options {
	o.step = step
	return o
}

// What FuzzIndex and FuzzManifest decode.
func DecodeIndex(text []byte) (entries int, err error) {
	x, err := decodeIndex(text)
	if err != nil {
		return 0, err
	}
	_, err = x.encode()
	return len(x.Manifests), err
}

func DecodeManifest(text []byte) (parts int, err error) {
	m, err := decodeManifest(text)
	if err != nil {
		return 0, err
	}
	return len(m.parts()), nil
}

const MaxEntries = maxEntries
