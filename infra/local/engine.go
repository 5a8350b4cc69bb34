package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/infra/local/system"
)

// harness is the package that makes tables for tests.
const harness = "github.com/content-automation/api/infra/verify/harness/storetest"

// tableless are packages whose tests depend on the harness, but place no table in the engine: they keep all in memory,
// or use its other parts.
var tableless = []string{"/infra/verify/fuzz", "/infra/verify/simulate", "/infra/verify/tables",
	"/pkg/adapter/provider/fal", "/pkg/adapter/provider/polly"}

// platforms has one test alone that needs a table.
const (
	platforms     = "/pkg/adapter/platform"
	platformsTest = "^TestTheTaskKernelPostsOnce$"
)

// isTableless reports whether a package has no test that needs a table, but for platformsTest.
func isTableless(name string) bool {
	return strings.HasSuffix(name, platforms) ||
		slices.ContainsFunc(tableless, func(end string) bool { return strings.HasSuffix(name, end) })
}

// deployed reports whether a package tests the deployed system, which has its own AWS.
func deployed(name string) bool {
	return strings.HasSuffix(name, "/infra/verify/e2e") || strings.HasSuffix(name, "/infra/verify/chaos")
}

// core are the packages that decide how tables are used. The generated calls of memtable's tests compare it with the
// engine, so that the tests of all other packages may trust it.
var core = []string{"./pkg/store/...", "./pkg/task", "./pkg/httpapi"}

// testEngine runs the tests of the core on DynamoDB Local, or those of all packages that use a table. If a program
// that the engine needs is missing, it prints that the tests were not run.
func testEngine(ctx context.Context, out io.Writer, all bool) error {
	if err := system.CheckEngine(ctx); err != nil {
		if ctx.Err() == nil {
			fmt.Fprintf(out, "test-engine: not run on AWS's own database engine, because %v\n", err)
			return nil
		}
		return err
	}
	packages := core
	if all {
		var err error
		if packages, err = tablePackages(ctx); err != nil {
			return err
		}
	}
	engine, err := system.StartEngine(ctx, ".", all, func(step string) { fmt.Fprintln(out, step) })
	if err != nil {
		return err
	}
	defer engine.Stop()
	began := time.Now()
	fmt.Fprintf(out, "test-engine: the tests of %s on AWS's own database engine\n", strings.Join(packages, " "))
	runs := [][]string{packages}
	if all {
		runs = append(runs, []string{"-run", platformsTest, "." + platforms})
	}
	for _, args := range runs {
		test := exec.CommandContext(ctx, "go", append([]string{"test", "-vet=off", "-timeout", "60m"}, args...)...)
		test.Env = append(os.Environ(), "AWS_ENDPOINT_URL_DYNAMODB="+engine.Address)
		test.Stdout, test.Stderr = out, os.Stderr
		if err := test.Run(); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the tests on AWS's own database engine: %w", err)
		}
	}
	fmt.Fprintf(out, "test-engine: %.0f seconds\n", time.Since(began).Seconds())
	return nil
}

// tablePackages returns the packages whose tests depend on the harness, except those that test the deployed system and
// those without tables.
func tablePackages(ctx context.Context) ([]string, error) {
	// go list has a separate entry for the tests of a package, with all their dependencies.
	const form = `{{if .ForTest}}{{$p := .ForTest}}{{range .Deps}}{{if eq . "` + harness +
		`"}}{{println $p}}{{end}}{{end}}{{end}}`
	list := exec.CommandContext(ctx, "go", "list", "-test", "-f", form, "./...", "./testdata/importer")
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []string
	seen := map[string]bool{}
	for _, name := range strings.Fields(string(text)) {
		if !seen[name] && !deployed(name) && !isTableless(name) {
			seen[name], packages = true, append(packages, name)
		}
	}
	if len(packages) == 0 {
		return nil, errors.New("no package uses the harness of tables")
	}
	return packages, nil
}
