package content

import (
	"testing"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/errs"
)

// TestEachPartIsMadeByAModelOfItsKind holds the parts of every pipeline against
// the catalog: the item's model makes the item, and nothing else.
func TestEachPartIsMadeByAModelOfItsKind(t *testing.T) {
	for kind, steps := range pipelines {
		chosen := catalog.Default(kind.modelKind())
		r := &record{Item: Item{Kind: kind, Model: chosen.ID, Prompt: "A shoe"}}
		work, err := r.accepted(&auth.Principal{Mode: auth.Test}, catalog.Offer{})
		if err != nil {
			t.Fatal(err)
		}
		parts := work.Parts
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

// What goes with an item needs a provider, too.
func TestPartsAreMadeByWhatIsOffered(t *testing.T) {
	live := &auth.Principal{Mode: auth.Live}
	r := &record{Item: Item{Kind: Post, Model: "flux-pro-1.1", Prompt: "A shoe"}}
	work, err := r.accepted(live, catalog.NewOffer("bedrock,fal"))
	if err != nil || work.Parts[0].Provider != "bedrock" || work.Parts[1].Provider != "fal" {
		t.Errorf("got %+v, %v", work, err)
	}
	if work, err := r.accepted(live, catalog.NewOffer("fal")); errs.CodeOf(err) != errs.UnsupportedModel {
		t.Errorf("without anybody who writes: %+v, %v", work, err)
	}
}
