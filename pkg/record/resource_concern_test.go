package record_test

import (
	"testing"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

const (
	factoryA = "fac_01h455vb4pex5vsknk084sn02q"
	factoryB = "fac_01h455vb4pex5vsknk084sn02r"
)

// contentOf returns a content item as the table has it.
func contentOf(factory, kind string) store.Item {
	o := tenant.Of("acc_1", tenant.Live).Of("prf_1")
	return store.Item{Key: store.IDKey("cnt_1"), Kind: "content_item", Owner: o,
		Parent: store.Key{PK: store.OwnerPartition(o, "content_item") + "#" + factory}, Filters: map[string]string{"kind": kind}}
}

func TestTheConcernOfACall(t *testing.T) {
	post := contentOf(factoryA, "post")
	for name, c := range map[string]struct {
		reads []store.Item
		makes []resource.Concern
		want  resource.Concern
	}{
		"nothing":   {},
		"an item":   {reads: []store.Item{post}, want: resource.Concern{FactoryID: factoryA, ProfileID: "prf_1", Kind: "post"}},
		"a factory": {reads: []store.Item{{Key: store.IDKey(factoryA), Kind: "factory"}}, want: resource.Concern{FactoryID: factoryA}},
		"by filter": {reads: []store.Item{{Key: store.IDKey("com_1"), Filters: map[string]string{"factory": factoryB}}},
			want: resource.Concern{FactoryID: factoryB}},
		"a kind of something else": {reads: []store.Item{{Kind: "integration", Filters: map[string]string{"kind": "hubspot"}}}},
		"several kinds": {reads: []store.Item{post, contentOf(factoryA, "story"), post},
			want: resource.Concern{FactoryID: factoryA, ProfileID: "prf_1"}},
		"an item that retells another": {reads: []store.Item{contentOf(factoryB, "story")},
			makes: []resource.Concern{{FactoryID: factoryA, ProfileID: "prf_1", Kind: "post"}},
			want:  resource.Concern{FactoryID: factoryA, ProfileID: "prf_1", Kind: "post"}},
		"several items": {makes: []resource.Concern{{FactoryID: factoryA, Kind: "post"}, {FactoryID: factoryB, Kind: "post"}},
			want: resource.Concern{Kind: "post"}},
	} {
		ctx := resource.WithConcern(t.Context())
		for _, m := range c.makes {
			resource.Makes(ctx, m)
		}
		resource.Reads(ctx, c.reads...)
		if got := resource.ConcernOf(ctx); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	resource.Reads(t.Context(), post)
}
