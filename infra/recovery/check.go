package recovery

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/account"
	"github.com/content-automation/api/pkg/content/item"
	"github.com/content-automation/api/pkg/factory/diagnosis"
	"github.com/content-automation/api/pkg/factory/plan"
	"github.com/content-automation/api/pkg/factory/training/job"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/media/incoming"
	"github.com/content-automation/api/pkg/studio/generation"
	"github.com/content-automation/api/pkg/task"
)

// unfinished are the states in which a task works on a resource, by its kind.
var unfinished = map[string][]string{
	item.ItemKind:       {string(item.Queued), string(item.Generating), string(item.Scheduled), string(item.Publishing)},
	generation.ItemKind: {string(generation.Queued), string(generation.Generating)},
	diagnosis.ItemKind:  {string(diagnosis.Queued), string(diagnosis.Running)},
	plan.ItemKind:       {string(plan.Queued), string(plan.Planning), string(plan.Generating)},
	job.ItemKind:        {string(job.Queued), string(job.Running)},
	incoming.ItemKind:   {string(incoming.Pending)},
}

// Report is what is in a table, and what does not fit together.
type Report struct {
	Items      int   `json:"items"`
	Accounts   int   `json:"accounts"`
	Credits    int64 `json:"credits"` // of all balances
	Held       int   `json:"held"`    // reservations of work that has not ended
	OpenTasks  int   `json:"open_tasks"`
	Unfinished int   `json:"unfinished"` // resources that a task works on
	// Broken are sentences about what does not fit together; none: the table is whole.
	Broken []string `json:"broken"`
}

// open are the open tasks of one account.
type open struct {
	subjects map[string]bool
	docs     []string
	// starts reports that a task is to begin the work of several resources: until then,
	// these have none of their own.
	starts bool
}

// names reports whether a task works on what has the id.
func (o *open) names(id string) bool {
	return o != nil && (o.starts || o.subjects[id] || slices.ContainsFunc(o.docs, func(doc string) bool { return strings.Contains(doc, id) }))
}

// work is something that needs a task.
type work struct{ account, id, parent, what string }

// check is what a pass over a table has found.
type check struct {
	Report
	accounts     map[string]bool
	owners       map[string]string // of items, with one item each
	balances     map[string]int64
	entries      map[string]int64 // sums
	tasks        map[string]*open
	works        []work
	reservations []work
}

// Check reads a table, which nothing writes to meanwhile, and reports whether the money adds
// up and all work that was accepted goes on. A restored table may have one half of a
// transaction, as AWS restores items and not transactions.
func Check(ctx context.Context, s Scanner, table string) (Report, error) {
	c := &check{
		accounts: map[string]bool{}, owners: map[string]string{}, balances: map[string]int64{}, entries: map[string]int64{}, tasks: map[string]*open{},
	}
	c.Broken = []string{}
	if err := each(ctx, s, table, c.read); err != nil {
		return c.Report, err
	}
	c.money()
	c.workGoesOn()
	for _, owner := range slices.Sorted(maps.Keys(c.owners)) {
		if !c.accounts[owner] {
			c.fail("%s belongs to the account %s, which is missing", c.owners[owner], owner)
		}
	}
	slices.Sort(c.Broken)
	return c.Report, nil
}

func (c *check) fail(format string, args ...any) {
	c.Broken = append(c.Broken, fmt.Sprintf(format, args...))
}

// read notes an item.
func (c *check) read(r row) error {
	c.Items++
	kind, pk, owner := r.text("kind"), r.text("pk"), r.account()
	if owner != "" && kind != account.Kind {
		c.owners[owner] = pk
	}
	switch kind {
	case account.Kind:
		c.Accounts++
		c.accounts[pk] = true
	case "balance":
		c.balances[owner] = r.number("n_credits")
		c.Credits += r.number("n_credits")
	case ledger.Kind:
		var e ledger.Entry
		if err := r.decode(&e); err != nil {
			return err
		}
		c.entries[owner] += e.Credits
		if r.text("x_state") == "held" {
			c.Held++
			c.reservations = append(c.reservations, work{owner, e.Subject, e.Subject, "the credits of " + pk + " are held for " + e.Subject})
		}
	case task.ItemKind:
		if r.text("f_state") != "ended" {
			return c.readTask(r)
		}
	}
	if states := unfinished[kind]; states != nil {
		var doc struct {
			ID        string `json:"id"`
			State     string `json:"state"`
			FactoryID string `json:"factory_id"`
		}
		if err := r.decode(&doc); err != nil {
			return err
		}
		if slices.Contains(states, doc.State) {
			c.Unfinished++
			c.works = append(c.works, work{owner, doc.ID, doc.FactoryID, doc.ID + " is " + doc.State})
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
	owner := r.account()
	of := c.tasks[owner]
	if of == nil {
		of = &open{subjects: map[string]bool{}}
		c.tasks[owner] = of
	}
	of.subjects[t.Subject] = true
	of.docs = append(of.docs, r.text("doc"))
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

// workGoesOn looks for work and reservations that no task will end.
func (c *check) workGoesOn() {
	for _, w := range c.works {
		if of := c.tasks[w.account]; !of.names(w.id) && (w.parent == "" || of == nil || !of.subjects[w.parent]) {
			c.fail("%s, and no task works on it", w.what)
		}
	}
	for _, w := range c.reservations {
		if !c.tasks[w.account].names(w.id) {
			c.fail("%s, and no task works on it", w.what)
		}
	}
}
