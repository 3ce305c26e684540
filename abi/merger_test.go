package abi_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/wasmres/wasmres/abi"
)

// A patient emission lets a decoder go on a few times.
type patient struct {
	left    int
	reports int
}

var errEnough = errors.New("enough")

func (p *patient) Content(*abi.Content) error { return nil }
func (p *patient) Progress(abi.Progress)      { p.reports++ }

func (p *patient) Continue() error {
	if p.left--; p.left < 0 {
		return errEnough
	}
	return nil
}

func TestDecodingEndsWhenItsCallDoes(t *testing.T) {
	const fields = 1 << 19
	for name, field := range map[string][]byte{
		"reports":          (&abi.Progress{}).Append(nil),
		"errors":           {5<<3 | 2, 0},
		"unknown fields":   {100<<3&0x7f | 0x80, 6, 0},
		"one error's data": {2<<3 | 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			frame := bytes.Repeat(field, abi.MaxFrame/len(field))
			if name == "one error's data" {
				data := bytes.Repeat(field, fields-4)
				frame = append([]byte{5<<3 | 2, byte(len(data)&0x7f | 0x80), byte(len(data)>>7&0x7f | 0x80), byte(len(data) >> 14)}, data...)
			}
			for _, left := range []int{0, 3} {
				p := &patient{left: left}
				if err := new(abi.Reply).Merge(frame, 10, p); !errors.Is(err, errEnough) {
					t.Errorf("it was allowed to go on %d times: got %v, want %v", left, err, errEnough)
				}
				if most := (left + 1) * 1024; p.reports > most {
					t.Errorf("%d reports were decoded, want at most %d", p.reports, most)
				}
			}
			p := &patient{left: fields}
			if err := new(abi.Reply).Merge(frame, 10, p); err != nil {
				t.Error(err)
			}
		})
	}
}
