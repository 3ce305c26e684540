package netaddr_test

import (
	"net/netip"
	"testing"

	"github.com/wasmres/wasmres/internal/netaddr"
)

func TestSpecialAddresses(t *testing.T) {
	for addr, want := range map[string]string{
		"8.8.8.8": "", "1.1.1.1": "", "99.255.255.255": "", "100.128.0.0": "", "172.15.255.255": "", "172.32.0.0": "",
		"192.0.1.0": "", "198.17.255.255": "", "223.255.255.255": "", "2606:4700::1111": "", "2001:4860:4860::8888": "",
		"64:ff9b::808:808": "", "2002:808:808::1": "", "2001:0:808:808::f7f7:f7f7": "", "::ffff:8.8.8.8": "",
		"127.255.255.255": "loopback", "10.255.255.255": "private", "172.16.0.0": "private", "172.31.255.255": "private",
		"192.168.0.0": "private", "169.254.0.0": "link-local", "100.64.0.0": "shared", "100.127.255.255": "shared",
		"0.1.2.3": "unspecified", "239.255.255.255": "multicast", "240.0.0.1": "reserved", "255.255.255.255": "reserved",
		"192.0.0.1": "reserved", "192.88.99.1": "reserved", "198.18.0.1": "benchmark", "198.19.255.255": "benchmark",
		"198.51.100.7": "documentation", "203.0.113.7": "documentation", "192.0.2.7": "documentation",
		"::": "unspecified", "::1": "loopback", "fe80::1": "link-local", "fe80::1%eth0": "link-local", "febf::1": "link-local",
		"fec0::1": "private", "fc00::1": "private", "fd12:3456::1": "private", "ff02::1": "multicast",
		"2001:db8::1": "documentation", "3fff:fff::1": "documentation", "2001:2::1": "benchmark", "2001:20::1": "reserved",
		"100::1": "reserved", "5f00::1": "reserved", "64:ff9b:1::1": "reserved", "4000::1": "reserved",
		"::ffff:10.0.0.1": "IPv4-mapped private", "::ffff:0:10.0.0.1": "IPv4-translated private", "::8.8.8.8": "",
		"64:ff9b::a9fe:a9fe": "NAT64 link-local", "2002:a9fe:a9fe::1": "6to4 link-local",
		"2001:0:a00:1::f7f7:f7f7": "Teredo private", "2001:0:808:808::5601:5601": "Teredo link-local",
	} {
		parsed, err := netip.ParseAddr(addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := netaddr.Special(parsed); got != want {
			t.Errorf("%s: got %q, want %q", addr, got, want)
		}
	}
}
