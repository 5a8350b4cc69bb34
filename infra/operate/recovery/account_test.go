package recovery

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/adapter/provider/polly"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// bucket is a bucket with versions of objects, which it lists one by one.
type bucket struct {
	keys    []string
	refuses bool
}

func (b *bucket) ListObjectVersions(_ context.Context, in *s3.ListObjectVersionsInput,
	_ ...func(*s3.Options)) (*s3.ListObjectVersionsOutput, error) {
	for i, key := range b.keys {
		if !strings.HasPrefix(key, *in.Prefix) || key <= aws.ToString(in.KeyMarker) {
			continue
		}
		more := slices.ContainsFunc(b.keys[i+1:], func(k string) bool { return strings.HasPrefix(k, *in.Prefix) })
		return &s3.ListObjectVersionsOutput{Versions: []s3types.ObjectVersion{{Key: &key, VersionId: aws.String("1")}},
			IsTruncated: &more, NextKeyMarker: &key}, nil
	}
	return &s3.ListObjectVersionsOutput{}, nil
}

func (b *bucket) DeleteObjects(_ context.Context, in *s3.DeleteObjectsInput,
	_ ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	if b.refuses {
		return &s3.DeleteObjectsOutput{Errors: []s3types.Error{{Key: in.Delete.Objects[0].Key,
			Message: aws.String("AccessDenied")}}}, nil
	}
	for _, o := range in.Delete.Objects {
		b.keys = slices.DeleteFunc(b.keys, func(k string) bool { return k == *o.Key })
	}
	return &s3.DeleteObjectsOutput{}, nil
}

// pool is a user pool, and whom it has forgotten.
type pool struct{ forgotten []string }

func (p *pool) Forget(_ context.Context, email string) (int, error) {
	p.forgotten = append(p.forgotten, email)
	return 1, nil
}

// data returns a world with a second account, secrets and files.
func data(t *testing.T) (*world, *bucket, Data, string) {
	t.Helper()
	w := newWorld(t)
	name := "Beta"
	other, err := account.NewService(w.db, w.clock).Create(t.Context(), account.Settings{Name: &name})
	w.must(err)
	tx := &store.Tx{}
	for _, id := range []string{w.id, other.ID} {
		owner := tenant.Of(tenant.Account(id), tenant.Live)
		hook, err := store.NewItem("webhook", owner, "whk_"+id,
			map[string]any{"id": "whk_" + id, "url": "https://example.com", "secrets": []any{"hush"}})
		w.must(err)
		key, err := store.NewItem("secret", owner, "secret_"+id, map[string]any{"hash": "hush"})
		w.must(err)
		tx.Create(hook, nil)
		tx.Create(key, nil)
		tx.Create(store.Item{Key: store.IDKey("waiting#" + owner.String()), Kind: "waiting"}, nil)
	}
	w.must(w.db.Commit(t.Context(), tx))
	trained, err := store.NewItem(training.ItemKind, tenant.Of(tenant.Account(w.id), tenant.Live), "trn_1",
		map[string]any{"id": "trn_1"})
	w.must(err)
	theirs, err := store.NewItem(training.ItemKind, tenant.Of(tenant.Account(other.ID), tenant.Live), "trn_2",
		map[string]any{"id": "trn_2"})
	w.must(err)
	tx = &store.Tx{}
	tx.Create(trained, nil)
	tx.Create(theirs, nil)
	for id, of := range map[string]string{"prs_1": w.id, "prs_2": w.id, "prs_3": other.ID} {
		email := map[string]string{"prs_1": "ada@example.com"}[id]
		if email == "" {
			email = "both@example.com"
		}
		it, err := store.NewItem(person.Kind, tenant.Of(tenant.Account(of), tenant.Live), id, map[string]any{"id": id,
			"email": email})
		w.must(err)
		tx.Create(it, nil)
	}
	w.must(w.db.Commit(t.Context(), tx))
	b := &bucket{keys: []string{
		training.Folder("trn_1") + "samples.jsonl", training.Folder("trn_2") + "samples.jsonl",
		bedrock.RawPrefix + w.id + "/abc/output.mp4", polly.RawPrefix + w.id + "/speech.1.mp3",
		polly.RawPrefix + other.ID + "/speech.2.mp3", "inputs/" + w.id + "/live/1.png",
		"media/" + w.id + "/live/cnt_1/1/1.png", "media/" + w.id + "/live/cnt_1/1/2.png", "media/" + other.ID +
			"/live/cnt_2/1/1.png", "uploads/" + w.id + "/med_1",
	}}
	slices.Sort(b.keys)
	return w, b, Data{Table: w.client, State: state, Audit: "audit", Bucket: b, Media: "media"}, other.ID
}

func TestAnExportHasAllOfAnAccountAndNoSecrets(t *testing.T) {
	w, _, d, other := data(t)
	var out bytes.Buffer
	lines, err := d.Export(t.Context(), w.id, &out)
	if err != nil || lines != strings.Count(out.String(), "\n") {
		t.Fatalf("%d lines, %v\n%s", lines, err, out.String())
	}
	kinds := map[string]int{}
	for line := range strings.Lines(out.String()) {
		var e exported
		w.must(json.Unmarshal([]byte(line), &e))
		kinds[e.Kind]++
		if e.Kind == "balance" && e.Numbers["credits"] != "93" {
			t.Errorf("the balance is %v", e.Numbers)
		}
	}
	for kind, want := range map[string]int{"account": 1, "balance": 1, "balance_entry": 2, "content_item": 1,
		"webhook": 1, "file": 7, "task": 0, "person": 2, "secret": 0} {
		if kinds[kind] != want {
			t.Errorf("%d of %s, want %d:\n%s", kinds[kind], kind, want, out.String())
		}
	}
	if strings.Contains(out.String(), "hush") || strings.Contains(out.String(), other) {
		t.Errorf("it has secrets or another account:\n%s", out.String())
	}
	if _, err := d.Export(t.Context(), "acc_none", &out); err == nil ||
		!strings.Contains(err.Error(), "there is no account acc_none") {
		t.Errorf("an account that is not there: %v", err)
	}
}

// end ends the work of the account.
func (w *world) end() {
	for _, r := range w.rows(task.ItemKind) {
		r["f_state"] = &types.AttributeValueMemberS{Value: "ended"}
		w.put(r)
	}
}

func TestAnErasedAccountLeavesNothing(t *testing.T) {
	for keep, kept := range map[bool]int{false: 0, true: 2} {
		w, b, d, other := data(t)
		w.end()
		before := len(w.rows(""))
		copies := &bucket{keys: slices.Clone(b.keys)} // in the region of a replica
		d.Copies, d.CopiesName = copies, "copies"
		p := &pool{}
		d.People = p
		e, err := d.Erase(t.Context(), w.id, "Acme", keep)
		if err != nil || e.Files != 14 || e.Kept != kept || e.People != 1 {
			t.Fatalf("%+v, %v", e, err)
		}
		items := 0
		for _, r := range w.rows("") {
			if strings.Contains(r.text("pk"), w.id) || r.account() == w.id {
				if items++; r.text("kind") != ledger.Kind {
					t.Errorf("%s %s is left", r.text("kind"), r.text("pk"))
				}
			}
		}
		if others := len(w.rows("")); items != kept || others != before-e.Items {
			t.Errorf("%d items of the account are left, and %d of %d in all", items, others, before)
		}
		// A person of both accounts still signs in.
		if !slices.Equal(p.forgotten, []string{"ada@example.com"}) {
			t.Errorf("the people %v are deleted", p.forgotten)
		}
		left := []string{"media/" + other + "/live/cnt_2/1/1.png", polly.RawPrefix + other + "/speech.2.mp3",
			training.Folder("trn_2") + "samples.jsonl"}
		if !slices.Equal(b.keys, left) || !slices.Equal(b.keys, copies.keys) {
			t.Errorf("the files %v and the copies %v are left", b.keys, copies.keys)
		}
		if _, err := d.Export(t.Context(), other, &bytes.Buffer{}); err != nil {
			t.Errorf("the other account: %v", err)
		}
	}
}

func TestErasuresThatAreRefused(t *testing.T) {
	for says, spoil := range map[string]func(w *world, b *bucket, d *Data) (id, name string){
		"there is no account": func(w *world, _ *bucket, _ *Data) (string,
			string) {
			return "acc_none", "Acme"
		},
		"not the name of the account":  func(w *world, _ *bucket, _ *Data) (string, string) { return w.id, "acme" },
		"1 tasks work for the account": func(w *world, _ *bucket, _ *Data) (string, string) { return w.id, "Acme" },
		"1 keys are active": func(w *world, _ *bucket, _ *Data) (string,
			string) {
			w.end()
			w.key()
			return w.id, "Acme"
		},
		"1 files could not be deleted,": func(w *world, b *bucket, _ *Data) (string,
			string) {
			w.end()
			b.refuses = true
			return w.id, "Acme"
		},
	} {
		w, b, d, _ := data(t)
		id, name := spoil(w, b, &d)
		before := len(w.rows(""))
		_, err := d.Erase(t.Context(), id, name, false)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want it to say %q", err, says)
		}
		if after := len(w.rows("")); after != before || len(b.keys) != 10 {
			t.Errorf("%s: %d of %d items and the files %v are left", says, after, before, b.keys)
		}
	}
}

// key gives the account an active key.
func (w *world) key() {
	it, err := store.NewItem("api_key", tenant.Of(tenant.Account(w.id), ""), "key_1",
		map[string]any{"id": "key_1", "state": "active"})
	w.must(err)
	tx := &store.Tx{}
	tx.Create(it, nil)
	w.must(w.db.Commit(w.t.Context(), tx))
}
