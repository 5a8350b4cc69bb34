package advice_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/id"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// A factory whose content has no figures yet is diagnosed by the imported posts of its accounts.
func TestADiagnosisStartsWithImportedPosts(t *testing.T) {
	w := newWorld(t)
	factoryID, o := w.well(), w.Principal.Owner
	found := func() (all []string) {
		for _, f := range w.diagnosed(w.Caller, factoryID, object{}).Findings {
			if f.Code == advice.EngagementByKind {
				all = append(all, *f.Subject)
			}
		}
		return all
	}
	if got := found(); len(got) > 0 {
		t.Fatalf("without figures %v", got)
	}
	now := w.Now()
	a := &social.Record{Account: social.Account{Resource: resource.New(id.New(id.SocialAccount, now), now, nil),
		Platform: "vk", State: social.Connected, FactoryIDs: []string{factoryID}}}
	it, err := store.NewItem(social.Kind, o, a.ID, a)
	if err != nil {
		t.Fatal(err)
	}
	var posts []platform.PastPost
	for n := range 60 {
		kind, likes := platform.KindPost, int64(20+n%7)
		if n%2 == 0 {
			kind, likes = platform.KindVideo, likes+40
		}
		posts = append(posts, platform.PastPost{ID: fmt.Sprint(n), Kind: kind,
			At:      now.Add(-time.Duration(n+1) * 12 * time.Hour),
			Metrics: platform.Metrics{Views: platform.Count(1000), Likes: &likes}})
	}
	factory, err := w.DB.Get(t.Context(), factoryrecord.Key(factoryID))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if _, err := factoryrecord.Attach(&factory, a.ID, now); err != nil {
		t.Fatal(err)
	}
	tx.Replace(factory)
	if _, err := social.KeepPast(t.Context(), w.DB, tx, now, o, a.ID, posts); err != nil {
		t.Fatal(err)
	}
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.Clock.Add(time.Hour)
	if got := found(); len(got) != 2 {
		t.Errorf("with figures of videos and posts %v", got)
	}
}
