package base_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
)

// Every constant has its row.
func TestCodesAreComplete(t *testing.T) {
	source, err := os.ReadFile("errs/codes.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []errs.Code
	for _, m := range regexp.MustCompile(`(?m)^\t[A-Z]\w+\s+(?:Code )?= "([a-z_]+)"`).FindAllStringSubmatch(
		string(source), -1) {
		declared = append(declared, errs.Code(m[1]))
	}
	if len(declared) == 0 || !slices.Equal(declared, errs.Codes) {
		t.Errorf("the rows of Infos have %v\nthe constants are       %v", errs.Codes, declared)
	}
}

func TestEveryCodeIsDescribed(t *testing.T) {
	for _, i := range errs.Infos {
		if i.Status < 400 || i.Type == "" || i.Meaning == "" || i.When == "" || i.Fix == "" || i.Retry == "" ||
			i.Example == "" {
			t.Errorf("%s is described by %+v", i.Code, i)
		}
	}
}
