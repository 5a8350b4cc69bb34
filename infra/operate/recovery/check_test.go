package recovery

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	state = "state"
	work1 = "cnt_01h455vb4pex5vsknk084sn02q"
)

// world is a table with an account that has work in progress.
type world struct {
	t      *testing.T
	client *dynamodb.Client
	db     *store.DB
	id     string
	now    time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	var cfg aws.Config
	storetest.Open(t, clock, func(c *aws.Config) { cfg = *c })
	w.client = dynamodb.NewFromConfig(cfg)
	for _, name := range []string{state, "audit"} {
		drop := func() {
			_, _ = w.client.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &name})
		}
		drop() // of an earlier world of the test
		w.must(storetest.CreateTable(t.Context(), w.client, name))
		t.Cleanup(drop)
	}
	w.db = store.Open(cfg, state, store.WithClock(clock))
	accounts := account.NewService(w.db, clock)
	name := "Acme"
	a, err := accounts.Create(t.Context(), account.Settings{Name: &name})
	w.must(err)
	w.id = a.ID
	_, err = accounts.TopUp(t.Context(), tenant.Account(a.ID), 100)
	w.must(err)
	w.accept(work1)
	return w
}

func (w *world) clock() time.Time { return w.now }

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// accept accepts work like the operations: it stores the resource, its task and its reservation.
func (w *world) accept(id string) {
	w.t.Helper()
	owner := tenant.Of(tenant.Account(w.id), tenant.Live)
	balance, err := w.db.Get(w.t.Context(), ledger.BalanceKey(owner.Account))
	w.must(err)
	tx := &store.Tx{}
	it, err := store.NewItem(item.ItemKind, owner, id, map[string]any{
		"item": map[string]any{"id": id, "state": item.Queued}})
	w.must(err)
	tx.Create(it, nil)
	_, err = ledger.Reserve(tx, w.now, ledger.Reservation{Account: owner.Account, Subject: id, Credits: 7},
		ledger.BalanceOf(balance))
	w.must(err)
	w.must(task.Create(tx, w.now, task.Task{Message: task.Message{
		ID: task.ID(generate.Generate, id, 1), Kind: generate.Generate, Queue: topology.GenerateText, Subject: id,
		Owner: owner,
	}}, nil))
	w.must(w.db.Commit(w.t.Context(), tx))
}

// rows returns the items of a kind.
func (w *world) rows(kind string) (all []row) {
	w.t.Helper()
	w.must(each(w.t.Context(), w.client, state, func(r row) error {
		if kind == "" || r.text("kind") == kind {
			all = append(all, r)
		}
		return nil
	}))
	return all
}

func (w *world) remove(r row) {
	w.t.Helper()
	_, err := w.client.DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(state),
		Key: map[string]types.AttributeValue{"pk": r["pk"], "sk": r["sk"]}})
	w.must(err)
}

func (w *world) put(r row) {
	w.t.Helper()
	_, err := w.client.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(state), Item: r})
	w.must(err)
}

func (w *world) check() Report {
	w.t.Helper()
	r, err := Check(w.t.Context(), w.client, state)
	w.must(err)
	return r
}

func TestAWholeTable(t *testing.T) {
	r := newWorld(t).check()
	if r.Accounts != 1 || r.Credits != 93 || r.Held != 1 || r.OpenTasks != 1 || r.Unfinished != 1 ||
		len(r.Broken) != 0 || r.Broken == nil {
		t.Errorf("%+v", r)
	}
}

// The reservation of a message belongs to the claim of its call, which does not name it.
func TestTheReservationOfAMessage(t *testing.T) {
	w := newWorld(t)
	const message = "msg_01h455vb4pex5vsknk084sn02q"
	owner := tenant.Of(tenant.Account(w.id), tenant.Live)
	balance, err := w.db.Get(t.Context(), ledger.BalanceKey(owner.Account))
	w.must(err)
	tx := &store.Tx{}
	_, err = ledger.Reserve(tx, w.now, ledger.Reservation{Account: owner.Account, Subject: message, Credits: 1},
		ledger.BalanceOf(balance))
	w.must(err)
	w.must(w.db.Commit(t.Context(), tx))
	if broken := w.check().Broken; len(broken) != 1 || !strings.Contains(broken[0], "are held for "+message) {
		t.Errorf("without a claim, it finds %q", broken)
	}
	tx = &store.Tx{}
	w.must(task.Create(tx, w.now, task.Task{Message: task.Message{ID: task.ID(httpapi.ClaimKind, "token", 1),
		Kind: httpapi.ClaimKind, Queue: topology.Settle, Subject: "token", Owner: owner}}, nil))
	w.must(w.db.Commit(t.Context(), tx))
	if broken := w.check().Broken; len(broken) != 0 {
		t.Errorf("with a claim, it finds %q", broken)
	}
}

// The check finds each missing part of a restored table.
func TestWhatDoesNotFitTogetherIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*world)
		says  string
	}{
		"an entry is lost":  {func(w *world) { w.remove(w.rows(ledger.Kind)[0]) }, "and its entries add up to"},
		"a balance is lost": {func(w *world) { w.remove(w.rows("balance")[0]) }, "has no balance"},
		"a balance of before": {func(w *world) {
			r := w.rows("balance")[0]
			r["n_credits"] = &types.AttributeValueMemberN{Value: "100"}
			w.put(r)
		}, "is 100, and its entries add up to 93"},
		"a task is lost": {func(w *world) { w.remove(w.rows(task.ItemKind)[0]) },
			work1 + " is queued, and no task works on it"},
		"the timer of a scheduled item is lost": {func(w *world) {
			r := w.rows(item.ItemKind)[0]
			r["doc"] = &types.AttributeValueMemberS{Value: strings.ReplaceAll(r.text("doc"), "queued", "scheduled")}
			w.put(r)
			w.remove(w.rows(task.ItemKind)[0])
		}, work1 + " is scheduled, and no task works on it"},
		"a task that is never due": {func(w *world) {
			r := w.rows(task.ItemKind)[0]
			delete(r, "due_pk")
			delete(r, "due_sk")
			w.put(r)
		}, "is open and never due"},
		"an ended task": {func(w *world) {
			r := w.rows(task.ItemKind)[0]
			r["f_state"] = &types.AttributeValueMemberS{Value: "ended"}
			w.put(r)
		}, "are held for " + work1 + ", and no task works on it"},
		"an account is lost": {func(w *world) { w.remove(w.rows(account.Kind)[0]) }, "which is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.spoil(w)
			if r := w.check(); !slices.ContainsFunc(r.Broken,
				func(s string) bool { return strings.Contains(s, c.says) }) {
				t.Errorf("it does not say %q: %q", c.says, r.Broken)
			}
		})
	}
}
