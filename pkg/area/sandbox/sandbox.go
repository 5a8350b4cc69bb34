// Package sandbox has the operations that empty the sandbox of an account, and move its clock. Service.Register has the
// operations, and Resetter does the work of the first.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/erasure"
	"github.com/content-automation/api/pkg/area/feed"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Reset is a reset of the sandbox that was accepted.
type Reset struct {
	// The sandbox is being emptied.
	State string `json:"state" enum:"resetting"`
	// Time of the request. What is made later stays.
	RequestedAt resource.Time `json:"requested_at"`
}

// Advanced is a move of the clock that was accepted.
type Advanced struct {
	// The clock was moved, and what falls due happens in the background.
	State string `json:"state" enum:"advancing"`
	// Time of the request, by the real clock.
	RequestedAt resource.Time `json:"requested_at"`
	// Time of the clock of the sandbox from now on. It goes on with the real clock.
	ClockAt resource.Time `json:"clock_at"`
}

// The usual durations of a reset, and until what falls due by the clock has begun.
const (
	usualReset   = 10 * time.Second
	usualAdvance = 2 * time.Second
)

// Pending returns the list that shows the end: of factories, which is empty.
func (r Reset) Pending() (path string, after time.Duration) { return "/v1/factories", usualReset }

// Pending returns the list that shows the end: of publications, none of which is pending with an earlier time.
func (a Advanced) Pending() (path string, after time.Duration) {
	return "/v1/publications", usualAdvance
}

// emptyBody is a body without members. It is closed, and the hint of a member that it had says where it went.
type emptyBody struct{}

type resetInput struct{ Body *emptyBody }

type advanceBody struct {
	// Seconds by which the clock moves forward.
	Seconds int64 `json:"seconds" minimum:"1" maximum:"31536000" example:"604800"`
}

type advanceInput struct{ Body advanceBody }

// Service has the operations.
type Service struct {
	db  *store.DB
	now func() time.Time
}

// NewService makes a service. It makes no call.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Now).Register(r) }

// Register puts the operations into a router.
func (s *Service) Register(r *httpapi.Router) {
	reset := httpapi.Op{
		ID: "resetSandbox", Method: http.MethodPost, Path: "/v1/sandbox/reset", Scope: auth.AccountManage,
		AccountWide: true,
		Function:    "account", Tag: "Account",
		Summary: "Empty the sandbox",
		Description: "Deletes everything that the test keys of the account have made until now: content items, " +
			"generations, media, events and factories, in this order, with their files. " +
			"Work that still runs is canceled, and sends no event. API keys, webhooks and their deliveries, the " +
			"audit log and live data stay; idempotency keys stay used. " +
			"It runs in the background, and has ended when `GET /v1/factories` lists none of the earlier factories. " +
			"A call during a reset starts another one, which finds what is left. With a live key it is refused.",
		Status: http.StatusAccepted, Errors: []errs.Code{errs.ValidationFailed}, Opens: httpapi.Deletion,
		FixedMembers: map[string]string{"advance": "move the clock by POST /v1/sandbox/advance with seconds"},
	}
	httpapi.Write(r, reset, s.reset)
	advance := reset
	advance.ID, advance.Path, advance.FixedMembers = "advanceSandbox", "/v1/sandbox/advance", nil
	advance.Summary = "Move the clock of the sandbox"
	advance.Description = "Moves the one clock of the sandbox, which says what is past, due or next, and has happen " +
		"what falls due: scheduled content items are published in the order of their times, content plans write the " +
		"items whose time comes, automations make those of the times that it passes, promotions begin and end, and " +
		"the figures of posts grow. All of it sends the usual events. Times stay as they are set: a publication " +
		"that was planned for next week is published now, with figures as of `clock_at`. What is noted, such as " +
		"`created_at`, keeps the real time. A reset sets the clock back. " +
		"It runs in the background, and has ended when `GET /v1/publications` lists none that is `pending` with a " +
		"`planned_at` before `clock_at`. With a live key it is refused."
	advance.Opens = httpapi.Publishing
	httpapi.Write(r, advance, s.advance)
}

func (s *Service) reset(ctx context.Context, tx *store.Tx, _ *resetInput) (out Reset, err error) {
	p, now := auth.FromContext(ctx), s.now()
	if p.Mode != tenant.Test {
		return out, errs.Invalid("", "A live key cannot reset the sandbox. Use a test key of the account.")
	}
	if err := testclock.Reset(ctx, s.db, tx, tenant.Of(p.Account, tenant.Test)); err != nil {
		return out, err
	}
	return Reset{State: "resetting", RequestedAt: resource.Instant(now)}, StartReset(tx, now, p.Account)
}

func (s *Service) advance(ctx context.Context, tx *store.Tx, in *advanceInput) (out Advanced, err error) {
	p, now := auth.FromContext(ctx), s.now()
	if p.Mode != tenant.Test {
		return out, errs.Invalid("", "A live key cannot move the clock of the sandbox. Use a test key of the account.")
	}
	ahead, err := publication.StartAdvance(ctx, s.db, tx, now, p.Account, in.Body.Seconds)
	if err != nil {
		return out, err
	}
	out = Advanced{State: "advancing", RequestedAt: resource.Instant(now), ClockAt: resource.Instant(now.Add(ahead))}
	return out, errors.Join(plan.StartAdvance(tx, now, p.Account), automation.StartAdvance(tx, now, p.Account),
		feed.StartAdvance(tx, now, p.Account))
}

// ResetKind is the kind of the task that empties a sandbox.
const ResetKind task.Kind = "sandbox.reset"

// StartReset adds to the transaction the task that empties the sandbox of an account. Its id
// is new each time, so that two calls of the same millisecond do not conflict.
func StartReset(tx *store.Tx, now time.Time, account tenant.Account) error {
	o := tenant.Of(account, tenant.Test)
	return task.Create(tx, now, task.Task{Message: task.Message{
		ID: task.ID(ResetKind, id.New("reset", now), 1), Kind: ResetKind, Queue: topology.GenerateText,
		Subject: string(account), Owner: o,
	}}, request{now})
}

// request is the payload of the task. Items that were made after it stay.
type request struct {
	Before time.Time `json:"before"`
}

// Resetter carries out the tasks of sandboxes.
type Resetter struct{ erasure.Deleter }

// Handlers returns the handlers of the kinds of tasks that empty a sandbox.
func (h *Resetter) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{ResetKind: task.Func(h.Reset), generate.Expire: task.Func(h.expire)}
}

// Reset deletes the next items of a sandbox.
func (h *Resetter) Reset(ctx context.Context, r *task.Run) error {
	var asked request
	var p erasure.Pass
	if err := errors.Join(inSandbox(r), r.Decode(&asked), r.Recall("pass", &p)); err != nil {
		return task.Permanent(err)
	}
	_, wait, done, err := h.Next(ctx, r.Owner, &p, asked.Before, "")
	if err != nil || done {
		return task.Again(err)
	}
	return errors.Join(r.Keep("pass", p), r.Sleep(wait))
}

// expire deletes a resource of a sandbox, if it is still there.
func (h *Resetter) expire(ctx context.Context, r *task.Run) error {
	if err := inSandbox(r); err != nil {
		return task.Permanent(err)
	}
	_, err := h.Delete(ctx, r.Owner, store.IDKey(r.Subject))
	return task.Again(err)
}

func inSandbox(r *task.Run) error {
	if r.Mode != tenant.Test {
		return fmt.Errorf("reset: %s is not a sandbox", r.Owner)
	}
	return nil
}
