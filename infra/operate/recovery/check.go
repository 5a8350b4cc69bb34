// Package recovery helps operators after a disaster, and at the end of a contract. It checks a
// restored table, and exports and erases an account. It reads whole tables; no function that
// serves callers does that.
package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Report has the contents of a table, and their contradictions.
type Report struct {
	Items      int   `json:"items"`
	Accounts   int   `json:"accounts"`
	Credits    int64 `json:"credits"` // the sum of all balances
	Held       int   `json:"held"`    // reservations of work that has not ended
	OpenTasks  int   `json:"open_tasks"`
	Unfinished int   `json:"unfinished"` // resources that a task works on
	// Broken are sentences about contradictions. It is empty if the table is whole.
	Broken []string `json:"broken"`
}

// openTasks are the open tasks of one account.
type openTasks struct {
	subjects map[string]bool
	docs     []string
	// starts reports that a task will begin the work of several resources, which have no tasks
	// of their own until then.
	starts bool
	// claims reports that a task will end a call that has reserved credits for a message,
	// whose id only the sealed claim has.
	claims bool
}

// names reports whether a task works on the resource with the id.
func (o *openTasks) names(resource string) bool {
	return o != nil && (o.subjects[resource] || o.claims && strings.HasPrefix(resource, message) ||
		slices.ContainsFunc(o.docs, func(doc string) bool { return strings.Contains(doc, resource) }))
}

// message is the prefix of the ids of messages.
const message = id.Message + "_"

// begins reports whether a task will begin the work of several resources.
func (o *openTasks) begins() bool { return o != nil && o.starts }

// work is a resource that needs a task. A part has its own task from its beginning.
type work struct {
	account, id, parent, description string
	part                             bool
}

// check has the findings of a pass over a table.
type check struct {
	Report
	accounts     map[string]bool
	owners       map[string]string // the id of one item, by owner
	balances     map[string]int64
	entries      map[string]int64 // sums
	tasks        map[string]*openTasks
	works        []work
	reservations []work
	unknown      map[string]int // numbers of items, by kinds that are not in the list
	// erased are the accounts that their owners had erased: the entries of their balances stay.
	erased map[string]bool
}

// Check reads a table that nothing else writes to, and reports whether the balances add up and
// all accepted work will continue. A restored table may have one half of a transaction, because
// AWS restores items and not transactions.
func Check(ctx context.Context, s Scanner, table string) (Report, error) {
	c := &check{
		accounts: map[string]bool{}, owners: map[string]string{}, balances: map[string]int64{},
		entries: map[string]int64{}, tasks: map[string]*openTasks{}, unknown: map[string]int{},
		erased: map[string]bool{},
	}
	c.Broken = []string{}
	if err := each(ctx, s, table, c.read); err != nil {
		return c.Report, err
	}
	c.money()
	c.workGoesOn()
	for _, owner := range slices.Sorted(maps.Keys(c.owners)) {
		if !c.accounts[owner] && !c.erased[owner] && owner != string(transfer.ServiceAccount) {
			c.fail("%s belongs to the account %s, which is missing", c.owners[owner], owner)
		}
	}
	for name, n := range c.unknown {
		c.fail("%d items are of the kind %s, which this check does not know", n, name)
	}
	slices.Sort(c.Broken)
	return c.Report, nil
}

func (c *check) fail(format string, args ...any) {
	c.Broken = append(c.Broken, fmt.Sprintf(format, args...))
}

// read records an item.
func (c *check) read(r row) error {
	c.Items++
	name, pk, owner := r.text("kind"), r.text("pk"), r.account()
	if owner != "" && name != account.Kind {
		c.owners[owner] = pk
	}
	switch name {
	case account.Kind:
		c.Accounts++
		c.accounts[pk] = true
	case "balance":
		c.balances[owner] = r.number("n_credits")
		c.Credits += r.number("n_credits")
	case erasure.Kind:
		var e erasure.Record
		if err := r.decode(&e); err != nil {
			return err
		}
		c.erased[owner] = c.erased[owner] || e.Whole() && e.State == erasure.Done
	case ledger.Kind:
		var e ledger.Entry
		if err := r.decode(&e); err != nil {
			return err
		}
		c.entries[owner] += e.Credits
		if r.text("x_state") == "held" {
			c.Held++
			c.reservations = append(c.reservations,
				work{account: owner, id: e.Subject, description: "the credits of " + pk + " are held for " + e.Subject})
		}
	case task.ItemKind:
		if r.text("f_state") != "ended" {
			return c.readTask(r)
		}
	case webhook.DeliveryKind:
		if due := r.text("due_pk"); due != "" {
			of := webhook.HeldFor(due)
			c.works = append(c.works, work{account: owner, id: of, description: r.text("sk") + " is held for " + of,
				part: true})
		}
	}
	if of, known := erasure.ByName[name]; known {
		return c.readWork(of, r)
	} else if name != "" {
		c.unknown[name]++
	}
	return nil
}

// readWork records an item, or parts of it, that a task works on.
func (c *check) readWork(of erasure.KindOf, r row) error {
	if len(of.Unfinished) == 0 && of.Parts == "" {
		return nil
	}
	type worked struct {
		ID        string `json:"id"`
		State     string `json:"state"`
		FactoryID string `json:"factory_id"`
	}
	var doc worked
	var err error
	if r.text("kind") == item.ItemKind {
		stored := struct{ Item *worked }{&doc}
		err = r.decode(&stored)
	} else {
		err = r.decode(&doc)
	}
	if err != nil {
		return err
	}
	if slices.Contains(of.Unfinished, doc.State) {
		c.Unfinished++
		c.works = append(c.works, work{account: r.account(), id: doc.ID, parent: doc.FactoryID, description: doc.ID +
			" is " + doc.State, part: of.Row})
	}
	if of.Parts == "" {
		return nil
	}
	var all map[string]json.RawMessage
	if err := r.decode(&all); err != nil {
		return err
	}
	var parts []struct{ ID, State string }
	if data := all[of.Parts]; data != nil {
		if err := json.Unmarshal(data, &parts); err != nil {
			return fmt.Errorf("%s of %s cannot be read: %w", of.Parts, doc.ID, err)
		}
	}
	for _, p := range parts {
		if p.State == of.Working {
			c.works = append(c.works, work{account: r.account(), id: p.ID, description: p.ID + " of " + doc.ID +
				" is " + p.State, part: true})
		}
	}
	return nil
}

func (c *check) readTask(r row) error {
	c.OpenTasks++
	var t task.Task
	if err := r.decode(&t); err != nil {
		return err
	}
	if t.Kind == generate.Expire {
		return nil // The task accompanies the resource, and does not make it.
	}
	owner := r.account()
	of := c.tasks[owner]
	if of == nil {
		of = &openTasks{subjects: map[string]bool{}}
		c.tasks[owner] = of
	}
	of.subjects[t.Subject] = true
	of.docs = append(of.docs, r.text("doc"))
	of.claims = of.claims || t.Kind == httpapi.ClaimKind
	of.starts = of.starts || t.Kind == generate.Start || t.Kind == plan.Task
	if r.text("due_pk") == "" {
		c.fail("the task %s is open and never due: nothing would send its message again", t.ID)
	}
	return nil
}

// money compares each balance with its entries.
func (c *check) money() {
	for _, id := range slices.Sorted(maps.Keys(c.accounts)) {
		balance, ok := c.balances[id]
		switch {
		case !ok:
			c.fail("the account %s has no balance", id)
		case balance < 0:
			c.fail("the balance of %s is %d", id, balance)
		case balance != c.entries[id]:
			c.fail("the balance of %s is %d, and its entries add up to %d", id, balance, c.entries[id])
		}
	}
}

// workGoesOn finds work and reservations that no task will end.
func (c *check) workGoesOn() {
	for _, w := range append(c.works, c.reservations...) {
		of := c.tasks[w.account]
		if !of.names(w.id) && (w.part || !of.begins()) && (w.parent == "" || of == nil || !of.subjects[w.parent]) {
			c.fail("%s, and no task works on it", w.description)
		}
	}
}

// Scanner reads a table.
type Scanner interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// row is an item as stored.
type row map[string]types.AttributeValue

func (r row) text(name string) string {
	if s, ok := r[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func (r row) number(name string) int64 {
	n, _ := r[name].(*types.AttributeValueMemberN)
	if n == nil {
		return 0
	}
	v, _ := strconv.ParseInt(n.Value, 10, 64) // The service writes only integers.
	return v
}

func (r row) account() string { return r.text("acc") }

// decode decodes the document of the item.
func (r row) decode(into any) error {
	if err := json.Unmarshal([]byte(r.text("doc")), into); err != nil {
		return fmt.Errorf("the document of %s cannot be read: %w", r.text("pk"), err)
	}
	return nil
}

// each calls f for all items of a table.
func each(ctx context.Context, s Scanner, table string, f func(row) error) error {
	in := &dynamodb.ScanInput{TableName: &table}
	for {
		page, err := s.Scan(ctx, in)
		if err != nil {
			return fmt.Errorf("read the table %s: %w", table, err)
		}
		for _, item := range page.Items {
			item, err := store.Unpack(item)
			if err == nil {
				err = f(item)
			}
			if err != nil {
				return err
			}
		}
		if in.ExclusiveStartKey = page.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return nil
		}
	}
}
