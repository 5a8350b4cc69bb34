package area_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/erasure"
	mediaarea "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// profileOf returns the scope of a profile.
func (w *erasureWorld) profileOf(c client) tenant.Owner {
	return w.Principal.Owner.Of(tenant.Profile(c.id))
}

// The erasure of a profile leaves nothing of it but its last export, and nothing of others changes, wherever the worker
// dies.
func TestAProfileIsErased(t *testing.T) {
	for name, dies := range map[string]bool{"without faults": false, "dying at each step": true} {
		w := newErasureWorld(t)
		w.person("bob", auth.Developer)
		gone, stays := w.fill("Harbour Coffee"), w.fill("Acme")
		own := w.fill("")
		if dies {
			w.engine.Handle(erasure.TaskKind, dying{task.Func(w.worker.Erase), w})
		}
		scope := w.profileOf(gone)
		of := func(profile string) func(storetest.Row) bool {
			return func(row storetest.Row) bool {
				return row["f_profile"] == profile && row["acc"] == string(w.Principal.Account)
			}
		}
		kept := [][]string{w.keys(of(stays.id)), w.keys(of(""))}
		asked := w.ask(scope, "Harbour Coffee")
		if asked.EraseAt.Sub(asked.AskedAt) != 7*24*time.Hour {
			t.Errorf("%s: it is erased at %s", name, asked.EraseAt)
		}
		w.reach(scope, erasure.Erasing)
		if now := w.Now(); now.Before(asked.EraseAt) {
			t.Errorf("%s: it begins at %s", name, now)
		}
		w.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Late", "profile_id": gone.id}).
			Refused(t, http.StatusNotFound, errs.NotFound, "/profile_id")
		w.reach(scope, erasure.Done)
		for _, left := range w.keys(of(gone.id)) {
			if left != "export "+w.of(scope).ExportID+" #" {
				t.Errorf("%s: %s is left", name, left)
			}
		}
		if got := w.subjects("ada@example.com"); !slices.Equal(got, []string{"An erasure was asked for: Harbour Coffee"}) {
			t.Errorf("%s: the owner is told %q", name, got)
		}
		w.Clock.Add(mediaarea.KeepTime) // the files of deleted media stay for it
		w.until("the end of its files", func() bool {
			return !slices.ContainsFunc(w.engine.Objects.Keys(), func(key string) bool {
				return strings.Contains(key, gone.item) || strings.Contains(key, gone.media)
			})
		})
		left := strings.Join(w.engine.Objects.Keys(), " ")
		for of, want := range map[string]bool{gone.item: false, gone.media: false, stays.media: true, stays.item: true,
			own.media: true, own.item: true} {
			if strings.Contains(left, of) != want {
				t.Errorf("%s: a file of %s is left: %v", name, of, !want)
			}
		}
		for i, others := range [][]string{w.keys(of(stays.id)), w.keys(of(""))} {
			for _, key := range kept[i] {
				if !slices.Contains(others, key) && !strings.HasPrefix(key, "profile_uses ") {
					t.Errorf("%s: %s is gone", name, key)
				}
			}
		}
		var planned item.Item
		w.Call(http.MethodGet, "/v1/content-items/"+stays.planned, nil).Into(t, http.StatusOK, &planned)
		if planned.State != item.Scheduled || w.revoked != 1 {
			t.Errorf("%s: the other profile's item is %s, %d tokens were revoked", name, planned.State, w.revoked)
		}
		w.exported(name, w.of(scope).ExportID, gone.item)
		r := w.of(scope)
		if r.Items == 0 && !dies || w.logged("erasure.done") == 0 {
			t.Errorf("%s: %+v, %d entries", name, r, w.logged("erasure.done"))
		}
		if got := w.subjects("bob@example.com"); len(got) != 0 {
			t.Errorf("%s: a developer is told %q", name, got)
		}
	}
}

// exported asserts that a last export can be fetched, and has a resource.
func (w *erasureWorld) exported(name, exportID, resourceID string) {
	w.T.Helper()
	var x transfer.Export
	w.Call(http.MethodGet, "/v1/exports/"+exportID, nil).Into(w.T, http.StatusOK, &x)
	if x.State != transfer.Completed || len(x.Parts) == 0 {
		w.T.Fatalf("%s: the last export is %+v", name, x)
	}
	var all string
	for _, p := range x.Parts {
		req, err := http.NewRequestWithContext(w.T.Context(), http.MethodGet, p.URL, nil)
		if err != nil {
			w.T.Fatal(err)
		}
		resp, err := w.engine.Objects.Do(req)
		if err != nil {
			w.T.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			w.T.Fatalf("%s: %s: %d, %v", name, p.URL, resp.StatusCode, err)
		}
		all += string(text)
	}
	if !strings.Contains(all, resourceID) {
		w.T.Errorf("%s: the last export lacks %s", name, resourceID)
	}
}

// The erasure of an account waits for a month, exports anew a week before, and leaves the entries of the balance alone,
// without their metadata.
func TestAnAccountIsErased(t *testing.T) {
	w := newErasureWorld(t)
	client := w.fill("Harbour Coffee")
	own := w.fill("")
	w.TopUp(5000)
	w.Live().Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog"}).
		Into(t, http.StatusCreated, new(object))
	stranger := w.Stranger()
	stranger.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog"}).
		Into(t, http.StatusCreated, new(object))
	theirs := func(row storetest.Row) bool { return row["acc"] == string(stranger.Principal.Account) }
	before := w.keys(theirs)
	w.engine.Handle(erasure.TaskKind, dying{task.Func(w.worker.Erase), w})
	scope := tenant.Of(w.Principal.Account, "")
	asked := w.ask(scope, "Acme")
	w.until("the second export", func() bool { return w.of(scope).ExportID != asked.ExportID })
	if r := w.of(scope); r.State != erasure.Waiting || r.EraseAt.Sub(r.ExportAt) > 7*24*time.Hour ||
		r.EraseAt.Sub(r.AskedAt) != 30*24*time.Hour {
		t.Errorf("a week before it is %+v", r)
	}
	w.reach(scope, erasure.Done)
	entries := 0
	for _, row := range storetest.Rows(t, w.DB) {
		switch {
		case row["acc"] != string(w.Principal.Account) && !strings.Contains(row["pk"], string(w.Principal.Account)):
		case row["kind"] == ledger.Kind:
			entries++
		case row["kind"] == task.ItemKind && (strings.HasPrefix(row["pk"], "task#erasure#") ||
			strings.HasPrefix(row["pk"], "task#media#")), row["kind"] == erasure.Kind:
			if row["kind"] == erasure.Kind && strings.Contains(row["doc"], "Acme") {
				t.Errorf("the note has the name: %s", row["doc"])
			}
		default:
			t.Errorf("%s %s is left", row["kind"], row["pk"])
		}
	}
	if entries == 0 || !slices.Equal(before, w.keys(theirs)) || w.revoked != 2 {
		t.Errorf("%d entries are kept, %d tokens were revoked; of another account is left %v", entries, w.revoked,
			w.keys(theirs))
	}
	w.Clock.Add(mediaarea.KeepTime)
	for range 100 {
		w.engine.Step()
	}
	for _, key := range w.engine.Objects.Keys() {
		if strings.HasPrefix(key, "media/") || strings.Contains(key, client.item) || strings.Contains(key, own.item) {
			t.Errorf("the file %s is left", key)
		}
	}
	subjects := w.subjects("ada@example.com")
	if !slices.Equal(subjects, []string{"An erasure was asked for: Acme"}) {
		t.Errorf("the owner is told %q", subjects)
	}
}

// A pass over the table costs a read of all accounts. There is one that finds what is left, and one that finds nothing
// any more; a task that still works makes it another. The people and the account are found by their keys.
func TestAnErasureReadsTheTableTwice(t *testing.T) {
	calls := &storetest.Faults{}
	w := newErasureWorld(t, calls.Attach)
	w.fill("")
	for n := range 30 {
		w.person(fmt.Sprint("person", n), auth.Developer)
	}
	scope := tenant.Of(w.Principal.Account, "")
	w.ask(scope, "Acme")
	w.reach(scope, erasure.Erasing)
	calls.Reset()
	w.reach(scope, erasure.Done)
	scans := 0
	for _, c := range calls.Calls() {
		if c.Operation == "Scan" {
			scans++
		}
	}
	if scans != 2 {
		t.Errorf("the table was read %d times", scans)
	}
	if left := storetest.Rows(t, w.DB, person.Kind, account.Kind); len(left) != 0 {
		t.Errorf("%d people and accounts are left", len(left))
	}
}

// An erasure is asked for once, and canceled until it begins.
func TestAnErasureIsCanceled(t *testing.T) {
	w := newErasureWorld(t)
	c := w.fill("Harbour Coffee")
	scope := w.profileOf(c)
	refused := func(what string, err error, code errs.Code) {
		t.Helper()
		if errs.CodeOf(err) != code {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := w.service.Cancel(t.Context(), scope)
	refused("canceled before", err, errs.NotFound)
	w.ask(scope, "Harbour Coffee")
	_, err = w.service.Ask(t.Context(), scope, "Harbour Coffee", w.owner)
	refused("asked twice", err, errs.InvalidState)
	_, err = w.service.Export(t.Context(), scope)
	refused("exported again before the end", err, errs.InvalidState)
	w.until("the end of the export", func() bool { return w.of(scope).ReportedExport != "" })
	was := w.of(scope).ExportID
	if r, err := w.service.Export(t.Context(), scope); err != nil || r.ExportID == was {
		t.Errorf("exported again: %+v, %v", r, err)
	}
	if r, err := w.service.Cancel(t.Context(), scope); err != nil || r.State != erasure.Canceled {
		t.Errorf("canceled: %+v, %v", r, err)
	}
	_, err = w.service.Cancel(t.Context(), scope)
	refused("canceled twice", err, errs.InvalidState)
	w.Clock.Add(8 * 24 * time.Hour)
	w.Call(http.MethodGet, "/v1/content-items/"+c.item, nil).Into(t, http.StatusOK, new(object))
	if all, err := w.service.List(t.Context(), scope.Account); err != nil || len(all) != 1 || all[0].Open() {
		t.Errorf("%+v, %v", all, err)
	}
	again := w.ask(scope, "Harbour Coffee")
	if again.Number != 2 || again.State != erasure.Waiting {
		t.Errorf("asked again: %+v", again)
	}
	w.reach(scope, erasure.Erasing)
	_, err = w.service.Cancel(t.Context(), scope)
	refused("canceled after its begin", err, errs.InvalidState)
	w.reach(scope, erasure.Done)
	if _, err := w.DB.Get(t.Context(), store.IDKey(c.item)); err == nil {
		t.Error("the item is left")
	}
}

// An owner who cancels at the moment of the begin either cancels or is told that it has begun; never both.
func TestTheBeginAndTheCancelExclude(t *testing.T) {
	w := newErasureWorld(t)
	c := w.fill("Harbour Coffee")
	scope := w.profileOf(c)
	w.ask(scope, "Harbour Coffee")
	w.until("the end of the export", func() bool { return w.of(scope).ReportedExport != "" })
	var canceled error
	tried := false
	w.until("the begin", func() bool {
		if w.Now().Before(w.of(scope).EraseAt.Add(-time.Minute)) || tried {
			return tried
		}
		w.Faults.Before("TransactWriteItems", func() {
			if !tried {
				tried = true
				_, canceled = w.service.Cancel(t.Context(), scope)
			}
		})
		return false
	})
	r := w.of(scope)
	if (canceled == nil) != (r.State == erasure.Canceled) {
		t.Errorf("canceled: %v; it is %s", canceled, r.State)
	}
}

// A last export that fails is told, and postpones the erasure by a day at least.
func TestAFailedExportIsTold(t *testing.T) {
	w := newErasureWorld(t)
	scope := w.profileOf(w.fill("Harbour Coffee"))
	asked := w.ask(scope, "Harbour Coffee")
	w.until("the end of the export", func() bool { return w.of(scope).ReportedExport != "" })
	w.Clock.Add(asked.EraseAt.Sub(w.Now()) - time.Hour)
	again, err := w.service.Export(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	w.Commit(func(tx *store.Tx) error {
		tx.Remove(store.IDKey(again.ExportID)) // as if an operator had deleted it
		tx.Remove(store.IDKey(transfer.ExportTask(again.ExportID)))
		return nil
	})
	w.until("the news", func() bool { return w.of(scope).ReportedExport == again.ExportID })
	if r := w.of(scope); r.EraseAt.Sub(w.Now()) != 24*time.Hour || r.State != erasure.Waiting {
		t.Errorf("%+v at %s", r, w.Now())
	}
	w.reach(scope, erasure.Done)
	if subjects := w.subjects("ada@example.com"); !slices.Contains(subjects,
		"The last export has failed: Harbour Coffee") {
		t.Errorf("the owner is told %q", subjects)
	}
}

// The erasure that somebody has asked for who is no owner any more at its time does not begin.
func TestAnErasureNeedsAnOwner(t *testing.T) {
	w := newErasureWorld(t)
	c := w.fill("Harbour Coffee")
	scope := w.profileOf(c)
	w.ask(scope, "Harbour Coffee")
	key := credential.KeyOf(w.Principal.Account, w.owner)
	it, err := w.DB.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	r, err := person.Read(&it, w.Now())
	if err != nil {
		t.Fatal(err)
	}
	r.Role = auth.Admin
	w.Commit(func(tx *store.Tx) error {
		err := it.Encode(r)
		tx.Replace(it)
		return err
	})
	w.reach(scope, erasure.Canceled)
	w.Call(http.MethodGet, "/v1/content-items/"+c.item, nil).Into(t, http.StatusOK, new(object))
}
