// Package template holds the operations on templates: designs of media of a customer as data. Factories and profiles
// use one, and pkg/record/template has what they need of it. Service.Register has the operations; preview.go has the
// pictures that show a template with samples.
package template

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/theme"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	record "github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
)

// Service makes, changes, previews and deletes the templates of callers.
type Service struct {
	db        *store.DB
	signer    *media.Signer
	factories *factory.Service
	now       func() time.Time
	templates *kind.Kind[record.Record]
}

// NewService makes the service. It makes no call.
func NewService(db *store.DB, signer *media.Signer, now func() time.Time) *Service {
	return &Service{db, signer, factory.NewService(db, now), now, templates.On(db, now)}
}

var templates = kind.Kind[record.Record]{Name: record.Kind, ID: id.Template, Path: "/v1/templates/{template_id}",
	Function: "studio", Tag: "Templates", Reads: auth.FactoriesRead, Writes: auth.FactoriesWrite,
	Beside: func(_ tenant.Owner, templateID string) []store.Key { return []store.Key{record.NotesKey(templateID)} },
	Count:  quota.Templates.Take}

// Design is a design in a request, or a part of one: of the members that a request leaves out, a new template has those
// of the theme that it begins with, and a changed one those that it has.
type Design json.RawMessage

// MarshalJSON implements json.Marshaler: a design is sent as it was written.
func (d Design) MarshalJSON() ([]byte, error) { return json.RawMessage(d).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler. It keeps which members were sent.
func (d *Design) UnmarshalJSON(b []byte) error { return (*json.RawMessage)(d).UnmarshalJSON(b) }

// Schema describes a design in the OpenAPI document. A request may leave out any member.
func (Design) Schema(r huma.Registry) *huma.Schema {
	for _, t := range []reflect.Type{reflect.TypeFor[theme.Area](), reflect.TypeFor[theme.Plate](),
		reflect.TypeFor[theme.Layout](), reflect.TypeFor[theme.Theme]()} {
		r.SchemaFromRef(r.Schema(t, true, "").Ref).Required = nil
	}
	return r.Schema(reflect.TypeFor[theme.Theme](), true, "")
}

// Shown is a design in an answer.
type Shown theme.Theme

// Schema describes the design in the OpenAPI document: that of requests has its members.
func (Shown) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Details are a template with its design and its last preview, which lists leave out.
type Details struct {
	record.Template
	// Design of media, as requests have it.
	Design Shown `json:"design"`
	// Last preview. Null if there is none.
	Preview *Preview `json:"preview"`
	// Ids of up to 100 factories and profiles that use it.
	UsedBy []string `json:"used_by" nullable:"false"`
}

// mostUsers is the number of users that a template shows.
const mostUsers = 100

// ETag follows from all that is shown: a preview is made, and a template used, without a change of the template.
func (d Details) ETag() (string, error) {
	tag := strconv.FormatInt(d.Version, 10)
	if d.Preview != nil {
		tag += fmt.Sprintf("-%s-%s", d.Preview.State, d.Preview.CreatedAt.Format(time.RFC3339Nano))
	}
	if len(d.UsedBy) > 0 {
		sum := fnv.New64a()
		_, _ = fmt.Fprint(sum, d.UsedBy)
		tag += fmt.Sprintf("-%x", sum.Sum64())
	}
	return `"` + tag + `"`, nil
}

type createBody struct {
	profile.ProfileMember
	// Name of the template.
	Name string `json:"name" format:"line-not-blank" minLength:"1" maxLength:"100" example:"Acme, spring"`
	// Theme that the design begins with: it has the members that design leaves out.
	Theme string `json:"theme,omitempty" enum:"calm,bold,editorial,minimal,playful"`
	// Design of media: the members in which it differs from the theme, or without one all.
	Design Design `json:"design,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses a body that has no design.
func (b createBody) Rules() error {
	switch {
	case b.Theme == "" && len(b.Design) == 0:
		return errs.Invalid("/design", "is required, unless theme is sent")
	case string(b.Design) == "null":
		return errs.Invalid("/design", "must be an object, not null")
	}
	return nil
}

type patchBody struct {
	// Name of the template.
	Name string `json:"name,omitempty" format:"line-not-blank" minLength:"1" maxLength:"100" example:"Acme, summer"`
	// Members of the design to change. slides is replaced as a whole.
	Design Design `json:"design,omitempty"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
}

// shown returns a template as lists show it.
func shown(_ context.Context, f *kind.Found[record.Record]) (record.Template, error) {
	return f.Record.Template, nil
}

// details returns a template with its design and its last preview.
func (s *Service) details(ctx context.Context, f *kind.Found[record.Record]) (out Details, err error) {
	out = Details{f.Record.Template, Shown(f.Record.Design), nil, []string{}}
	if len(f.Beside) == 0 { // it is new
		return out, nil
	}
	n, err := record.NotesOf(f.Beside[0])
	if err == nil {
		n.Users = n.Users[max(0, len(n.Users)-mostUsers):]
		out.UsedBy, err = n.Using(ctx, s.db, f.Record.ID)
	}
	if err != nil {
		return out, err
	}
	_, r, err := s.last(ctx, &n)
	if err != nil || r == nil {
		return out, err
	}
	r.Media, err = s.signer.Views(ctx, r.Files)
	out.Preview = &r.Preview
	return out, err
}

// opened checks a new template, and opens its notes.
func (s *Service) opened(ctx context.Context, tx *store.Tx, c *kind.Change[record.Record, createBody]) (err error) {
	if c.Item.Owner, err = c.Body.ProfileMember.Owner(ctx, tx, c.Now); err != nil {
		return err
	}
	if err := c.Body.Rules(); err != nil {
		return err
	}
	c.Record.ProfileID = c.Item.Owner.ProfileID()
	if c.Record.Design, err = c.Body.design(); err != nil {
		return err
	}
	if err := c.Record.Check(); err != nil {
		return err
	}
	return record.Open(tx, c.Item.Owner, c.Record.ID)
}

// design returns the design of a body: that of its theme with the members of its own.
func (b *createBody) design() (d theme.Theme, err error) {
	var whole, own any = map[string]any{}, map[string]any{}
	if b.Theme != "" {
		err = json.Unmarshal(theme.Source(b.Theme), &whole)
	}
	if err == nil && len(b.Design) > 0 {
		err = json.Unmarshal(b.Design, &own)
	}
	if err != nil {
		return d, err
	}
	merged, err := json.Marshal(jsontree.Merge(whole, own))
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal(merged, &d)
}

func changed(ctx context.Context, _ *store.Tx, c *kind.Change[record.Record, patchBody]) error {
	return httpapi.Placed(ctx, c.Record.Check())
}

// ended refuses to delete a template that is used, and ends its preview with it.
func (s *Service) ended(ctx context.Context, tx *store.Tx, f *kind.Found[record.Record]) error {
	n, err := record.NotesOf(f.Beside[0])
	if err != nil {
		return err
	}
	using, err := n.Using(ctx, s.db, f.Record.ID)
	if err != nil {
		return err
	}
	if len(using) > 0 {
		return record.Used(using)
	}
	n.Delete(tx)
	return s.endPreview(ctx, tx, n.Preview)
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	kind.List(r, s.templates, httpapi.Op{ID: "listTemplates", Summary: "List the templates",
		Description: "Newest first, without their designs."}, shown,
		func(context.Context, *listInput, *store.Query) error { return nil })
	kind.Create(r, s.templates, httpapi.Op{ID: "createTemplate", Summary: "Create a template",
		Description: "A template is a design of media as data, which takes the place of `theme` in factories and " +
			"profiles that name it. With `theme` it is a copy of a theme of the service, to be changed.",
		Opens: httpapi.Nothing, Errors: []errs.Code{errs.InvalidState, errs.NotFound}}, s.opened, s.details)
	kind.Get(r, s.templates, httpapi.Op{ID: "getTemplate", Summary: "Get a template"}, s.details)
	kind.Update(r, s.templates, httpapi.Op{ID: "updateTemplate", Summary: "Change a template",
		Description: "Takes a JSON merge patch (RFC 7396). Content items keep the design that they were created with.",
		Opens:       httpapi.Nothing}, changed, s.details)
	kind.Delete(r, s.templates, httpapi.Op{ID: "deleteTemplate", Summary: "Delete a template",
		Description: "Unless a factory or profile uses it: `invalid_state` names these.",
		Errors:      []errs.Code{errs.InvalidState}}, s.ended, shown)
	httpapi.Write(r, s.templates.Op(httpapi.Op{ID: "previewTemplate", Summary: "Preview a template",
		Description: "Makes pictures of it with samples, in the background and free of charge. `preview` of the " +
			"template has them once its state is `generated`.",
		Scope:  auth.FactoriesRead,
		Status: http.StatusAccepted, Opens: httpapi.Nothing,
		Errors: []errs.Code{errs.InvalidState, errs.QueueFull}}, http.MethodPost, templates.Path+"/preview"), s.preview)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) { NewService(e.DB, e.Media, e.Now).Register(r) }

// Input is the type of the body of the operation that creates a template. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

// Adopt adds a template of an export to the transaction.
func Adopt(tx *store.Tx, now time.Time, o tenant.Owner, d Details) error {
	r := &record.Record{Template: d.Template, Design: theme.Theme(d.Design)}
	r.ProfileID = o.ProfileID()
	if err := r.Check(); err != nil {
		return err
	}
	return record.Add(tx, now, o, r)
}

// Decode reads the template of an item, without its preview.
func Decode(it *store.Item) (d Details, err error) {
	var r record.Record
	err = it.Decode(&r)
	return Details{r.Template, Shown(r.Design), nil, []string{}}, err
}

// endPreview adds to the transaction that a preview and its files end. It does nothing for an empty id.
func (s *Service) endPreview(ctx context.Context, tx *store.Tx, previewID string) error {
	if previewID == "" {
		return nil
	}
	items, err := s.db.GetAll(ctx, store.IDKey(previewID), generate.TaskKey(previewID, attempt))
	if err != nil || items[0].Kind != PreviewKind {
		return err
	}
	r, err := decodePreview(items[0])
	if err != nil {
		return err
	}
	if r.runs() {
		if _, _, err := generate.Cancel(tx, s.now(), items[0].Owner, &r.Ticket, items[1]); err != nil {
			return err
		}
	}
	tx.Delete(items[0])
	return generate.RemoveFiles(tx, s.now(), items[0].Owner, previewID, attempt)
}
