package main

import (
	"slices"
	"strings"
	"testing"
)

func TestWithoutTheEngineTheTestsSayThatTheyDidNotRun(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out strings.Builder
	if err := testEngine(t.Context(), &out, false); err != nil ||
		!strings.HasPrefix(out.String(), "test-engine: not run on AWS's own database engine, because ") {
		t.Errorf("it says %q, %v", out.String(), err)
	}
}

func TestPackagesThatUseATable(t *testing.T) {
	t.Chdir("../..")
	got, err := tablePackages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/content-automation/api/"
	for name, want := range map[string]bool{
		"pkg/store": true, "pkg/task": true, "pkg/service/api": false, "pkg/area/webhook": true,
		"infra/operate/recovery": true, "infra/verify/e2e": false, "infra/verify/chaos": false, "pkg/base/money": false,
	} {
		if slices.Contains(got, module+name) != want {
			t.Errorf("%s is among them: %v", name, !want)
		}
	}
}
