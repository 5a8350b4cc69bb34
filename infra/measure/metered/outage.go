package metered

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Outage is the usage of an outage of the receiver of a webhook.
type Outage struct {
	// Held is the usage of making deliveries that are held back, and Probe that of one probe that fails. Returned is
	// the usage of all that follows when the receiver answers.
	Held, Probe, Returned Used
}

// Used is a usage with its write units by place.
type Used struct {
	Reading
	Places Places
}

// mute is a receiver that does not answer while it is silent.
type mute struct{ silent bool }

// Do implements webhook.Caller.
func (m *mute) Do(r *http.Request) (*http.Response, error) {
	if m.silent {
		return nil, errors.New("no answer")
	}
	return taker{}.Do(r)
}

// Outage lets the receiver of the webhook be silent while n events happen, and then answer. It removes the other
// webhooks of the account, which would get these events, too.
func (w *World) Outage(ctx context.Context, n int) (o Outage, err error) {
	receiver := &mute{silent: true}
	env := w.Workers
	env.Receivers = receiver
	kernel := w.Kernel(env)
	to := webhook.Ref{Owner: tenant.Of(w.account, tenant.Test), ID: w.webhook}
	if err := w.removeOthers(ctx, to); err != nil {
		return o, err
	}
	for range webhook.TripAfter {
		ref, err := w.happen(ctx)
		if err == nil {
			err = w.dispatchOne(ctx, ref)
		}
		if err != nil {
			return o, err
		}
		at := webhook.DeliveryID(w.Now(), ref.ID, to.ID)
		if _, err := kernel.Do(ctx, task.Message{ID: task.ID(webhook.DeliverKind, at, 0), Step: 1}, ""); err != nil {
			return o, err
		}
	}
	for range n {
		ref, err := w.happen(ctx)
		if err != nil {
			return o, err
		}
		if err := w.weigh(&o.Held, func() error { return w.dispatchOne(ctx, ref) }); err != nil {
			return o, err
		}
	}
	timer, err := w.timer(ctx, to)
	if err != nil {
		return o, err
	}
	// The first step is due with the first probe. The second one is a probe, too, which succeeds.
	w.Clock = w.Clock.Add(3 * time.Second)
	m := task.Message{ID: timer, Step: 1}
	if err := w.weigh(&o.Probe, func() error { return w.step(ctx, kernel, &m) }); err != nil {
		return o, err
	}
	receiver.silent = false
	return o, w.weigh(&o.Returned, func() error {
		for m.ID != "" {
			if err := w.step(ctx, kernel, &m); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeOthers removes all webhooks of the account but one.
func (w *World) removeOthers(ctx context.Context, but webhook.Ref) error {
	q := store.Query{Index: store.Table, Partition: webhook.List(but.Owner), Limit: webhook.PerRead}
	return w.State.Each(ctx, q, func(it store.Item) error {
		if it.SK == but.ID {
			return nil
		}
		tx := &store.Tx{}
		tx.Delete(it)
		return w.State.Commit(ctx, tx)
	})
}

// happen writes an event of the webhook's account.
func (w *World) happen(ctx context.Context) (event.Ref, error) {
	owner := tenant.Of(w.account, tenant.Test).Of(tenant.Profile(w.Profile))
	e, err := event.New(w.Now(), owner, event.ContentGenerated, map[string]any{"id": w.item}, nil)
	if err != nil {
		return event.Ref{}, err
	}
	tx := &store.Tx{}
	tx.Create(e, nil)
	return event.RefOf(e), w.State.Commit(ctx, tx)
}

// dispatchOne has the deliveries of an event made.
func (w *World) dispatchOne(ctx context.Context, ref event.Ref) error {
	body, err := json.Marshal(map[string]any{"detail": ref})
	if err != nil {
		return err
	}
	out, err := webhook.NewDispatcher(w.State, w.Now).Handle(ctx,
		events.SQSEvent{Records: []events.SQSMessage{{MessageId: ref.ID, Body: string(body)}}})
	if len(out.BatchItemFailures) > 0 {
		err = errors.Join(err, fmt.Errorf("the event %s was not dispatched", ref.ID))
	}
	return err
}

// timer returns the id of the timer of the webhook's circuit breaker.
func (w *World) timer(ctx context.Context, to webhook.Ref) (string, error) {
	it, err := w.State.Get(ctx, webhook.HealthKeys(to)[1])
	if err != nil {
		return "", err
	}
	var breaker struct{ Timer string }
	return breaker.Timer, it.Decode(&breaker)
}

// step takes a step of a task when it is due, and sets the message of the next one. It has no id after the last step.
func (w *World) step(ctx context.Context, kernel *task.Kernel, m *task.Message) error {
	next, err := kernel.Do(ctx, *m, "")
	*m = task.Message{}
	if err == nil && next != nil {
		*m = next.Message
		w.Clock = w.Clock.Add(next.Delay)
	}
	return err
}

// weigh adds the usage of some work.
func (w *World) weigh(used *Used, do func() error) error {
	if used.Places == nil {
		used.Places = Places{}
	}
	w.Meter.Weigh, w.Meter.Written, w.Meter.Places = true, nil, used.Places
	defer func() { w.Meter.Weigh, w.Meter.Written, w.Meter.Places = false, nil, nil }()
	before, err := w.Meter.Read()
	if err == nil {
		err = do()
	}
	after, failed := w.Meter.Read()
	used.Trips += after.Trips - before.Trips
	used.Reads += after.Reads - before.Reads
	used.Writes += after.Writes - before.Writes
	return errors.Join(err, failed)
}

// described takes the place of the object store: it describes files and keeps none.
type described struct{ worker.Files }

var _ worker.Files = described{}

// Put keeps nothing.
func (described) Put(context.Context, media.File, io.ReadSeeker) error { return nil }

// Remove has nothing to remove.
func (described) Remove(context.Context, media.Place) error { return nil }

// Open finds nothing.
func (described) Open(context.Context, string) (io.ReadCloser, error) {
	return nil, errs.New(errs.NotFound, "The file does not exist.")
}

// blank has an empty file of each key.
type blank struct{}

// Open returns an empty file, whatever the key is.
func (blank) Open(context.Context, string) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("")), nil
}

// Save describes a file.
func (described) Save(_ context.Context, place media.Place, n int, body io.Reader,
	_ *provenance.Statement) (media.File, error) {
	hash := sha256.New()
	size, err := io.Copy(hash, body)
	return media.File{
		ID: place.ID(n), Type: media.Image, MIMEType: "image/png", Key: place.Key(n, "png"),
		Width: 1080, Height: 1350, Bytes: size, SHA256: hex.EncodeToString(hash.Sum(nil)),
	}, err
}
