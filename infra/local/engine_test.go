package main

import (
	"os"
	"path/filepath"
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
		"infra/verify/fuzz": false,
	} {
		if slices.Contains(got, module+name) != want {
			t.Errorf("%s is among them: %v", name, !want)
		}
	}
}

// Packages without tables run no test on the engine: they make tables in memory alone.
func TestPackagesWithoutTables(t *testing.T) {
	for _, end := range tableless {
		files, err := filepath.Glob(filepath.Join("..", "..", end, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(end, files, err)
		}
		var code strings.Builder
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(b)
		}
		for _, makes := range []string{"storetest.Open(", "storetest.Make(", "servicetest.New(", "metered.New"} {
			if strings.Contains(code.String(), makes) && !strings.Contains(code.String(), "storetest.UseMemory()") {
				t.Errorf("%s calls %s: it is not without tables", end, makes)
			}
		}
	}
}

// The test of the platforms that needs a table is the only one, and it exists.
func TestOneTestOfPlatformsNeedsATable(t *testing.T) {
	files, err := filepath.Glob("../../pkg/adapter/platform/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		makes := strings.Contains(string(b), "storetest.Open(") || strings.Contains(string(b), "servicetest.New(")
		test := "\nfunc " + strings.Trim(platformsTest, "^$") + "("
		if has := strings.Contains(string(b), test); has != makes || has && strings.Count(string(b), "\nfunc Test") != 1 {
			t.Errorf("%s makes a table: %v, and has %s: %v", name, makes, platformsTest, has)
		}
	}
}
