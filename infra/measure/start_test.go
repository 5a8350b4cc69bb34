package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
)

func TestStartsAreMeasuredInTurns(t *testing.T) {
	dir := t.TempDir()
	if err := system.Compile(t.Context(), "../..", system.Machine(), filepath.Join(dir, "bin"),
		"./infra/measure/baseline/hello"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "bin", "hello")
	all, err := measureStarts(t.Context(), []program{{"one", path}, {"other", path}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if len(s.times) != 3 || s.bytes < 1e6 {
			t.Errorf("%s: %d bytes started in %v", s.name, s.bytes, s.times)
		}
		for _, took := range s.times {
			if took <= 0 || took > startLimit {
				t.Errorf("%s started in %v", s.name, took)
			}
		}
	}
	if all[0].name != "one" || all[1].name != "other" {
		t.Errorf("in the order %s, %s", all[0].name, all[1].name)
	}
}

// mostMade is the number of objects that the packages of a function may make before main, and mostOfOne that of one
// package. The schemas of a client of DynamoDB are 3,200 of them, and those of huma 1,200. A regular expression of a
// domain name is 450: such things are made at their first use.
const (
	mostMade  = 12_000
	mostOfOne = 500
)

// What a start makes can be counted on any machine, other than its time.
func TestAStartMakesWhatEachCallNeeds(t *testing.T) {
	bin := t.TempDir()
	if err := system.Compile(t.Context(), "../..", system.Machine(), filepath.Join(bin, "programs"), "./functions/api",
		"./functions/console", "./functions/mcp"); err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) allocs$`)
	for name, program := range map[string]string{"content": "api", "console": "console", "mcp": "mcp"} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "programs", program))
		// Nobody serves the runtime API there, so that the function ends.
		cmd.Env = append(environment("127.0.0.1:1", bin), needs.FunctionName+"="+name, "GODEBUG=inittrace=1")
		out, _ := cmd.CombinedOutput()
		sum := 0
		for _, m := range made.FindAllSubmatch(out, -1) {
			path := string(m[1])
			n, err := strconv.Atoi(string(m[2]))
			if err != nil {
				t.Fatal(err)
			}
			sum += n
			_, service, ofAWS := strings.Cut(path, "aws-sdk-go-v2/service/")
			if ofAWS && !strings.HasPrefix(service, "dynamodb") && !strings.HasPrefix(service, "internal/") {
				t.Errorf("%s makes what the client of %s needs: call the service by pkg/cloud/awsapi", name, service)
			}
			if strings.HasPrefix(path, "github.com/content-automation/") && n > mostOfOne {
				t.Errorf("%s: %s makes %d objects before main, at most %d", name, path, n, mostOfOne)
			}
		}
		if sum == 0 || sum > mostMade {
			t.Errorf("%s makes %d objects before main, at most %d\n%.2000s", name, sum, mostMade, out)
		}
	}
}

func TestAProgramThatDoesNotStart(t *testing.T) {
	for script, want := range map[string]string{
		"echo TABLE_NAME is missing >&2; exit 3": "exit status 3\nTABLE_NAME is missing",
		"exit 0":                                 "broken does not start: exit status 0",
		// No variable of this machine reaches a function.
		`echo "[$HOME$MEASURE_SECRET]"; exit 1`: "\n[]",
	} {
		path := filepath.Join(t.TempDir(), "broken")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("MEASURE_SECRET", "x")
		_, err := measureStarts(t.Context(), []program{{"broken", path}}, 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", script, err)
		}
	}
}

func TestTheTableOfStarts(t *testing.T) {
	times := func(ms ...float64) (all []time.Duration) {
		for _, n := range ms {
			all = append(all, time.Duration(n*float64(time.Millisecond)))
		}
		return all
	}
	all := []startTimes{
		{program{name: helloBaseline}, 6_250_000, times(2, 2.5, 3)},
		{program{name: sdkBaseline}, 10_000_000, times(4, 4.5, 4)},
		{program{name: "account"}, 9_900_000, times(5, 5, 5)},
	}
	got := startTable(all)
	for _, want := range []string{
		"| (hello world) | 6.2 | 2.00 | 2.50 | 3.00 | 0.62 |\n",
		"| (SDK alone) | 10.0 | 4.00 | 4.00 | 4.50 | 1.00 |\n",
		"| account | 9.9 | 5.00 | 5.00 | 5.00 | 1.25 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if err := tooSlow(all); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	all[2].times = times(6, 5, 6)
	want := "account: the start takes 1.50 times as long as that of (SDK alone), the bound is 1.25"
	if err := tooSlow(all); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestPercentile(t *testing.T) {
	s := startTimes{times: []time.Duration{50, 10, 40, 20, 30}}
	for p, want := range map[int]time.Duration{0: 10, 20: 10, 21: 20, 50: 30, 90: 50, 100: 50} {
		if got := s.percentile(p); got != want {
			t.Errorf("%d of 100: %d, want %d", p, got, want)
		}
	}
	if !slices.Equal(s.times, []time.Duration{50, 10, 40, 20, 30}) {
		t.Errorf("the times were sorted in place: %v", s.times)
	}
}

// TestTheEnvironmentIsComplete checks that the environment has each variable without which a function does not
// start.
func TestTheEnvironmentIsComplete(t *testing.T) {
	env := environment("127.0.0.1:1", "/media")
	for _, f := range topology.Functions {
		for _, name := range needs.Required(f) {
			if !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
				t.Errorf("%s is missing", name)
			}
		}
	}
}
