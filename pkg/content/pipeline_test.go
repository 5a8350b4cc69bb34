package content

import (
	"testing"

	"github.com/content-automation/api/pkg/catalog"
)

// TestEachStepIsAskedOfAModelOfItsKind holds the requests of every pipeline
// against the catalog: the item's model makes the item, and nothing else.
func TestEachStepIsAskedOfAModelOfItsKind(t *testing.T) {
	for kind, steps := range pipelines {
		r := &record{Item: Item{Kind: kind, Model: "chosen", Prompt: "A shoe"}}
		for n, st := range steps {
			got := r.request(n).Model
			if n == len(steps)-1 {
				if got != "chosen" {
					t.Errorf("%s is made by %s", kind, got)
				}
				continue
			}
			if m, ok := catalog.Find(got); !ok || m.Kind != st.kind {
				t.Errorf("%s: step %d, %s, is made by %s", kind, n, st.kind, got)
			}
		}
	}
}
