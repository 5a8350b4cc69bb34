package content

import (
	"testing"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/catalog"
)

// TestEachPartIsMadeByAModelOfItsKind holds the parts of every pipeline against
// the catalog: the item's model makes the item, and nothing else.
func TestEachPartIsMadeByAModelOfItsKind(t *testing.T) {
	for kind, steps := range pipelines {
		chosen := catalog.Default(kind.modelKind())
		r := &record{Item: Item{Kind: kind, Model: chosen.ID, Prompt: "A shoe"}}
		parts := r.accepted(&auth.Principal{}).Parts
		for n, st := range steps {
			m, ok := catalog.Find(parts[n].Model)
			if !ok || m.Kind != st.kind || parts[n].Kind != st.kind || parts[n].Provider != m.Provider {
				t.Errorf("%s: part %d, %s, is %+v", kind, n, st.kind, parts[n])
			}
		}
		if last := parts[len(parts)-1]; last.Model != chosen.ID {
			t.Errorf("%s is made by %+v", kind, last)
		}
	}
}
