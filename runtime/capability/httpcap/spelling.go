package httpcap

// A pattern is one spelling of a secret: for each of its characters, the bytes that it may be.
type pattern struct {
	characters [][]byte
	kind       kind
}

// A kind is what a pattern allows besides its characters.
type kind int

const (
	fixed     kind = iota // nothing
	escapable             // escapes instead of any character
	encoded               // escapes instead of the characters of escapedInBase64, and line breaks between characters
)

// escapedInBase64 are the characters of base64 that some formats escape.
const escapedInBase64 = "+/-_"

// spellings returns the patterns of a secret.
func spellings(text string) []pattern {
	all := []pattern{plain(text), hexadecimal(text)}
	for shift := range 3 {
		all = append(all, base64(text, shift))
	}
	return all
}

// plain is the secret as it is, with any of its bytes escaped.
func plain(text string) pattern {
	p := pattern{kind: escapable}
	for i := range len(text) {
		p.characters = append(p.characters, []byte{text[i]})
	}
	return p
}

// hexadecimal is the secret with two digits for each byte, in either case.
func hexadecimal(text string) pattern {
	const lower, upper = "0123456789abcdef", "0123456789ABCDEF"
	var p pattern
	for i := range len(text) {
		for _, digit := range []byte{text[i] >> 4, text[i] & 15} {
			p.characters = append(p.characters, []byte{lower[digit], upper[digit]})
		}
	}
	return p
}

// base64 is the secret within a longer text in base64, of either alphabet, in which it begins shift bytes after a multiple
// of three. Of the characters at its ends only some bits belong to it.
func base64(text string, shift int) pattern {
	p := pattern{kind: encoded}
	first, end := shift*8, (shift+len(text))*8
	for at := first / 6 * 6; at < end; at += 6 {
		var bits, mask byte
		for bit := at; bit < at+6; bit++ {
			bits, mask = bits<<1, mask<<1
			if k := bit - first; k >= 0 && bit < end {
				bits |= text[k/8] >> (7 - k%8) & 1
				mask |= 1
			}
		}
		p.characters = append(p.characters, sextets(bits, mask))
	}
	return p
}

// sextets returns the characters of base64 for the bits under a mask.
func sextets(bits, mask byte) (all []byte) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	const std, url = letters + "+/", letters + "-_"
	for v := range byte(64) {
		if v&mask == bits {
			all = append(all, std[v], url[v])
		}
	}
	return all
}
