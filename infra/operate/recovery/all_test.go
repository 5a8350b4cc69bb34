package recovery

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/measure/metered"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/service/api"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// forgetful remembers the addresses that were forgotten.
type forgetful map[string]bool

func (f forgetful) Forget(_ context.Context, email string) (int, error) {
	f[email] = true
	return 1, nil
}

// used is a table after calls of all operations, with the accounts that made the calls.
type used struct {
	t     *testing.T
	data  Data
	world *metered.World
	names map[string]string // of the accounts, by their ids
}

func everyOperation(t *testing.T) used {
	t.Helper()
	w, err := metered.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for _, route := range api.Routes() {
		if route.OperationID == "resetSandbox" {
			continue // Its task would delete the resources of the others.
		}
		if _, err := w.Try(t.Context(), route.OperationID, false); err != nil {
			t.Fatal(err)
		}
	}
	// The results of the last calls still exist.
	for _, operation := range []string{"connectSocialAccount", "createContentItem", "addProductPhoto",
		"publishContentItem", "createMedia", "createImage", "applyDraft"} {
		r, err := w.Prepare(t.Context(), operation)
		if err == nil {
			_, err = w.Call(t.Context(), r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	client, table := storetest.Raw(t, w.State)
	u := used{t: t, world: w, data: Data{Table: client, State: table, Audit: table, Bucket: &bucket{}, Media: "media"},
		names: map[string]string{}}
	for _, r := range u.rows(account.Kind) {
		var doc struct{ Name string }
		if err := r.decode(&doc); err != nil {
			t.Fatal(err)
		}
		u.names[r.text("pk")] = doc.Name
	}
	return u
}

// rows returns the items of a kind, or all items if it is empty.
func (u used) rows(kind string) (all []row) {
	u.t.Helper()
	if err := each(u.t.Context(), u.data.Table, u.data.State, func(r row) error {
		if kind == "" || r.text("kind") == kind {
			all = append(all, r)
		}
		return nil
	}); err != nil {
		u.t.Fatal(err)
	}
	return all
}

// set sets a text of an item, in an attribute or in its document.
func (u used) set(r row, name string, edit func(string) string) {
	u.t.Helper()
	r[name] = &types.AttributeValueMemberS{Value: edit(r.text(name))}
	if _, err := u.data.Table.PutItem(u.t.Context(), &dynamodb.PutItemInput{TableName: &u.data.State,
		Item: r}); err != nil {
		u.t.Fatal(err)
	}
}

func (u used) check() string {
	u.t.Helper()
	r, err := Check(u.t.Context(), u.data.Table, u.data.State)
	if err != nil {
		u.t.Fatal(err)
	}
	return strings.Join(r.Broken, "\n")
}

func TestAnAccountThatUsedEverything(t *testing.T) {
	u := everyOperation(t)
	before := u.rows("")
	u.known(t)
	for _, r := range before {
		u.set(r, "kind", func(kind string) string { return kind })
	}
	u.exportedAndErased(t)
}

// known checks that each kind of items that an operation writes is classified, and that all accepted work has its task.
// It leaves faults in the table.
func (u used) known(t *testing.T) {
	t.Helper()
	if broken := u.check(); broken != "" {
		t.Errorf("after a call of each operation:\n%s", broken)
	}
	for _, r := range u.rows(ledger.Kind)[:1] {
		u.set(r, "kind", func(string) string { return "novelty" })
	}
	if broken := u.check(); !strings.Contains(broken,
		"1 items are of the kind novelty, which this check does not know") {
		t.Errorf("with a kind that is in no list:\n%s", broken)
	}
	// A publication and a photo have their own tasks.
	for _, r := range u.rows(task.ItemKind) {
		if pk := r.text("pk"); strings.Contains(pk, "#publish#") || strings.Contains(pk, "#photo#") {
			u.set(r, "f_state", func(string) string { return "ended" })
		}
	}
	broken := u.check()
	for _, says := range []string{" is publishing, and no task works on it", "pub_", "pho_",
		" is pending, and no task works on it"} {
		if !strings.Contains(broken, says) {
			t.Errorf("it does not say %q:\n%s", says, broken)
		}
	}
}

// exportedAndErased checks that an account that has called every operation is exported with everything that it can
// read, without secrets, and erased completely.
func (u used) exportedAndErased(t *testing.T) {
	t.Helper()
	for id, name := range u.names {
		var out bytes.Buffer
		lines, err := u.data.Export(t.Context(), id, &out)
		if err != nil || lines == 0 {
			t.Fatalf("%d lines, %v", lines, err)
		}
		exports := map[string]bool{}
		for line := range strings.Lines(out.String()) {
			var e exported
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			exports[e.ID] = true
		}
		for _, r := range u.rows("") {
			if r.account() != id {
				continue
			}
			if own := erasure.ByName[r.text("kind")].Own; exports[r.text("pk")] != own && r.text("sk") == "#" {
				t.Errorf("%s %s is in the export: %v", r.text("kind"), r.text("pk"), !own)
			}
			for _, name := range []string{"x_secret"} {
				if secret := r.text(name); secret != "" && strings.Contains(out.String(), secret) {
					t.Errorf("the export has %s of %s", name, r.text("pk"))
				}
			}
			for _, secret := range secretsOf(r) {
				if strings.Contains(out.String(), secret) {
					t.Errorf("the export has the secret %.12s… of %s", secret, r.text("pk"))
				}
			}
		}
		u.end(id)
		if _, err := u.data.Erase(t.Context(), id, name, false); err != nil {
			t.Fatal(err)
		}
		for _, r := range u.rows("") {
			if text, err := json.Marshal(r); err != nil || bytes.Contains(text, []byte(id)) {
				t.Errorf("%s %s is left, %v", r.text("kind"), r.text("pk"), err)
			}
		}
	}
	for _, r := range u.rows("") {
		t.Errorf("%s %s is left of an account", r.text("kind"), r.text("pk"))
	}
}

// The erasure that an owner asks for leaves as little of an account that has called every operation as the operator's:
// the entries of its balance without metadata, and a note without the account's name. A profile of it goes before, and
// leaves nothing but entries.
func TestAnOwnersErasureOfAnAccountThatUsedEverything(t *testing.T) {
	u := everyOperation(t)
	w := u.world
	service, forgotten := erasure.NewService(w.State, w.Now), forgetful{}
	sign := item.SignedBy(w.Workers.Media)
	eraser := &erasure.Worker{Deleter: erasure.Deleter{DB: w.State,
		Now: w.Now, Loaders: map[string]generate.Loader{item.ItemKind: item.Loader{Sign: sign},
			studio.ItemKind: studio.Loader{Sign: sign}}}, People: forgotten}
	handlers := map[task.Kind]task.Handler{erasure.TaskKind: task.Func(eraser.Erase)}
	kernel := servicetest.Kernel(w.State, w.Now, handlers)
	erase := func(scope tenant.Owner, name string) {
		t.Helper()
		owner := person.Record{Person: person.Person{Resource: resource.New(id.New(id.Person, w.Now()), w.Now(), nil),
			Email: "owner@example.com", Role: auth.Owner, State: person.Active}}
		it := store.Item{Key: credential.KeyOf(scope.Account, owner.ID), Kind: person.Kind,
			Owner: tenant.Of(scope.Account, "")}
		u.must(it.Encode(owner))
		made := &store.Tx{}
		made.Create(it, nil)
		u.must(w.State.Commit(t.Context(), made))
		r, err := service.Ask(t.Context(), scope, name, owner.ID)
		if err != nil {
			t.Fatal(err)
		}
		subject := erasure.Key(scope).PK
		m := task.Message{ID: task.ID(erasure.TaskKind, subject, r.Number), Kind: erasure.TaskKind, Wake: true}
		for n := 0; ; n++ {
			w.Clock = w.Clock.Add(24 * time.Hour)
			// The tasks of the others have no worker here, and the export is gone.
			var all []row
			if n%30 == 0 {
				all = u.rows("")
			}
			for _, row := range all {
				other := row.text("kind") == task.ItemKind && row.text("pk") != m.ID
				if other && row.text("f_state") != "ended" {
					u.set(row, "f_state", func(string) string { return "ended" })
				}
			}
			now, _, err := service.Find(t.Context(), scope)
			u.must(err)
			tx := &store.Tx{}
			tx.Remove(store.IDKey(now.ExportID))
			u.must(w.State.Commit(t.Context(), tx))
			next, err := kernel.Do(t.Context(), m, "")
			u.must(err)
			if next == nil {
				break
			}
			if n == 5000 {
				it, err := w.State.Get(t.Context(), store.IDKey(m.ID))
				t.Fatalf("%s goes on: %s, %v", subject, it.Doc, err)
			}
		}
		if got, _, err := service.Find(t.Context(), scope); err != nil || got.State != erasure.Done || got.Items == 0 {
			t.Errorf("%s ends as %+v, %v", subject, got, err)
		}
	}
	for _, r := range u.rows(profile.Kind)[:1] {
		id := r.text("pk")
		in := tenant.Of(tenant.Account(r.account()), tenant.Mode(r.text("mode")))
		erase(in.Of(tenant.Profile(id)), "A profile")
		for _, left := range u.rows("") {
			switch kind := left.text("kind"); {
			case kind == task.ItemKind && strings.Contains(left.text("pk"), string(transfer.ExportKind)):
			case left.text("f_profile") == id && kind != ledger.Kind,
				kind == "" && strings.Contains(left.text("pk"), id):
				t.Errorf("of the profile %s %s is left", kind, left.text("pk"))
			}
		}
	}
	for id, name := range u.names {
		erase(tenant.Of(tenant.Account(id), ""), name)
		kept := 0
		for _, r := range u.rows("") {
			text, err := json.Marshal(r)
			u.must(err)
			switch kind := r.text("kind"); {
			case !bytes.Contains(text, []byte(id)):
			case kind == ledger.Kind:
				var e ledger.Entry
				u.must(r.decode(&e))
				if kept++; len(e.Metadata) > 0 {
					t.Errorf("an entry keeps %v", e.Metadata)
				}
			case kind == erasure.Kind && !bytes.Contains(text, []byte(name)):
			case kind == task.ItemKind && strings.Contains(r.text("pk"), "task#erasure#"):
			default:
				t.Errorf("%s %s is left", kind, r.text("pk"))
			}
		}
		t.Logf("%d entries are kept of %s", kept, id)
	}
	if len(forgotten) == 0 {
		t.Error("nobody was forgotten")
	}
	for _, r := range u.rows("") {
		if kind := r.text("kind"); r.account() == "" && r.text("ttl") == "" && r["ttl"] == nil {
			t.Errorf("%s %s is left for good", kind, r.text("pk"))
		}
	}
	if broken := u.check(); broken != "" {
		t.Errorf("the check says:\n%s", broken)
	}
}

func (u used) must(err error) {
	u.t.Helper()
	if err != nil {
		u.t.Fatal(err)
	}
}

// secretsOf returns the values of the members of a document that are secrets.
func secretsOf(r row) (all []string) {
	var walk func(value any, secret bool)
	walk = func(value any, secret bool) {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				walk(member, secret || name == "sealed" || name == "hash" || name == "nonce")
			}
		case []any:
			for _, one := range v {
				walk(one, secret)
			}
		case string:
			if secret && v != "" {
				all = append(all, v)
			}
		}
	}
	var doc any
	if r.text("doc") != "" && r.decode(&doc) == nil {
		walk(doc, false)
	}
	return all
}

// end ends the work of an account, and revokes its keys.
func (u used) end(id string) {
	u.t.Helper()
	for _, r := range u.rows("") {
		switch {
		case r.account() != id:
		case r.text("kind") == task.ItemKind:
			u.set(r, "f_state", func(string) string { return "ended" })
		case r.text("kind") == "api_key":
			u.set(r, "doc", func(doc string) string { return strings.ReplaceAll(doc, `"active"`, `"revoked"`) })
		}
	}
}

// Kept entries of the ledger have none of the customer's own texts.
func TestKeptEntriesHaveNoMetadata(t *testing.T) {
	w, _, d, _ := data(t)
	w.end()
	r := w.rows(ledger.Kind)[0]
	r["doc"] = &types.AttributeValueMemberS{Value: strings.Replace(r.text("doc"), `"metadata":{}`,
		`"metadata":{"client":"Jane Doe"}`, 1)}
	w.put(r)
	if !strings.Contains(w.rows(ledger.Kind)[0].text("doc")+w.rows(ledger.Kind)[1].text("doc"), "Jane Doe") {
		t.Fatalf("no entry has metadata: %v", aws.ToString(nil)+r.text("doc"))
	}
	if _, err := d.Erase(t.Context(), w.id, "Acme", true); err != nil {
		t.Fatal(err)
	}
	for _, r := range w.rows(ledger.Kind) {
		var e ledger.Entry
		w.must(r.decode(&e))
		if len(e.Metadata) > 0 || e.ID == "" || e.Credits == 0 {
			t.Errorf("kept is %+v", e)
		}
	}
}
