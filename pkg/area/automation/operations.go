package automation

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

var _ = format.Define("item-template", format.Format{
	Example: map[string]any{"kind": "post", "prompt": "Tell what is new: {{title}}. {{summary}}"}})

type createBody struct {
	// Factory that makes the items. It cannot be changed.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// What makes it run.
	Trigger Trigger `json:"trigger"`
	// Body of createContentItem without factory_id. In its texts, {{title}}, {{summary}} and {{url}} stand for those of
	// an entry, {{name}}, {{description}} and {{url}} for those of a product, and {{date}} and {{time}} for a time.
	Template map[string]any `json:"template" format:"item-template"`
	// Most items that it makes in a day of the factory's time zone. What is left is made on the next day; a time that
	// is left over is skipped.
	MaxPerDay int `json:"max_per_day,omitempty" minimum:"1" maximum:"100" default:"5"`
	// Parameters that are added to {{url}}, unless the address has them.
	UTM *UTM `json:"utm,omitempty"`
	quote.Rehearse
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type patchBody struct {
	// What makes it run. It replaces the former one as a whole, and the automation begins afresh.
	Trigger *Trigger `json:"trigger,omitempty"`
	// Members of the template to set. A null value removes one.
	Template map[string]any `json:"template,omitempty" example:"{\"prompt\":\"{{title}}\"}"`
	// Most items that it makes in a day of the factory's time zone.
	MaxPerDay int `json:"max_per_day,omitempty" minimum:"1" maximum:"100"`
	// Parameters to set. Null removes all.
	UTM *utmPatch `json:"utm,omitempty"`
	// paused: it makes nothing. active: it goes on with what is new from now on.
	State State `json:"state,omitempty" enum:"active,paused"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

// utmPatch is UTM in a merge patch.
type utmPatch UTM

// Schema describes the patch in the OpenAPI document: the whole may be null.
func (utmPatch) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[UTM](), false, "")
	s.Nullable = true
	s.PrecomputeMessages()
	return &s
}

type createInput struct{ Body createBody }

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	// Only automations of this factory.
	FactoryID string `query:"factory_id" filter:"factory"`
	// Only automations in these states, separated by commas.
	State []string `query:"state" filter:"state" enum:"active,paused,failed" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	kind.List[listInput](r, s.automations, httpapi.Op{ID: "listAutomations", Summary: "List the automations",
		Description: "Newest first."}, listed)
	httpapi.Write(r, s.automations.Op(httpapi.Op{ID: "createAutomation", Summary: "Create an automation",
		Description: "Makes a content item of each new entry of a feed, of each new product of the factory, or at " +
			"the times of a cron expression. One entry makes at most one item. The items cost as those of `POST " +
			"/v1/content-items` do, for the calling key. After five failures in a row the automation is `failed`, " +
			"and the event `automation.failed` is sent. With `rehearse` nothing is created: the `rehearsal` of the " +
			"response has the times of the next 7 days, or an item that stands for each entry, with its price.",
		Status: http.StatusCreated, Opens: httpapi.Spending | httpapi.Publishing, Errors: []errs.Code{errs.NotFound,
			errs.UnsupportedModel, errs.UnsupportedMedia, errs.InvalidState}},
		http.MethodPost, "/v1/automations"), s.create)
	kind.Get(r, s.automations, httpapi.Op{ID: "getAutomation", Summary: "Get an automation",
		Description: "Includes its last runs."}, shown)
	kind.Update(r, s.automations, httpapi.Op{ID: "updateAutomation", Summary: "Change an automation",
		Description: "Takes a JSON merge patch (RFC 7396). A change of trigger, template, utm or max_per_day, and " +
			"setting the state to active, make the calling key the one on whose behalf it makes items: they cost " +
			"that key, and are published automatically only if that key has the scope content:publish.",
		Opens:        httpapi.Spending | httpapi.Publishing,
		Errors:       []errs.Code{errs.UnsupportedModel, errs.UnsupportedMedia, errs.InvalidState},
		FixedMembers: map[string]string{"factory_id": "create another automation"}}, s.changed, shown)
	kind.Delete(r, s.automations, httpapi.Op{ID: "deleteAutomation", Summary: "Delete an automation",
		Description: "What it has made stays."}, s.ended, listed)
}

// listed returns an automation as lists show it, and shown with its last runs.
func listed(_ context.Context, f *kind.Found[Record]) (Automation, error) {
	return f.Record.Automation, nil
}
func shown(_ context.Context, f *kind.Found[Record]) (Details, error) { return f.Record.Details, nil }

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out Details, err error) {
	b, now := in.Body, s.now()
	f, of, err := s.factories.Find(ctx, b.FactoryID)
	if err != nil {
		return out, errs.At("/factory_id", err)
	}
	r := &Record{Details: Details{Runs: []Run{}, Automation: Automation{FactoryID: f.ID, ProfileID: of.ProfileID(),
		Resource: resource.New(id.New(id.Automation, now), now, b.Metadata), Trigger: b.Trigger, Template: b.Template,
		MaxPerDay: b.MaxPerDay, UTM: b.UTM, State: Active}}}
	terms, err := quote.Open(ctx, s.db, now, "createAutomation", quote.CallTerms{Rehearse: b.Rehearse})
	if err != nil {
		return out, err
	}
	err = s.check(ctx, &Record{}, r, f)
	// A trigger that is no trigger cannot be shown in a rehearsal.
	if refused := errs.As(err); err != nil && refused.Code == errs.ValidationFailed &&
		strings.HasPrefix(refused.Param, "/trigger") {
		return out, err
	}
	if err := terms.Meet(err); err != nil {
		return out, err
	}
	filled := terms.Tx(tx)
	if err := r.enter(filled, now, of.Owner); err != nil {
		return out, err
	}
	if terms.Rehearsed() {
		return s.rehearse(ctx, tx, filled, terms, trial{r, f, of.Owner})
	}
	return r.Details, nil
}

// enter adds a new automation to the transaction, with its task.
func (r *Record) enter(tx *store.Tx, now time.Time, o tenant.Owner) error {
	if _, err := automations.Add(tx, now, o, r); err != nil {
		return err
	}
	return task.Create(tx, now, task.Task{Message: message(r.ID, o), DueAt: now}, struct{}{})
}

func (s *Service) changed(ctx context.Context, tx *store.Tx, c *kind.Change[Record, patchBody]) error {
	if c.Body.Trigger != nil {
		c.Record.Trigger = *c.Body.Trigger
	}
	f, _, err := s.factories.Find(ctx, c.Record.FactoryID)
	if err != nil {
		return err
	}
	if err := s.check(ctx, c.Was, c.Record, f); err != nil {
		return httpapi.Placed(ctx, err)
	}
	return task.Reschedule(tx, c.Beside[0], c.Now)
}

// ended has the step of a deleted automation find nothing, and end the task.
func (s *Service) ended(_ context.Context, tx *store.Tx, f *kind.Found[Record]) error {
	return task.Reschedule(tx, f.Beside[0], s.now())
}

// New returns the service of an environment.
func New(e area.Env) *Service {
	factories := factory.NewService(e.DB, e.Now)
	items := content.NewService(e.DB, factories, e.Media, e.Offer(),
		e.Now).Moderated(e.Moderator)
	return NewService(e.DB, factories, items, e.Client(FeedOptions()), e.Now)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { New(e).Register(r) }
