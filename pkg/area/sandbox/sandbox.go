// Package sandbox has the operation that empties the sandbox of an account, or moves its clock. Service.Register has
// the operation, and Resetter does the work.
package sandbox

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Reset is a reset of the sandbox that was accepted.
type Reset struct {
	// What happens in the background. resetting: the sandbox is being emptied. advancing: its clock moves forward, and
	// nothing is deleted.
	State string `json:"state" enum:"resetting,advancing"`
	// Time of the request. What is made later stays.
	RequestedAt resource.Time `json:"requested_at"`
}

// usualReset is the usual duration of a reset.
const usualReset = 10 * time.Second

// usualAdvance is the usual time until the metrics are those of the moved clock.
const usualAdvance = 2 * time.Second

// Pending returns the list that shows the end: of factories, which is empty, or of items, whose metrics are new.
func (r Reset) Pending() (path string, after time.Duration) {
	if r.State == advancing {
		return "/v1/content-items", usualAdvance
	}
	return "/v1/factories", usualReset
}

// The states of a reset.
const (
	resetting = "resetting"
	advancing = "advancing"
)

type resetBody struct {
	// Seconds by which the clock of the metrics and of content plans moves forward. With it, nothing is deleted.
	Advance int64 `json:"advance,omitempty" minimum:"1" maximum:"31536000" example:"604800"`
}

type resetInput struct{ Body *resetBody }

// Service has the operation.
type Service struct{ now func() time.Time }

// NewService makes a service.
func NewService(now func() time.Time) *Service { return &Service{now} }

// Mount registers the operation of the area.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.Now).Register(r) }

// Register puts the operation into a router.
func (s *Service) Register(r *httpapi.Router) {
	httpapi.Write(r, httpapi.Op{
		ID: "resetSandbox", Method: http.MethodPost, Path: "/v1/sandbox/reset", Scope: auth.AccountManage,
		AccountWide: true,
		Function:    "account", Tag: "Account",
		Summary: "Empty the sandbox, or move its clock",
		Description: "Deletes everything that the test keys of the account have made until now: content items, " +
			"generations, media, events and factories, in this order, with their files. " +
			"Work that still runs is canceled, and sends no event. API keys, webhooks and their deliveries, the " +
			"audit log and live data stay; idempotency keys stay used. " +
			"It runs in the background, and has ended when `GET /v1/factories` lists none of the earlier factories. " +
			"A call during a reset starts another one, which finds what is left. With a live key it is refused.\n\n" +
			"With `advance`, it deletes nothing. It makes the published posts older by so many seconds: their " +
			"metrics are read anew, and analytics follow. Posts that are published later start at zero. Content " +
			"plans write the items whose time comes. It has ended when `metrics.read_at` of the publications is not " +
			"before `requested_at`.",
		Status: http.StatusAccepted, Errors: []errs.Code{errs.ValidationFailed}, Opens: httpapi.Deletion,
	}, s.reset)
}

func (s *Service) reset(ctx context.Context, tx *store.Tx, in *resetInput) (out Reset, err error) {
	p, now := auth.FromContext(ctx), s.now()
	if p.Mode != tenant.Test {
		return out, errs.Invalid("", "A live key cannot reset the sandbox. Use a test key of the account.")
	}
	out = Reset{State: resetting, RequestedAt: resource.Instant(now)}
	if _, sent := httpapi.Patched(ctx)["advance"]; sent && in.Body.Advance == 0 { // null is taken for a missing member
		return out, errs.Invalid("/advance", "must not be null. Send the seconds, or leave it out to empty the sandbox")
	}
	if in.Body != nil && in.Body.Advance > 0 {
		out.State = advancing
		return out, errors.Join(publication.StartAdvance(tx, now, p.Account, in.Body.Advance),
			plan.StartAdvance(tx, now, p.Account, in.Body.Advance))
	}
	return out, StartReset(tx, now, p.Account)
}
