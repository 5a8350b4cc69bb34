package main

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/measure/standing"
)

// TestEveryCustomMetricIsCounted checks that each metric that a package writes is in custom, because a custom
// metric costs money.
func TestEveryCustomMetricIsCounted(t *testing.T) {
	call := regexp.MustCompile(`metric\.(?:Add|Count|Measure)\(("?\w+"?)`)
	constant := regexp.MustCompile(`(?m)^\s*(?:const )?(\w+)\s*= "([A-Z]\w+)"`) // names of metrics begin with a capital
	written := map[string]bool{}
	err := filepath.WalkDir("../../pkg", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			if name, literal := strings.CutPrefix(m[1], `"`); literal {
				written[strings.TrimSuffix(name, `"`)] = true
				continue
			}
			// The name may be a constant of the file, or a variable that stands for the constants it is set to.
			for _, c := range constant.FindAllStringSubmatch(string(text), -1) {
				if c[1] == m[1] || m[1] == "name" && strings.Contains(string(text), c[1]+":") {
					written[c[2]] = true
				}
			}
		}
		return err
	})
	if err != nil || len(written) < 10 {
		t.Fatalf("found %v, %v", written, err)
	}
	for name := range written {
		if _, known := custom[name]; !known {
			t.Errorf("the custom metric %s is not in infra/measure/prices.go", name)
		}
	}
	for name := range custom {
		if !written[name] {
			t.Errorf("nothing writes the custom metric %s", name)
		}
	}
}

func TestCallsPayForTheFirewall(t *testing.T) {
	u := usage{calls: 1}
	for _, l := range billOf(&u, million, inVirginia).lines {
		if l.service == "WAF" && l.dollars == 0.60 {
			return
		}
	}
	t.Error("a million calls do not pay for the firewall")
}

func TestTheMonthOfADedicatedCustomer(t *testing.T) {
	own, replica := standing.Sum(standing.Dedicated), standing.Sum(standing.Waiting)
	// These are two NAT gateways and twelve endpoints in us-east-1 alone.
	if least := 2*32.85 + 12*7.3; own[0] < least || own[1] < own[0] || replica[0] > 15 || replica[0] < 5 {
		t.Errorf("its region costs %v, that of the replica %v", own, replica)
	}
	text := standingSection(counts(t))
	for _, r := range append(append([]standing.Own{}, standing.Dedicated...), standing.Waiting...) {
		if !strings.Contains(text, "| "+r.What+" | ") {
			t.Errorf("there is no %s in\n%s", r.What, text)
		}
	}
	if gateways := standing.Sum(standing.Dedicated[:2]); math.Abs(gateways[1]-180) > 2 {
		t.Errorf("gateways and endpoints cost %.2f", gateways[1])
	}
}
