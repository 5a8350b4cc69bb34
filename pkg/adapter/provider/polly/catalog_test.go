package polly

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// The catalog shows the voice that the adapter would choose.
func TestTheCatalogHasTheVoicesOfTheAdapter(t *testing.T) {
	for _, m := range catalog.Models(catalog.Filter{Kind: provider.KindVoice, Provider: Name}) {
		for engine, all := range voices {
			if string(engine) != m.ProviderModel {
				continue
			}
			for tag, v := range all {
				if got := m.DefaultVoice(tag); got != string(v.id) {
					t.Errorf("%s of %s: the catalog has %s, the adapter %s", tag, m.ID, got, v.id)
				}
			}
			if v, found, err := find(engine, ""); err != nil || !found || m.DefaultVoice("") != string(v.id) {
				t.Errorf("%s without a language: %s, the adapter has %s", m.ID, m.DefaultVoice(""), v.id)
			}
		}
	}
}
