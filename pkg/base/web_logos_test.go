package base_test

import (
	"strings"
	"testing"

	crms "github.com/content-automation/api/pkg/adapter/crm/registry"
	platforms "github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/web"
)

// Each platform and CRM has a mark and a name.
func TestEachPlatformHasAMark(t *testing.T) {
	n := 0
	for _, id := range append(platforms.Names(), crms.Names()...) {
		n++
		if mark := string(web.Logo(id)); !strings.HasPrefix(mark, "<svg") || web.Label(id) == id {
			t.Errorf("%s has the mark %q and the name %s", id, mark, web.Label(id))
		}
	}
	if n < 15 {
		t.Errorf("%d platforms and CRMs", n)
	}
	if web.Logo("myspace") != "" || web.Label("myspace") != "myspace" {
		t.Error("an unknown platform has a mark")
	}
}
