package metered

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/advice"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// connect connects a channel, or returns its account if it is already connected.
func (w *World) connect(ctx context.Context, channel string) (string, error) {
	a, err := w.Call(ctx, Request{Operation: "connectSocialAccount",
		Body: Object{"platform": "telegram", "bot_token": "123456789:EXAMPLE-EXAMPLE-EXAMPLE", "channel": channel}})
	if err != nil {
		return "", err
	}
	return a.ID()
}

// generate takes all steps of the work of an item.
func (w *World) generate(ctx context.Context, itemID string) error {
	return w.steps(ctx, w.Kernel(w.Workers), task.ID(generate.Generate, itemID, 1))
}

// diagnose creates a diagnosis of a factory, and returns the id of one of its proposals.
func (w *World) diagnose(ctx context.Context, factoryID string) (proposalID string, err error) {
	started, err := w.Call(ctx, Request{Operation: "diagnoseFactory", ID: factoryID})
	if err != nil {
		return "", err
	}
	diagnosisID, err := started.ID()
	if err != nil {
		return "", err
	}
	if err := w.steps(ctx, w.Kernel(w.Workers), task.ID(advice.TaskKind, diagnosisID, 1)); err != nil {
		return "", err
	}
	a, err := w.Call(ctx, Request{Operation: "getDiagnosis", ID: factoryID})
	if err != nil {
		return "", err
	}
	var d advice.Diagnosis
	if err := json.Unmarshal(a.Data, &d); err != nil || len(d.ProposalIDs) == 0 {
		return "", fmt.Errorf("no proposals: %s: %w", a.Data, err)
	}
	return d.ProposalIDs[0], nil
}

// steps takes all steps of a task.
func (w *World) steps(ctx context.Context, kernel *task.Kernel, taskID string) error {
	m := task.Message{ID: taskID, Step: 1}
	for {
		next, err := kernel.Do(ctx, m, "")
		if err != nil || next == nil {
			return err
		}
		m = next.Message
	}
}

// roll counts an item in the analytics, as the relay does.
func (w *World) roll(ctx context.Context, itemID string) error {
	it, err := w.State.Get(ctx, store.IDKey(itemID))
	if err != nil {
		return err
	}
	m, ok, err := analytics.Message(it)
	if err != nil || !ok {
		return errors.Join(fmt.Errorf("%s contributes nothing", itemID), err)
	}
	return errors.Join(analytics.New(w.State).Count(ctx, []events.SQSMessage{{MessageId: itemID, Body: m.Body}})...)
}

// Kernel returns a kernel that takes the steps of generations, diagnoses and deliveries.
func (w *World) Kernel(e worker.Env) *task.Kernel {
	handlers := worker.Handlers{}
	for _, name := range []string{"generate", "diagnose", "deliver"} {
		maps.Copy(handlers, worker.Named(name).Tasks(e))
	}
	return worker.Kernel(w.State, handlers, w.Now)
}
