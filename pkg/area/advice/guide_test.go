package advice

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/format"
)

// The guide explains each code once, and the document lists the same.
func TestTheGuideExplainsEachCode(t *testing.T) {
	guide, err := os.ReadFile("../../service/docs/guides/diagnosis.md")
	if err != nil {
		t.Fatal(err)
	}
	var explained []string
	for line := range strings.Lines(string(guide)) {
		cells := strings.Split(line, "|")
		if len(cells) == 5 && (strings.Contains(cells[3], "info") || strings.Contains(cells[3], "warning") ||
			strings.Contains(cells[3], "critical")) {
			explained = append(explained, strings.Trim(cells[1], " `"))
		}
	}
	member, _ := reflect.TypeFor[Finding]().FieldByName("Code")
	all, _ := format.Of(member.Tag.Get("format"))
	if listed := all.Values; !slices.Equal(listed, explained) || len(listed) != 22 {
		t.Errorf("listed are %v, explained %v", listed, explained)
	}
	// A test key can request each of them.
	rehearsed, _ := reflect.TypeFor[Rehearsal]().FieldByName("Findings")
	if got := rehearsed.Tag.Get("format"); got != member.Tag.Get("format") {
		t.Errorf("requested can be %v", got)
	}
	for _, code := range explained {
		if found := Rehearsed([]Code{Code(code)}); len(found) != 1 || found[0].Message == "" ||
			found[0].Severity == "" {
			t.Errorf("%s is rehearsed as %+v", code, found)
		}
	}
}
