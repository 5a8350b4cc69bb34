package factory

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
)

var (
	_ = format.Define("content-type", format.Format{Values: factoryrecord.ContentTypes,
		Many: len(factoryrecord.ContentTypes), Distinct: true})
	_ = format.Define("weekdays", format.Format{Fewest: 1, Many: 7, Distinct: true,
		Pattern: "^(" + strings.Join(calendar.Weekdays, "|") + ")$", Wanted: "a day of the week, such as monday",
		Example: "monday"})
	_ = format.Define("silent-days", format.Format{Pattern: `^(holidays|(\d{4}-)?\d\d-\d\d)$`,
		Wanted: "2026-12-24, 12-24 or holidays", Many: 100, Distinct: true, Example: "12-24"})
	_ = format.Define("media-file", format.Format{Pattern: "^med_[0-9a-z]{26}$",
		Wanted: "the id of a media: bring the file in by POST /v1/media first"})
)

type createBody struct {
	profile.ProfileMember
	// Type of the factory. It cannot be changed.
	Type Type `json:"type" enum:"blogger,seller,expert,brand,news,entertainment,musician" example:"brand"`
	// Name of the factory.
	Name string `json:"name" format:"line" minLength:"1" maxLength:"100" example:"Acme on social media"`
	// Language of its content (BCP 47).
	Language string `json:"language,omitempty" maxLength:"35" default:"en" example:"de-DE"`
	// Subject of the factory.
	Description string `json:"description,omitempty" maxLength:"2000"`
	// Audience of the content.
	Audience string `json:"audience,omitempty" maxLength:"500" example:"Runners who start late"`
	// Tone of the content.
	Tone string `json:"tone,omitempty" format:"line" maxLength:"200" example:"warm and practical"`
	// Topics of the content.
	Topics []Topic `json:"topics,omitempty" maxItems:"20" nullable:"false" example:"[\"running shoes\",\"training\"]"`
	// Kinds of content that it makes. Items of others are refused. Absent: all.
	ContentTypes []string `json:"content_types,omitempty" format:"content-type" nullable:"false"`
	// Model for each kind of generation (text, image, video, music, voice).
	Models map[string]string `json:"models,omitempty" example:"{}"`
	// Whether the successor takes the place of one of these models once it is retired, as far as it makes the same kind
	// at no more than its last price.
	ReplaceRetiredModels bool `json:"replace_retired_models,omitempty"`
	// Whether captions of generated content end with a line such as "AI-generated." in the language of the content, on
	// platforms that learn it in no other way: see ai_declaration of listPlatforms.
	AICaptionLine bool `json:"ai_caption_line,omitempty"`
	// Time zone and times of day at which content plans publish.
	Schedule *Schedule `json:"schedule,omitempty"`
	// Whether generated content is published automatically, on the social accounts of the factory: at the times of its
	// content plan, or else at once. Setting it to true needs the scope content:publish as well.
	AutoPublish bool `json:"auto_publish,omitempty"`
	// Whether its content waits for an approval before it is scheduled or published.
	Approval string `json:"approval,omitempty" enum:"none,required" default:"none"`
	// What its content plans wait for if they name nothing: topics, or none.
	PlanApprove string `json:"plan_approve,omitempty" enum:"none,topics" default:"none"`
	// Quality of the texts of items and plans that name none. Absent: standard.
	Quality string `json:"quality,omitempty" enum:"draft,standard,best"`
	Making
	// Settings of the factory's type.
	Settings TypeSettings `json:"settings,omitempty"`
	// Template that its content has in place of theme: one of its profile or of the account as a whole. Absent: that of
	// its profile, or none.
	TemplateID *string `json:"template_id,omitempty" nullable:"true" maxLength:"64"`
	// Country in which its content is published (ISO 3166-1). The content must keep the rules of law of this country;
	// members of the European Union have its rules. Absent or null: that of its profile, or else none, and no rule is
	// checked.
	Region *string `json:"region,omitempty" nullable:"true" minLength:"2" maxLength:"2" example:"DE"`
	// Marking of advertising, for countries that require it. Content of a factory that has one is advertising. Absent:
	// that of its profile, or else none.
	AdMarking *profile.AdMarking `json:"ad_marking,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses bodies that the schema cannot rule out.
func (b createBody) Rules() error {
	_, language := Language(b.Language, "en")
	// The clock is not known here: models that have ended meanwhile are refused later.
	found := []error{language, new(Factory).checkModels(b.Models, time.Time{}), b.Schedule.check(),
		law.CheckSettings(profile.Legal{Region: b.Region, AdMarking: b.AdMarking})}
	if known := shapeOf(b.Type).NumField() > 0; known {
		_, settings := b.Settings.check(b.Type)
		found = append(found, settings)
	}
	return errs.All(found...)
}

// Topic is one topic of a factory: one short line.
type Topic string

// Schema describes a topic in the OpenAPI document.
func (Topic) Schema(huma.Registry) *huma.Schema { return lineOf(100) }

type patchBody struct {
	// Name of the factory.
	Name string `json:"name,omitempty" format:"line" minLength:"1" maxLength:"100"`
	// Language of its content (BCP 47).
	Language string `json:"language,omitempty" maxLength:"35"`
	// Subject of the factory.
	Description *string `json:"description,omitempty" maxLength:"2000" nullable:"true"`
	// Audience of the content.
	Audience *string `json:"audience,omitempty" maxLength:"500" nullable:"true"`
	// Tone of the content.
	Tone *string `json:"tone,omitempty" format:"line" maxLength:"200" nullable:"true"`
	// Topics of the content.
	Topics []Topic `json:"topics,omitempty" maxItems:"20" nullable:"true"`
	// Kinds of content that it makes. Items of others are refused. Null: all.
	ContentTypes []string `json:"content_types,omitempty" format:"content-type" nullable:"true"`
	// Models to set, by kind. A null value removes that model; null removes all.
	Models resource.MetadataPatch `json:"models,omitempty" nullable:"true"`
	// Whether the successor takes the place of one of these models once it is retired, as far as it makes the same kind
	// at no more than its last price. Null: false.
	ReplaceRetiredModels *bool `json:"replace_retired_models,omitempty" nullable:"true"`
	// Whether captions of generated content end with a line such as "AI-generated." in the language of the content, on
	// platforms that learn it in no other way. Null: false.
	AICaptionLine *bool `json:"ai_caption_line,omitempty" nullable:"true"`
	// Time zone and times of day at which content plans publish.
	Schedule *SchedulePatch `json:"schedule,omitempty" nullable:"true"`
	// Whether generated content is published automatically, on the social accounts of the factory: at the times of its
	// content plan, or else at once. Setting it to true needs the scope content:publish as well, and schedules the
	// items of its content plans that are generated and whose time is ahead.
	AutoPublish *bool `json:"auto_publish,omitempty" nullable:"true"`
	// Whether its content waits for an approval before it is scheduled or published. Setting it to none needs the scope
	// content:publish as well.
	Approval string `json:"approval,omitempty" enum:"none,required"`
	// What its content plans wait for if they name nothing: topics, or none. Null: none.
	PlanApprove string `json:"plan_approve,omitempty" enum:"none,topics" nullable:"true"`
	// Quality of the texts of items and plans that name none. Null: standard.
	Quality string `json:"quality,omitempty" enum:"draft,standard,best" nullable:"true"`
	// What is seen in videos that name nothing else. Null: clips, and in plans stills unless their brief asks for
	// motion.
	Visuals string `json:"visuals,omitempty" enum:"clips,stills" nullable:"true"`
	// What is heard under the voice of videos that name nothing else. Null: none.
	Music string `json:"music,omitempty" enum:"none,generated" nullable:"true"`
	// Length in seconds of what plays and names none, where it is within its bounds. Null: the usual lengths.
	DurationSeconds *int `json:"duration_seconds,omitempty" minimum:"5" maximum:"180" nullable:"true"`
	// Settings of the factory's type. A null value removes that setting.
	Settings TypeSettings `json:"settings,omitempty" nullable:"true"`
	// Template that its new content has in place of theme. Null: that of its profile, or none.
	TemplateID *string `json:"template_id,omitempty" nullable:"true" maxLength:"64"`
	// paused: it makes nothing new, and what is queued waits. active: it goes on.
	State string `json:"state,omitempty" enum:"active,paused"`
	// Country in which its content is published (ISO 3166-1). The content must keep the rules of law of this country;
	// members of the European Union have its rules. Null: that of its profile, or else none, and no rule is checked.
	Region *string `json:"region,omitempty" nullable:"true" minLength:"2" maxLength:"2" example:"DE"`
	// Marking of advertising, for countries that require it. Content of a factory that has one is advertising. Null:
	// that of its profile, or else none.
	AdMarking *profile.AdMarkingPatch `json:"ad_marking,omitempty"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

// SchedulePatch is a schedule in a merge patch.
type SchedulePatch Schedule

// Schema describes the patch in the OpenAPI document: the schedule itself may be
// null, and each of its members may be left out.
func (SchedulePatch) Schema(r huma.Registry) *huma.Schema {
	s := *r.Schema(reflect.TypeFor[Schedule](), false, "")
	s.Nullable, s.Required = true, nil
	s.PrecomputeMessages()
	return &s
}

// FactoryPath is the part of the path that names a factory. It is exported because
// huma reads exported fields only, embedded ones too.
type FactoryPath struct {
	// Id of the factory.
	ID string `path:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
}

type createInput struct {
	Body createBody
}

type patchInput struct {
	FactoryPath
	httpapi.IfMatch
	Body patchBody
}

type listInput struct {
	httpapi.PageInput
	resource.MetadataFilter
	profile.Filter
	httpapi.Search
	// Only factories of these types, separated by commas.
	Type []string `query:"type" enum:"blogger,seller,expert,brand,news,entertainment,musician" nullable:"false"`
	// Only factories in these states, separated by commas.
	State []string `query:"state" enum:"active,paused" nullable:"false"`
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	op := httpapi.Ops("factory", "Factories")
	list := op("listFactories", http.MethodGet, "/v1/factories", auth.FactoriesRead, "List the factories",
		"Newest first.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.list)

	create := op("createFactory", http.MethodPost, "/v1/factories", auth.FactoriesWrite, "Create a factory",
		"Creates a factory of one of the seven types. `settings` depends on the type.").Opening(httpapi.Publishing)
	create.Status = http.StatusCreated
	create.Errors = []errs.Code{errs.NotFound, errs.UnsupportedModel, errs.InvalidState}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, op("getFactory", http.MethodGet, "/v1/factories/{factory_id}", auth.FactoriesRead,
		"Get a factory", "").Opening(httpapi.Nothing), s.get)

	update := op("updateFactory", http.MethodPatch, "/v1/factories/{factory_id}", auth.FactoriesWrite,
		"Change a factory", "Takes a JSON merge patch (RFC 7396). Set `state` to pause or resume the factory. A patch "+
			"that changes something sends the event `factory.updated`.").Opening(httpapi.Publishing)
	update.Errors = []errs.Code{errs.UnsupportedModel, errs.VersionMismatch}
	update.FixedMembers = map[string]string{"type": "create another factory", "profile_id": "create another factory"}
	httpapi.Write(r, update, s.update)

	remove := op("deleteFactory", http.MethodDelete, "/v1/factories/{factory_id}", auth.FactoriesWrite,
		"Delete a factory",
		"Deletes the factory and its content plans. What it has queued or under way is canceled in the background: "+
			"completed parts are charged, and the rest of the reserved credits is released. Each canceled content "+
			"item sends the event `content.canceled`. Its content items stay until they are deleted. The response "+
			"shows the factory in state `deleted`.").Opening(httpapi.Deletion)
	remove.Errors = []errs.Code{errs.VersionMismatch}
	httpapi.Write(r, remove, s.remove)
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Factory], error) {
	q := httpapi.AllOwned(ctx, Kind, in.Filter.Into(map[string]string{
		"type": httpapi.AnyOf(in.Type), "state": httpapi.AnyOf(in.State)}))
	in.MetadataFilter.Into(&q)
	in.Search.Into(&q)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Factory, error) {
		return Decode(&it)
	})
}

func (s *Service) create(ctx context.Context, tx *store.Tx, in *createInput) (Factory, error) {
	return s.make(ctx, tx, in.Body)
}

func (s *Service) make(ctx context.Context, tx *store.Tx, b createBody) (out Factory, err error) {
	p, now := auth.FromContext(ctx), s.now()
	o, err := b.ProfileMember.Owner(ctx, tx, now)
	if err != nil {
		return out, err
	}
	f := Factory{
		Resource: resource.New(id.New(id.Factory, now), now, b.Metadata),
		Type:     b.Type, SocialAccountIDs: []string{}, ProfileID: o.ProfileID(),
	}
	err = f.apply(Settings{
		Name: b.Name, Language: b.Language, Description: b.Description, Audience: b.Audience, Tone: b.Tone,
		Topics:       b.Topics,
		ContentTypes: b.ContentTypes, Models: b.Models, Replace: b.ReplaceRetiredModels,
		CaptionLine: b.AICaptionLine,
		Schedule:    b.Schedule, AutoPublish: b.AutoPublish,
		Approval: b.Approval, PlanApprove: b.PlanApprove, Quality: b.Quality, Making: b.Making,
		Settings: b.Settings, TemplateID: b.TemplateID,
		State: StateActive, Metadata: b.Metadata, Legal: profile.Legal{Region: b.Region, AdMarking: b.AdMarking},
	}, now)
	if err != nil {
		return out, err
	}
	if err := f.Permit(p, Snapshot{}); err != nil {
		return out, err
	}
	if err := s.setFiles(ctx, tx, o, &f, nil); err != nil {
		return out, err
	}
	if err := template.Use(ctx, s.db, tx, o, f.ID, nil, f.TemplateID); err != nil {
		return out, err
	}
	it, err := f.item(o)
	if err != nil {
		return out, err
	}
	quota.Factories.Take(tx, now, &it)
	tx.Create(it, nil)
	return f, event.Add(tx, now, o, event.FactoryCreated, f)
}

func (s *Service) get(ctx context.Context, in *FactoryPath) (Factory, error) {
	f, _, err := s.Find(ctx, in.ID)
	return f, err
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *patchInput) (out Factory, err error) {
	f, it, err := s.Find(ctx, in.ID, in.IfMatch)
	if err != nil {
		return out, err
	}
	set, err := httpapi.MergePatch(ctx, f.settings())
	if err != nil {
		return out, err
	}
	return s.change(ctx, tx, it, f, set)
}

// change takes the changed settings of a factory over.
func (s *Service) change(ctx context.Context, tx *store.Tx, it store.Item, f Factory, set Settings) (out Factory,
	err error) {
	named, err := f.Settings.named()
	if err != nil {
		return out, err
	}
	before, err := f.Before(s.now())
	if err != nil {
		return out, err
	}
	resumed := f.State == StatePaused && set.State == StateActive
	published, was := f.AutoPublish, f.TemplateID
	if err := f.apply(set, s.now()); err != nil {
		return out, err
	}
	if err := f.Permit(auth.FromContext(ctx), before); err != nil {
		return out, err
	}
	if err := s.setFiles(ctx, tx, it.Owner, &f, named); err != nil {
		return out, err
	}
	if err := template.Use(ctx, s.db, tx, it.Owner, f.ID, was, f.TemplateID); err != nil {
		return out, err
	}
	if resumed {
		if err := factoryrecord.StartResume(tx, s.now(), it.Owner, f.ID); err != nil {
			return out, err
		}
	}
	if f.AutoPublish && f.State == StateActive && (resumed || !published) {
		if err := factoryrecord.StartPublish(tx, s.now(), it.Owner, f.ID); err != nil {
			return out, err
		}
	}
	changed, err := before.Changes(&f)
	if err != nil {
		return out, err
	}
	if err := s.replace(tx, it, &f); err != nil || !changed {
		return f, err
	}
	return f, f.Notify(tx, it.Owner)
}

// replace adds the changed factory to the transaction.
func (s *Service) replace(tx *store.Tx, it store.Item, f *Factory) error {
	f.Touch(s.now())
	it, err := f.Into(it)
	if err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// Notify adds the event of the changed factory to the transaction.
func (f *Factory) Notify(tx *store.Tx, o tenant.Owner) error {
	return event.Add(tx, f.UpdatedAt.Time, o, event.FactoryUpdated, f)
}

// NotifyItem is Notify for a changed factory that is an item.
func NotifyItem(tx *store.Tx, it store.Item) error {
	f, err := Decode(&it)
	if err != nil {
		return err
	}
	return f.Notify(tx, it.Owner)
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Now).Register(r)
}

// keepDeleted is the time for which the item of a deleted factory stays. It tells resources
// that refer to the factory that it was deleted.
const keepDeleted = 90 * 24 * time.Hour

type removeInput struct {
	FactoryPath
	httpapi.IfMatch
}

// remove deletes a factory. It leaves the lists at once, and takes no more plans; a task ends its work under way.
func (s *Service) remove(ctx context.Context, tx *store.Tx, in *removeInput) (out Factory, err error) {
	found, beside, err := s.findAll(ctx, []string{in.ID}, factoryrecord.BookKey(in.ID))
	if err != nil {
		return out, err
	}
	it, ok := found[in.ID]
	if !ok {
		return out, errs.Missing(Kind, in.ID)
	}
	var f Factory
	if err := it.Decode(&f); err != nil {
		return out, err
	}
	if err := in.Check(f.Version); err != nil {
		return out, err
	}
	book, err := factoryrecord.BookOf(beside[0])
	if err != nil {
		return out, err
	}
	book.Deleted = true
	now := s.now()
	if err := book.Write(tx, now, it.Owner, f.ID, beside[0]); err != nil {
		return out, err
	}
	f.State = StateDeleted
	quota.Free(tx, now, it)
	it.ListKey, it.ExpireAt = store.Key{}, now.Add(keepDeleted)
	if err := s.replace(tx, it, &f); err != nil {
		return out, err
	}
	if err := f.Notify(tx, it.Owner); err != nil {
		return out, err
	}
	return f, factoryrecord.StartEnd(tx, now, it.Owner, f.ID)
}

// steers says of each member of the settings whether it decides what is made: prompts read it, or it chooses the model,
// the kind, the language or the marking. A member without a row steers.
var steers = map[string]bool{
	"name": true, "language": true, "description": true, "audience": true, "tone": true, "topics": true,
	"content_types": true, "models": true, "replace_retired_models": true, "ai_caption_line": true, "quality": true,
	"settings": true, "template_id": true, "region": true, "ad_marking": true,
	// plan_approve decides whether somebody has read the topics of what is made.
	"plan_approve": true,
	"visuals":      true, "music": true, "duration_seconds": true,
	// These have rules of their own, say when something is made, or are the caller's notes.
	"auto_publish": false, "approval": false, "schedule": false, "state": false, "metadata": false,
}

// Snapshot is what a factory was before a change, for Permit.
type Snapshot struct {
	members map[string]json.RawMessage
	all     []byte
}

// Before returns what the factory is now. Of what was stored before a member had its default, the members have it.
func (f *Factory) Before(now time.Time) (b Snapshot, err error) {
	if b.all, err = json.Marshal(f.settings()); err != nil {
		return b, err
	}
	usual := *f
	if err := usual.apply(usual.settings(), now); err != nil {
		usual = *f
	}
	b.members, err = usual.members()
	return b, err
}

func (f *Factory) members() (all map[string]json.RawMessage, err error) {
	raw, err := json.Marshal(f.settings())
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(raw, &all)
}

// Changes reports whether the factory is another one now.
func (b Snapshot) Changes(f *Factory) (bool, error) {
	now, err := json.Marshal(f.settings())
	return !bytes.Equal(b.all, now), err
}

// Permit refuses a change by which a principal who may not publish has content published: it turns automatic publishing
// on, or ends the approval of content. What steers the items of a factory that publishes automatically is noted: they
// wait for an approval, until somebody who may publish changes the factory. The factory has the change already.
func (f *Factory) Permit(p *auth.Principal, before Snapshot) error {
	now, err := f.members()
	if err != nil {
		return err
	}
	var found []error
	if f.AutoPublish && string(before.members["auto_publish"]) != "true" {
		found = append(found, p.Require(auth.ContentPublish, "/auto_publish"))
	}
	if string(before.members["approval"]) == `"`+ApprovalRequired+`"` && f.Approval != ApprovalRequired {
		found = append(found, p.Require(auth.ContentPublish, "/approval"))
	}
	if err := errs.All(found...); err != nil {
		return err
	}
	steered := false
	for name, value := range now {
		steer, known := steers[name]
		steered = steered || (steer || !known) && !bytes.Equal(before.members[name], value)
	}
	f.Steered = !p.Has(auth.ContentPublish) && f.AutoPublish && (f.Steered || steered)
	return nil
}
