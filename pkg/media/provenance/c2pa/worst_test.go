package c2pa

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/cost"
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
	if err := manifests.JSON(t.Context(), []byte(text)); err != nil {
		t.Fatal(err)
	}
	cost.AtMost(t, fmt.Sprintf("Content Credentials of %d KB", len(text)>>10), func() {
		var s store
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Error(err)
		}
		if r := s.report(); len(r.Facts) != 2 { // each is said once
			t.Errorf("%d facts", len(r.Facts))
		}
	})
}
