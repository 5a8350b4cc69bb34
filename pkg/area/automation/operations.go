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
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
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

// Path names the automation of a call.
type Path struct {
	// Id of the automation.
	ID string `path:"automation_id" example:"aut_01h455vb4pex5vsknk084sn02q"`
}

type patchInput struct {
	Path
	httpapi.IfMatch
	Body patchBody
}

type deleteInput struct {
	Path
	httpapi.IfMatch
}

type listInput struct {
	httpapi.PageInput
	resource.Tagged
	profile.Filter
	// Only automations of this factory.
	FactoryID string `query:"factory_id"`
	// Only automations in these states, separated by commas.
	State []string `query:"state" enum:"active,paused,failed" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	const collection, one = "/v1/automations", "/v1/automations/{automation_id}"
	op := func(id, method, path string, scope auth.Scope, summary, description string) httpapi.Op {
		return httpapi.Op{
			ID: id, Method: method, Path: path, Scope: scope, Function: "studio", Tag: "Automations",
			Summary: summary, Description: description,
		}
	}
	list := op("listAutomations", http.MethodGet, collection, auth.ContentRead, "List the automations", "Newest "+
		"first.").
		Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createAutomation", http.MethodPost, collection, auth.ContentWrite, "Create an automation",
		"Makes a content item of each new entry of a feed, of each new product of the factory, or at the times of a "+
			"cron expression. One entry makes at most one item. The items cost as those of `POST /v1/content-items` "+
			"do, for the calling key. After five failures in a row the automation is `failed`, and the event "+
			"`automation.failed` is sent. With `rehearse` nothing is created: the `rehearsal` of the response has the "+
			"times of the next 7 days, or an item that stands for each entry, with its price.").
		Opening(httpapi.Spending | httpapi.Publishing)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.NotFound, errs.UnsupportedModel, errs.UnsupportedMedia, errs.InvalidState}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, op("getAutomation", http.MethodGet, one, auth.ContentRead, "Get an automation",
		"Includes its last runs.").Opening(httpapi.Nothing), s.get)

	update := op("updateAutomation", http.MethodPatch, one, auth.ContentWrite, "Change an automation",
		"Takes a JSON merge patch (RFC 7396). A change of trigger, template, utm or max_per_day, and setting the "+
			"state to active, make the calling key the one on whose behalf it makes items: they cost that key, and "+
			"are published automatically only if that key has the scope content:publish.").
		Opening(httpapi.Spending | httpapi.Publishing)
	update.Errors = []errs.Code{errs.VersionMismatch, errs.UnsupportedModel, errs.UnsupportedMedia, errs.InvalidState}
	update.Fixed = map[string]string{"factory_id": "create another automation"}
	httpapi.Write(r, update, s.update)

	remove := op("deleteAutomation", http.MethodDelete, one, auth.ContentWrite, "Delete an automation",
		"What it has made stays.").Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, remove, s.remove)
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Automation], error) {
	q, err := pageOf(ctx, in)
	if err != nil {
		return httpapi.Page[Automation]{}, err
	}
	in.Tagged.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Automation, error) {
		var r Record
		err := it.Decode(&r)
		return r.Automation, err
	})
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (out Details, err error) {
	b, now := in.Body, s.now()
	f, of, err := s.factories.Find(ctx, b.FactoryID)
	if err != nil {
		e := *errs.As(err)
		e.Param = "/factory_id"
		return out, &e
	}
	r := &Record{}
	r.Automation = Automation{Resource: resource.New(id.New(id.Automation, now), now, b.Metadata), FactoryID: f.ID,
		ProfileID: of.ProfileID()}
	r.Runs = []Run{}
	terms, err := quote.Open(ctx, s.db, now, "createAutomation", quote.Given{Rehearse: b.Rehearse})
	if err != nil {
		return out, err
	}
	set := settings{b.Trigger, b.Template, b.MaxPerDay, b.UTM, Active, b.Metadata}
	err = s.apply(ctx, r, f, set)
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
		return s.rehearse(ctx, tx, filled, terms, rehearsed{r, f, set, of.Owner})
	}
	return r.Details, nil
}

// enter adds a new automation to the transaction, with its task.
func (r *Record) enter(tx *store.Tx, now time.Time, o tenant.Owner) error {
	it, err := r.Entry(o)
	if err != nil {
		return err
	}
	quota.Take(tx, &it, MaxPerOwner, "automations")
	tx.Create(it, nil)
	return task.Create(tx, now, task.Task{Message: message(r.ID, o), DueAt: now}, struct{}{})
}

func (s *Service) get(ctx context.Context, in *Path) (Details, error) {
	r, _, _, err := s.find(ctx, in.ID)
	return r.Details, err
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *patchInput) (out Details, err error) {
	r, it, work, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, settings{r.Trigger, r.Template, r.MaxPerDay, r.UTM, r.State, r.Metadata})
	if err != nil {
		return out, err
	}
	if in.Body.Trigger != nil {
		set.Trigger = *in.Body.Trigger
	}
	f, _, err := s.factories.Find(ctx, r.FactoryID)
	if err != nil {
		return out, err
	}
	if err := s.apply(ctx, &r, f, set); err != nil {
		return out, httpapi.Placed(ctx, err)
	}
	r.Touch(s.now())
	if err := r.replace(tx, it); err != nil {
		return out, err
	}
	return r.Details, task.Reschedule(tx, work, s.now())
}

func (s *Service) remove(ctx context.Context, tx *store.Tx, in *deleteInput) (out Automation, err error) {
	r, it, work, err := s.find(ctx, in.ID)
	if err != nil {
		return out, err
	}
	if err := in.Check(r.Version); err != nil {
		return out, err
	}
	now := s.now()
	end(tx, now, it)
	return r.Automation, task.Reschedule(tx, work, now) // the step finds nothing, and ends the task
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
