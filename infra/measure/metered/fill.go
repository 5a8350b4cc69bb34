package metered

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// dispatch creates the deliveries of the events to the webhooks, and makes those of a page of one webhook.
func (w *World) dispatch(ctx context.Context, state *store.DB) error {
	var happened []event.Event
	// The webhooks receive no others.
	if err := w.list(ctx, Request{Operation: "listEvents", Query: map[string]string{"type": "content.*"}},
		&happened); err != nil {
		return err
	}
	var batch events.SQSEvent
	for _, e := range happened {
		body, err := json.Marshal(map[string]any{"detail": event.Ref{ID: e.ID, Type: e.Type,
			Owner: tenant.Of(e.AccountID, e.Mode).Of(tenant.Profile(w.Profile))}})
		if err != nil {
			return err
		}
		batch.Records = append(batch.Records, events.SQSMessage{MessageId: e.ID, Body: string(body)})
	}
	out, err := webhook.NewDispatcher(state, w.Now).Handle(ctx, batch)
	if err != nil || len(out.BatchItemFailures) > 0 {
		return fmt.Errorf("%d events were not dispatched: %w", len(out.BatchItemFailures), err)
	}
	var made []webhook.Delivery
	if err := w.list(ctx, Request{Operation: "listDeliveries", ID: w.webhook}, &made); err != nil {
		return err
	}
	w.event, w.delivery = happened[0].ID, made[0].ID
	kernel := w.Kernel(w.Workers)
	for _, d := range made {
		if err := w.steps(ctx, kernel, task.ID(webhook.DeliverKind, d.ID, 0)); err != nil {
			return err
		}
	}
	return nil
}

// list reads a list that must not be empty.
func (w *World) list(ctx context.Context, r Request, into any) error {
	a, err := w.Call(ctx, r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(a.Data, into); err != nil || string(a.Data) == "[]" {
		return fmt.Errorf("%s returns no resource: %s: %w", r.Operation, strconv.Quote(string(a.Data)), err)
	}
	return nil
}

// make carries out an operation that creates a resource, and returns the id of the resource.
func (w *World) make(ctx context.Context, operation string) (string, error) {
	r, err := w.Prepare(ctx, operation)
	if err != nil {
		return "", err
	}
	made, err := w.Call(ctx, r)
	if err != nil {
		return "", err
	}
	return made.ID()
}
