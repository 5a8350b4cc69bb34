package content_test

import (
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/store"
)

// past returns the earlier posts of the account that are stored.
func (w *publicationWorld) past() []platform.PastPost {
	w.t.Helper()
	now := w.clock.Now()
	all, err := social.Past(w.t.Context(), w.db, owner, now.AddDate(-1, 0, 0), now, w.account.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return all[w.account.ID]
}

// imports returns the imports of the account, the latest first.
func (w *publicationWorld) imports() (all []social.PostImport) {
	w.t.Helper()
	page, err := w.db.List(w.t.Context(), store.Query{Index: store.ByOwner,
		Partition: store.OwnerPartition(owner, social.ImportKind), Limit: 10})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, it := range page.Items {
		var p social.PostImport
		if err := it.Decode(&p); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// importAll takes the steps of imports, and repeats each message, until none is due within some hours.
func (w *publicationWorld) importAll() {
	w.t.Helper()
	for range 40 {
		if due := w.due(social.Import); len(due) > 0 {
			w.deliver(due, 2)
		} else {
			w.clock.Advance(10 * time.Minute)
		}
	}
}

// An account that is connected has its earlier posts imported, with their figures, once. A platform that fails
// meanwhile is asked again.
func TestEarlierPostsAreImported(t *testing.T) {
	for _, name := range []string{"instagram", "youtube", "vk", "tiktok"} {
		w := newPublicationWorld(t, name)
		w.deliver(w.due(social.Measure), 2)
		w.fake.Fail(w.fake.Calls()+2, platformtest.ServerError)
		w.importAll()
		all, imported := w.past(), w.imports()
		if len(all) != 12 || len(imported) != 1 {
			t.Fatalf("%s: %d posts, %d imports", name, len(all), len(imported))
		}
		p := imported[0]
		if p.State != social.ImportCompleted || p.Posts != 12 || p.Added != 12 || p.Own != 0 || p.Failure != nil ||
			p.SocialAccountID != w.account.ID || !p.Since.Equal(all[11].At) || p.EndedAt == nil {
			t.Errorf("%s: %+v", name, p)
		}
		for _, one := range all {
			if one.Likes == nil || !strings.HasPrefix(one.Text, "Shoe ") {
				t.Errorf("%s: %+v", name, one)
			}
		}
		// Again, with a post that the service has published.
		now := w.clock.Now()
		key := item.PostKey(name, w.account.PlatformID, all[3].ID)
		entry, err := item.PostDocument{Item: "cnt_1"}.Entry(now, owner, key)
		if err != nil {
			t.Fatal(err)
		}
		w.commit(func(tx *store.Tx) error {
			tx.Create(entry, nil)
			_, err := w.account.StartImport(tx, now, owner, nil)
			return err
		})
		w.importAll()
		if again := w.imports()[0]; again.State != social.ImportCompleted || again.Added != 0 || again.Own != 1 ||
			again.Posts != 11 || len(w.past()) != 12 {
			t.Errorf("%s: the second import is %+v, and there are %d posts", name, again, len(w.past()))
		}
	}
}

// An import ends with a reason if the account is not connected any more.
func TestAnImportEndsWithTheConnection(t *testing.T) {
	w := newPublicationWorld(t, "instagram")
	w.measure()
	it, err := w.db.Get(t.Context(), store.IDKey(w.account.ID))
	if err != nil {
		t.Fatal(err)
	}
	r, err := social.Decode(&it)
	if err != nil {
		t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { return r.Disconnect(tx, w.clock.Now(), it) })
	w.importAll()
	if p := w.imports()[0]; p.State != social.ImportFailed || p.Failure == nil || len(w.past()) > 0 {
		t.Errorf("%+v", p)
	}
}
