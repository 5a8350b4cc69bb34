package stack_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryAlarmHasARunbook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "runbooks.md"))
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(text), -1) {
		unused[strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")] = true
	}
	headings := maps.Clone(unused)
	all := map[string]resource{}
	for _, of := range []stacks{acme, hooli} {
		maps.Copy(all, of.of("AWS::CloudWatch::Alarm"))
		maps.Copy(all, of.of("AWS::CloudWatch::CompositeAlarm"))
	}
	// A rule that sends messages to operators is also an alarm.
	for id, r := range acme.of("AWS::Events::Rule") {
		if says, _ := r.Properties["Description"].(string); strings.Contains(says, "Runbook:") {
			all[id] = resource{Properties: properties{"AlarmDescription": says}}
		}
	}
	named := regexp.MustCompile(`Runbook: docs/runbooks\.md#([a-z0-9-]+)$`)
	for id, r := range all {
		says, _ := r.Properties["AlarmDescription"].(string)
		m := named.FindStringSubmatch(says)
		if m == nil || !headings[m[1]] {
			t.Errorf("%s has no runbook: %q", id, says)
			continue
		}
		delete(unused, m[1])
	}
	if len(unused) > 0 {
		t.Errorf("no alarm has the runbooks %v", slices.Sorted(maps.Keys(unused)))
	}
}

func TestErrorsThatUseUpTheBudgetRaiseAnAlarm(t *testing.T) {
	parts := map[string]bool{}
	for id, r := range acme.of("AWS::CloudWatch::Alarm") {
		if !strings.Contains(id, "Burn") {
			continue
		}
		if r.Properties["MetricName"] != "5XXError" || r.Properties["Statistic"] != "Average" {
			t.Errorf("%s: %v", id, r.Properties)
		}
		threshold, _ := r.Properties["Threshold"].(float64)
		period, _ := r.Properties["Period"].(float64)
		parts[fmt.Sprintf("%.4f in %v s", threshold, period)] = true
	}
	want := []string{"0.0060 in 1800 s", "0.0060 in 21600 s", "0.0144 in 300 s", "0.0144 in 3600 s"}
	if got := slices.Sorted(maps.Keys(parts)); !slices.Equal(got, want) {
		t.Errorf("the parts are %q, want %q", got, want)
	}
	composites := acme.of("AWS::CloudWatch::CompositeAlarm")
	for id, r := range composites {
		if actions, _ := r.Properties["AlarmActions"].([]any); len(actions) != 1 || r.Properties["AlarmRule"] == nil {
			t.Errorf("%s: %v", id, r.Properties)
		}
	}
	if len(composites) != len(parts)/2 {
		t.Errorf("there are %d alarms of budgets", len(composites))
	}
}

// A metric that neither an alarm nor the dashboard reads must not exist, because it costs money.
func TestEveryMetricIsRead(t *testing.T) {
	read := ""
	for name, in := range acme {
		if !strings.HasSuffix(name, "-data") {
			read += in.text
		}
	}
	names := map[string]string{}
	calls := regexp.MustCompile(`metric\.(?:Add|Count|Measure)\(("?)([A-Za-z.]+)`)
	values := regexp.MustCompile(`(?m)^\s*(?:const )?([A-Z]\w+)\s*=\s*"(\w+)"`)
	for _, root := range []string{filepath.Join("..", "..", "..", "pkg")} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			code, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range calls.FindAllStringSubmatch(string(code), -1) {
				name := m[2]
				for _, v := range values.FindAllStringSubmatch(string(code), -1) {
					if m[1] == "" && v[1] == name {
						name = v[2]
					}
				}
				names[name] = path
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(names) < 8 {
		t.Errorf("the metrics are %v", names)
	}
	for name, path := range names {
		if !strings.Contains(read, name) {
			t.Errorf("nothing reads the metric %s of %s", name, path)
		}
	}
}
