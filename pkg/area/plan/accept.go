package plan

import (
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Task is the kind of the task that makes the items of a plan.
const Task task.Kind = "content_plan"

// message returns the message of a plan's task.
func message(o tenant.Owner, planID string) task.Message {
	return task.Message{ID: task.ID(Task, planID, 1), Kind: Task, Queue: topology.GenerateText,
		Subject: planID, Owner: o}
}

// Accept adds a new plan to the transaction: its item, its counts, its recipe, its task, and the reservation of its
// price, the credits of all items together. The factory's book is written by the caller. replaced are the plans that
// lose days to the new one, and canceled those of them that the new one waits for. b is the result of ledger.FundsOf.
// Accept and the commit refuse as ledger.Reserve does.
func Accept(tx *store.Tx, now time.Time, o tenant.Owner, p Plan, r Recipe, credits int64, payer ledger.Payer,
	b ledger.Balance, replaced, canceled []string) error {
	hold, err := ledger.Reserve(tx, now, ledger.Reservation{Account: o.Account, Profile: o.Profile, Subject: p.ID,
		About: p.about(), Credits: credits, Payer: payer}, b)
	if err != nil {
		return err
	}
	it, err := p.Entry(o)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	factory.AddCounts(tx, now, p.FactoryID, p.ID, factory.Counts{Reserved: credits})
	if err := p.note(tx, o, recipeKey(p.ID), "content_plan_recipe", r); err != nil {
		return err
	}
	for _, planID := range replaced {
		if err := task.Wake(tx, now, message(o, planID)); err != nil {
			return err
		}
	}
	return task.Create(tx, now, task.Task{Message: message(o, p.ID)}, payload{FactoryID: p.FactoryID, Hold: hold,
		Replaces: canceled})
}
