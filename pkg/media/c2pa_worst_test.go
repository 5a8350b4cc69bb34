package media_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/media/provenance/c2pa"
)

// The description of a file may have many ingredients of one manifest, which has many assertions.
func TestWorstCaseManifests(t *testing.T) {
	var assertions, ingredients []string
	for n := range 8_000 {
		assertions = append(assertions, fmt.Sprintf(`{"label":"c2pa.actions.%d","data":{"actions":[{"action":"same"}]}}`, n))
		ingredients = append(ingredients, fmt.Sprintf(`{"title":"%s","active_manifest":"m"}`, strings.Repeat("a", 400)))
	}
	text := fmt.Sprintf(`{"active_manifest":"a","manifests":{"a":{"ingredients":[%s]},"m":{"assertions":[%s]}}}`,
		strings.Join(ingredients, ","), strings.Join(assertions, ","))
	cost.AtMost(t, fmt.Sprintf("Content Credentials of %d KB", len(text)>>10), func() {
		if r, err := c2pa.ReportOf(t.Context(), []byte(text)); err != nil || len(r.Facts) != 2 { // each is said once
			t.Errorf("%d facts, %v", len(r.Facts), err)
		}
	})
}
