package area_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/engagement"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/testdata/platforms/control"
	fakex "github.com/content-automation/api/testdata/platforms/x"
	fakeyoutube "github.com/content-automation/api/testdata/platforms/youtube"
)

// account returns the account as callers see it.
func (w *commentWorld) account() social.Account {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(accountID))
	if err != nil {
		w.T.Fatal(err)
	}
	r, err := social.Decode(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	return r.View()
}

// An account that was connected without its platform's permission for comments is told to connect again. It still
// publishes.
func TestAnAccountWithoutThePermission(t *testing.T) {
	w := commentNewWorld(t, "youtube")
	w.read(asked)
	if got := w.account().Comments; !got.List || !got.Hide || got.Reconnect {
		t.Errorf("%+v", got)
	}
	w.fake.(*fakeyoutube.Fake).NoComments = true
	w.reply(asked, "Yes")
	w.until("the reply ends", func() bool { return w.comments()[asked].Reply.State != engagement.Pending })
	got := w.comments()[asked].Reply
	if got.State != engagement.Failed || got.Failure.Code != string(platform.CodeMissingPermission) ||
		!got.Failure.Retryable {
		t.Errorf("%+v %+v", got, got.Failure)
	}
	if a := w.account(); !a.Comments.Reconnect || a.State != social.Connected {
		t.Errorf("%+v", a)
	}
}

// A reading that is refused with a fresh token, too, does not end the readings of its post: they find comments once the
// account is connected again.
func TestAReadingThatIsRefusedWithAFreshToken(t *testing.T) {
	w := commentNewWorld(t, "youtube")
	it, err := w.DB.Get(t.Context(), store.IDKey(accountID))
	if err != nil {
		t.Fatal(err)
	}
	r, err := social.Decode(&it)
	if err != nil {
		t.Fatal(err)
	}
	at := resource.Instant(w.Now())
	r.Tokens, r.RefusedToken, r.RefreshedAt = 2, 1, w.Now()
	r.TokenExpiresAt = &at
	w.commit(func(tx *store.Tx) error { return r.Replace(tx, w.Now(), it, "") })
	w.fake.(*fakeyoutube.Fake).Say(control.Answer{Call: regexp.MustCompile("commentThreads"),
		Status: http.StatusUnauthorized, Body: `{"error":{"code":401,"message":"Invalid Credentials"}}`})
	w.until("the account lacks the right", func() bool { return w.account().Comments.Reconnect })
	if a := w.account(); a.State != social.Connected {
		t.Errorf("%+v", a)
	}
	w.read(asked)
}

// key is the counter of the units that calls of YouTube have used on a day, which begins at midnight in California.
func (w *commentWorld) key() store.Key { return w.counter("youtube.reads", -8*time.Hour) }

func (w *commentWorld) counter(name string, starts time.Duration) store.Key {
	return store.IDKey("budget#" + name + "#" + w.Now().UTC().Add(starts).Format("2006-01-02") + "T00")
}

func (w *commentWorld) counted() int64 { return w.count(w.key()) }

func (w *commentWorld) count(key store.Key) int64 {
	w.T.Helper()
	items, err := w.DB.GetAll(w.T.Context(), key)
	if err != nil {
		w.T.Fatal(err)
	}
	return items[0].Count()
}

// What calls about comments use of the quota of Google is counted.
func TestTheQuotaOfComments(t *testing.T) {
	w := commentNewWorld(t, "youtube")
	w.workers = 1 // a second one would make calls that have no effect here
	of := w.fake.(*fakeyoutube.Fake)
	first := w.read(asked)
	for range 3 { // three pages of threads, and a list of replies
		w.fake.AddComment(control.Comment{Post: w.post, Text: "Great " + of.ID()})
		w.fake.AddComment(control.Comment{Post: w.post, Parent: first.ID, Text: "Also " + of.ID()})
	}
	w.until("all are read", func() bool { return len(w.comments()) == 7 })
	w.reply(asked, "Yes")
	w.until("the reply ends", func() bool { return w.comments()[asked].Reply.State != engagement.Pending })
	w.start(asked, engagement.Hide)
	w.until("it is hidden", func() bool { return w.comments()[asked].State == engagement.Hidden })
	w.start(asked, engagement.Remove)
	w.until("it is deleted", func() bool { return w.comments()[asked].State == engagement.Deleted })
	if units := int64(of.Units); units < 200 || w.counted() != units {
		t.Errorf("counted %d units of %d", w.counted(), units)
	}
	// Beyond the budget, comments are not read, and a reply is refused.
	text := "The last one"
	w.fake.AddComment(control.Comment{Post: w.post, Text: text})
	w.until("it is read", func() bool { return w.comments()[text] != nil })
	w.commit(func(tx *store.Tx) error {
		tx.CountUntil(w.key(), 5000-w.counted(), 5000, w.Now().Add(24*time.Hour), store.ErrConflict)
		return nil
	})
	calls := w.fake.Calls()
	w.reply(text, "Yes")
	w.until("the reply ends", func() bool { return w.comments()[text].Reply.State != engagement.Pending })
	got := w.comments()[text].Reply
	if got.State != engagement.Failed || got.Failure.Code != string(platform.CodeQuotaReached) ||
		!got.Failure.Retryable {
		t.Errorf("%+v %+v", got, got.Failure)
	}
	look := item.ReadingOf(owner, itemID, publicationID)
	look.Wake = true
	w.take([]task.Message{look})
	if w.fake.Calls() != calls {
		t.Errorf("%d calls beyond the budget", w.fake.Calls()-calls)
	}
}

// What calls about replies cost on X is counted. A post without replies costs the read of their count.
func TestTheCostOfCommentsOnX(t *testing.T) {
	w := commentNewWorld(t, "x")
	w.workers = 1
	of := w.fake.(*fakex.Fake)
	w.read(asked)
	w.reply(asked, "Yes: see https://acme.com/shoes")
	w.until("the reply ends", func() bool { return w.comments()[asked].Reply.State == engagement.Done })
	w.start(asked, engagement.Hide)
	w.until("it is hidden", func() bool { return w.comments()[asked].State == engagement.Hidden })
	if total, reads := w.count(w.counter("x", 0)), w.count(w.counter("x.reads", 0)); total != int64(of.Cost) ||
		reads != 20 || total != 20+200+10 {
		t.Errorf("counted %d, of readings %d; the calls have cost %d", total, reads, of.Cost)
	}
}
