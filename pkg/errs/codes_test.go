package errs_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/errs"
)

func TestCodesAreComplete(t *testing.T) {
	source, err := os.ReadFile("errs.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []errs.Code
	for _, m := range regexp.MustCompile(`(?m)^\t[A-Z]\w+\s+(?:Code )?= "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1) {
		declared = append(declared, errs.Code(m[1]))
	}
	if len(declared) == 0 || !slices.Equal(declared, errs.Codes) {
		t.Errorf("Codes lists  %v\nwant          %v", errs.Codes, declared)
	}
}
