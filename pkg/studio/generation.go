// Package studio holds the generations of the studio: one picture, clip, track,
// voice or avatar each, asked of one model, from the call to its end.
package studio

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// ItemKind is the kind of a generation in the table.
const ItemKind = "generation"

// State tells where a generation stands.
type State string

// The states. The last three are final.
const (
	Queued     State = "queued"
	Generating State = "generating"
	Generated  State = "generated"
	Failed     State = "failed"
	Canceled   State = "canceled"
)

// Failure tells why a generation failed.
type Failure struct {
	Code      string `json:"code" doc:"Machine-readable reason of the failure" example:"generation_failed"`
	Message   string `json:"message" doc:"What happened and what to do about it"`
	Retryable bool   `json:"retryable" doc:"Whether the same request may succeed if sent again"`
}

// SchemaName names the schema in the OpenAPI document.
func (Failure) SchemaName() string { return "GenerationFailure" }

// Generation is a generation as callers see it.
type Generation struct {
	resource.Resource
	Kind        provider.Kind `json:"kind" enum:"video,image,music,voice,avatar" doc:"Kind of the generation"`
	Model       string        `json:"model" doc:"Id of the model" example:"flux-pro-1.1"`
	Input       Input         `json:"input" doc:"Input of the request"`
	State       State         `json:"state" enum:"queued,generating,generated,failed,canceled" doc:"State of the generation. The last three are final"`
	Progress    int           `json:"progress" minimum:"0" maximum:"100" doc:"Progress in percent, as reported by the provider"`
	Media       []media.View  `json:"media" nullable:"false" doc:"Files. Each GET signs their URLs for one hour"`
	CostCredits int64         `json:"cost_credits" doc:"Credits charged. 0 until generated, and always in the sandbox"`
	Failure     *Failure      `json:"failure" doc:"Reason of the failure. Null if it has not failed"`
}

// SchemaName names the schema in the OpenAPI document.
func (Generation) SchemaName() string { return "Generation" }

// Rehearsal is how a test key wants a generation to end.
type Rehearsal struct {
	Outcome      string `json:"outcome,omitempty" enum:"generated,failed" default:"generated" doc:"Result of the generation"`
	DelaySeconds int    `json:"delay_seconds,omitempty" minimum:"0" maximum:"60" default:"0" doc:"Seconds until the result"`
}

// SchemaName names the schema in the OpenAPI document.
func (Rehearsal) SchemaName() string { return "StudioRehearsal" }

// record is the document that is kept of a generation.
type record struct {
	Generation
	Files   []media.File `json:"files,omitempty"`
	Sandbox *Rehearsal   `json:"sandbox,omitempty"`
	// Ticket is its accepted work, and Credits the price of it.
	Ticket  generate.Ticket `json:"ticket,omitzero"`
	Credits int64           `json:"credits,omitempty"`
}

// attempt is the number of a generation's only attempt.
const attempt = 1

// entry writes the record as an item of the table.
func (r *record) entry(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(ItemKind, o, r.ID, r)
	it.Filters = r.filters()
	return it, err
}

func (r *record) filters() map[string]string {
	return map[string]string{"kind": string(r.Kind), "state": string(r.State), "model": r.Model}
}

// runs tells whether the engine works for it.
func (r *record) runs() bool { return r.State == Queued || r.State == Generating }

// Service makes and reads generations.
type Service struct {
	db     *store.DB
	signer *media.Signer
	urls   URLChecker
	offer  catalog.Offer
	now    func() time.Time
}

// URLChecker refuses addresses that lead to where nobody may be sent.
type URLChecker interface {
	// CheckURL gives nil for an address of the public internet.
	CheckURL(ctx context.Context, raw string) error
}

// view gives the generation as its GET answers it, with its media signed.
func (s *Service) view(ctx context.Context, r *record) (Generation, error) {
	v := r.Generation
	var err error
	v.Media, err = s.signer.Views(ctx, r.Files)
	return v, err
}

// find reads a generation of the caller's account and mode.
func (s *Service) find(ctx context.Context, generationID string, match ...httpapi.IfMatch) (*record, store.Item, error) {
	it, err := resource.Find(ctx, s.db, id.Generation, "generation", generationID)
	if err != nil {
		return nil, it, err
	}
	r, err := decode(&it)
	if err == nil {
		err = httpapi.Matches(r.Version, match)
	}
	return r, it, err
}

func decode(it *store.Item) (*record, error) {
	var r record
	return &r, it.Decode(&r)
}
