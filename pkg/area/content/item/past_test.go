package item

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// The writer of a channel without measured texts of its own has the imported posts of its accounts as examples: those
// with the most reactions, and none for an item in another language.
func TestWritersStartWithImportedPosts(t *testing.T) {
	now, o := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), tenant.Of("acc_1", tenant.Live)
	db := storetest.Open(t, func() time.Time { return now })
	factory, err := store.NewItem(factoryrecord.Kind, o, "fac_1", map[string]any{"id": "fac_1", "language": "de-AT",
		"social_account_ids": []string{"soc_1"}})
	if err != nil {
		t.Fatal(err)
	}
	account, err := store.NewItem(social.Kind, o, "soc_1", map[string]any{"id": "soc_1", "platform": "vk"})
	if err != nil {
		t.Fatal(err)
	}
	text := func(name string) string { return strings.Repeat(name+" wurde aus alten Netzen gemacht. ", 3) }
	var posts []platform.PastPost
	for n, name := range []string{"Der Schuh", "Die Jacke", "Das Zelt", "Die Lampe"} {
		likes := int64(10 * n)
		posts = append(posts, platform.PastPost{ID: name, Kind: platform.KindPost, Text: text(name),
			At: now.AddDate(0, -n-1, 0), Metrics: platform.Metrics{Likes: &likes}})
	}
	posts = append(posts, platform.PastPost{ID: "short", Text: "Danke!", At: now.AddDate(0, -1, 0),
		Metrics: platform.Metrics{Likes: platform.Count(900)}})
	tx := &store.Tx{}
	tx.Create(factory, nil)
	tx.Create(account, nil)
	if _, err := social.KeepPast(t.Context(), db, tx, now, o, "soc_1", posts); err != nil {
		t.Fatal(err)
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string][]string{"de": {text("Die Lampe"), text("Das Zelt"), text("Die Jacke")},
		"en": nil} {
		r := &Record{Item: Item{Resource: resource.New("cnt_1", now, nil), FactoryID: "fac_1", Language: language}}
		m, err := recall(t.Context(), db, o, r)
		if err != nil || !slices.Equal(m.examples, want) {
			t.Errorf("%s: %q, %v", language, m.examples, err)
		}
	}
}
