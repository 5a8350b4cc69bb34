package auth_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

func TestAddressRangesGetOneForm(t *testing.T) {
	for in, want := range map[string]string{
		"203.0.113.0/24":     "203.0.113.0/24",
		"203.0.113.9":        "203.0.113.9/32",
		"203.0.113.9/32":     "203.0.113.9/32",
		"0.0.0.0/0":          "0.0.0.0/0",
		"2001:db8::/32":      "2001:db8::/32",
		"2001:DB8:0:0::/64":  "2001:db8::/64",
		"2001:0db8::0001":    "2001:db8::1/128",
		"::/0":               "::/0",
		"fe80::1":            "fe80::1/128",
		"2001:db8::/32 ":     "",
		"203.0.113.0/33":     "",
		"203.0.113.0/-1":     "",
		"203.0.113.0/024":    "",
		"203.0.113.9/24":     "",
		"2001:db8::1/32":     "",
		"203.0.113":          "",
		"203.0.113.009":      "",
		"203.0.113.0-9":      "",
		"*":                  "",
		"":                   "",
		"example.com":        "",
		"::ffff:203.0.113.9": "",
		"::ffff:0:0/96":      "",
		"fe80::1%eth0":       "",
		"fe80::%eth0/64":     "",
		"203.0.113.0/24/24":  "",
	} {
		got, err := auth.ParseCIDRs([]string{"10.0.0.0/8", in}, "/ips")
		if want == "" {
			var e *errs.Error
			if !errors.As(err, &e) || e.Code != errs.ValidationFailed || e.Param != "/ips/1" {
				t.Errorf("%q gives %v, %v", in, got, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, []string{"10.0.0.0/8", want}) {
			t.Errorf("%q gives %v, %v; want %s", in, got, err, want)
		}
	}
}

func TestARangeWithExtraBitsIsExplained(t *testing.T) {
	_, err := auth.ParseCIDRs([]string{"203.0.113.9/24"}, "/ips")
	if err == nil || !strings.Contains(err.Error(), "203.0.113.0/24") {
		t.Errorf("%v", err)
	}
}

func TestAListOfRangesHasBounds(t *testing.T) {
	var list []string
	for i := range 50 {
		list = append(list, fmt.Sprintf("10.0.0.%d", i))
	}
	if got, err := auth.ParseCIDRs(list, "/ips"); err != nil || len(got) != 50 {
		t.Errorf("%v, %v", got, err)
	}
	var e *errs.Error
	if _, err := auth.ParseCIDRs(append(list, "10.1.0.0/16"), "/ips"); !errors.As(err, &e) || e.Param != "/ips" {
		t.Errorf("%v", err)
	}
	// An empty list is a list, not null.
	if got, err := auth.ParseCIDRs(nil, "/ips"); err != nil || got == nil || len(got) != 0 {
		t.Errorf("%#v, %v", got, err)
	}
}

func TestPermits(t *testing.T) {
	for _, c := range []struct {
		list    string
		address string
		want    bool
	}{
		{"", "203.0.113.9", true},
		{"", "2001:db8::1", true},
		{"", "", true},
		{"", "nonsense", true},
		{"203.0.113.0/24", "203.0.113.0", true},
		{"203.0.113.0/24", "203.0.113.255", true},
		{"203.0.113.0/24", "203.0.114.0", false},
		{"203.0.113.0/24", " 203.0.113.9 ", true},
		{"203.0.113.0/24", "::ffff:203.0.113.9", true},
		{"203.0.113.0/24", "::ffff:203.0.114.9", false},
		{"203.0.113.0/24", "2001:db8::1", false},
		{"203.0.113.9/32", "203.0.113.9", true},
		{"203.0.113.9/32", "203.0.113.10", false},
		{"2001:db8::/32", "2001:db8:ffff::1", true},
		{"2001:db8::/32", "2001:db9::1", false},
		{"2001:db8::/32", "203.0.113.9", false},
		{"10.0.0.0/8 2001:db8::/32 203.0.113.0/24", "203.0.113.9", true},
		{"10.0.0.0/8 2001:db8::/32 203.0.113.0/24", "2001:db8::9", true},
		{"10.0.0.0/8 2001:db8::/32 203.0.113.0/24", "192.0.2.1", false},
		{"0.0.0.0/0", "192.0.2.1", true},
		{"0.0.0.0/0", "2001:db8::1", false},
		{"::/0", "2001:db8::1", true},
		{"::/0", "192.0.2.1", false},
		{"203.0.113.0/24", "", false},
		{"203.0.113.0/24", "nonsense", false},
		{"203.0.113.0/24", "203.0.113.9:443", false},
		{"203.0.113.0/24", "203.0.113.9, 10.0.0.1", false},
		{"damaged", "203.0.113.9", false}, // an invalid entry permits no address
		{"damaged 203.0.113.0/24", "203.0.113.9", true},
	} {
		if got := auth.Permits(strings.Fields(c.list), c.address); got != c.want {
			t.Errorf("[%s] permits %q: %v, want %v", c.list, c.address, got, c.want)
		}
	}
}

func TestOutside(t *testing.T) {
	for _, c := range []struct {
		list, allowed string
		want          int
	}{
		{"", "", -1},
		{"203.0.113.0/24", "", -1},
		{"", "203.0.113.0/24", 0},
		{"", "0.0.0.0/0 ::/0", 0},
		{"203.0.113.0/24", "203.0.113.0/24", -1},
		{"203.0.113.9/32 2001:db8:1::/48", "2001:db8::/32 203.0.113.0/24", -1},
		{"203.0.113.0/24", "203.0.113.0/25 203.0.113.128/25", 0}, // one range must hold it
		{"203.0.113.9/32 203.0.112.0/23", "203.0.113.0/24", 1},
		{"203.0.113.9/32 2001:db8::1/128", "0.0.0.0/0", 1},
		{"0.0.0.0/0", "::/0", 0},
		{"203.0.113.9/32", "damaged", 0},
		{"damaged", "203.0.113.9/32", 0},
	} {
		if got := auth.Outside(strings.Fields(c.list), strings.Fields(c.allowed)); got != c.want {
			t.Errorf("[%s] in [%s]: %d, want %d", c.list, c.allowed, got, c.want)
		}
	}
}
