// Package factory holds content factories: their content, audience, voice and schedule. There are exactly seven types,
// each with settings of its own. Start with Factory in factory.go; operations.go has the operations.
package factory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
)

// Kind is the kind of a factory's item.
const Kind = factoryrecord.Kind

// Type is the purpose of a factory.
type Type string

// The seven types; there are no others.
const (
	Blogger       Type = "blogger"
	Seller        Type = "seller"
	Expert        Type = "expert"
	Brand         Type = "brand"
	News          Type = "news"
	Entertainment Type = "entertainment"
	Musician      Type = "musician"
)

// The states of a factory.
const (
	StateActive  = "active"
	StatePaused  = factoryrecord.StatePaused
	StateDeleted = factoryrecord.StateDeleted
)

// usualQuality is the quality of the texts of factories that name none.
const usualQuality = "standard"

// Schedule is when a factory publishes.
type Schedule struct {
	// IANA time zone.
	Timezone string `json:"timezone" minLength:"1" maxLength:"64" example:"Europe/Berlin"`
	// Times of day (HH:MM).
	Times []string `json:"times" maxItems:"24" nullable:"false" example:"[\"09:00\",\"18:30\"]"`
	Rest
}

// Rest is when a factory does not publish.
type Rest struct {
	// Days of the week on which it publishes. Absent: all, or the working days of its country if its readers are at
	// work, such as those of a law firm.
	Weekdays []string `json:"weekdays,omitempty" format:"weekdays" nullable:"false"`
	// Days on which it does not: dates (2026-12-24), days of each year (12-24), and holidays for the public holidays of
	// its country. Absent: none, or holidays if its readers are at work.
	SilentDays []string `json:"silent_days,omitempty" format:"silent-days" nullable:"false"`
}

// check refuses days that do not exist. Param is the place of its members.
func (r Rest) check(param string) error {
	var found []error
	for i, day := range r.SilentDays {
		if !calendar.ValidDay(day) {
			found = append(found, errs.Invalid(fmt.Sprintf("%s/silent_days/%d", param, i), "is not a day; write it as "+
				"2026-12-24, 12-24 or holidays"))
		}
	}
	return errs.All(found...)
}

// Check refuses days that do not exist, in a body that has the members itself.
func (r Rest) Check() error { return r.check("") }

// Silence returns when a factory does not publish.
func (f *Factory) Silence() (s calendar.Silence) {
	if f.Schedule == nil {
		return s
	}
	region := ""
	if f.Region != nil {
		region = *f.Region
	}
	return calendar.Silence{Weekdays: f.Schedule.Weekdays, Days: f.Schedule.SilentDays,
		Country: calendar.Country(region, f.Language, f.Schedule.Timezone)}
}

// Making is how videos are made, for what names nothing else.
type Making struct {
	// What is seen in videos: clips, or pictures with a slow movement, which cost a tenth. Absent: clips for content
	// items, and stills for plans whose brief asks for no motion.
	Visuals string `json:"visuals,omitempty" enum:"clips,stills"`
	// What is heard under the voice of videos. Absent: none.
	Music string `json:"music,omitempty" enum:"none,generated"`
	// Length in seconds of videos, music clips and stories that are clips, where it is within their bounds. Absent: the
	// usual length of each.
	DurationSeconds *int `json:"duration_seconds,omitempty" minimum:"5" maximum:"180" example:"20"`
}

// Settings are the members of a factory that a caller sets.
type Settings struct {
	Name         string            `json:"name"`
	Language     string            `json:"language"`
	Description  string            `json:"description"`
	Audience     string            `json:"audience"`
	Tone         string            `json:"tone"`
	Topics       []Topic           `json:"topics"`
	ContentTypes []string          `json:"content_types"`
	Models       map[string]string `json:"models"`
	Replace      bool              `json:"replace_retired_models"`
	CaptionLine  bool              `json:"ai_caption_line"`
	Schedule     *Schedule         `json:"schedule"`
	AutoPublish  bool              `json:"auto_publish"`
	Approval     string            `json:"approval"`
	PlanApprove  string            `json:"plan_approve"`
	Quality      string            `json:"quality"`
	Making
	Settings   TypeSettings      `json:"settings"`
	TemplateID *string           `json:"template_id"`
	State      string            `json:"state"`
	Metadata   resource.Metadata `json:"metadata"`
	profile.Legal
}

// Factory is a factory as callers see it.
type Factory struct {
	resource.Resource
	// Type of the factory. It cannot be changed.
	Type Type `json:"type" enum:"blogger,seller,expert,brand,news,entertainment,musician" example:"seller"`
	// Name of the factory.
	Name string `json:"name" example:"Summer shop"`
	// Language of its content (BCP 47).
	Language string `json:"language" example:"de-DE"`
	// Subject of the factory.
	Description resource.Text `json:"description"`
	// Audience of the content.
	Audience resource.Text `json:"audience"`
	// Tone of the content.
	Tone resource.Text `json:"tone"`
	// Topics of the content.
	Topics []Topic `json:"topics" nullable:"false"`
	// Kinds of content that it makes. Others are refused.
	ContentTypes []string `json:"content_types" nullable:"false" format:"content-type"`
	// Model for each kind of generation. Other kinds use the default of the catalog.
	Models map[string]string `json:"models"`
	// Whether the successor takes the place of one of these models once it is retired, as far as it makes the same kind
	// at no more than its last price. If not, requests that need the model fail with unsupported_model.
	ReplaceRetiredModels bool `json:"replace_retired_models"`
	// Whether captions of generated content end with a line such as "AI-generated." in the language of the content, on
	// platforms that learn it in no other way: see ai_declaration of listPlatforms.
	AICaptionLine bool `json:"ai_caption_line"`
	// Time zone and times of day at which content plans publish. Null: UTC, and times that the plan chooses.
	Schedule *Schedule `json:"schedule"`
	// Whether generated content is published automatically, on the social accounts of the factory: at the times of its
	// content plan, or else at once. Turning it on schedules the items of its content plans whose time is ahead. Other
	// content that was created before stays as it is, and so does content that was created or regenerated without the
	// scope content:publish, and what none of the accounts takes.
	AutoPublish bool `json:"auto_publish"`
	// Whether its content waits for an approval before it is scheduled or published.
	Approval string `json:"approval" enum:"none,required"`
	// What its content plans wait for if they name nothing: topics, or none.
	PlanApprove string `json:"plan_approve" enum:"none,topics"`
	// Quality of the texts of items and plans that name none: draft, standard or best.
	Quality string `json:"quality" example:"standard"`
	// What is seen in videos that name nothing else: clips or stills. Null: clips, and in plans stills unless their
	// brief asks for motion.
	Visuals resource.Text `json:"visuals" example:"stills"`
	// What is heard under the voice of videos that name nothing else: none or generated. Null: none.
	Music resource.Text `json:"music"`
	// Length in seconds of what plays and names none, where it is within its bounds. Null: the usual lengths.
	DurationSeconds *int `json:"duration_seconds"`
	// Profile that it belongs to, with all that it makes. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Ids of the social accounts that it publishes to.
	SocialAccountIDs []string `json:"social_account_ids" nullable:"false"`
	// Settings of the factory's type.
	Settings TypeSettings `json:"settings"`
	// Template that its new content has in place of theme. Null: that of its profile, or none.
	TemplateID *string `json:"template_id"`
	// TunedModel is its trained model, if it has one.
	TunedModel *catalog.TunedModel `json:"-"`
	// Files are the files of the media that its settings name.
	Files Files `json:"-"`
	// Steered reports that a caller without content:publish has changed what its items say. Those that would be
	// published automatically wait for an approval.
	Steered bool `json:"-"`
	// State of the factory. A paused factory makes nothing new: items and plans are refused, and what is queued or
	// scheduled waits until it is active. What is being generated goes on.
	State string `json:"state" enum:"active,paused,deleted"`
	profile.Legal
}

// In returns the owner of what the factory makes, for a caller with the given owner.
func (f *Factory) In(caller tenant.Owner) tenant.Owner { return caller.In(f.ProfileID) }

// allContentTypes are the content types of a factory that names none.
var allContentTypes = []string{"post", "video", "carousel", "story", "music_clip"}

// typesOf returns the content types of a type of factory that names none. News are not sung.
func typesOf(of Type) []string {
	if of == News {
		return slices.DeleteFunc(slices.Clone(allContentTypes), func(kind string) bool { return kind == "music_clip" })
	}
	return allContentTypes
}

// checkTypes refuses content types that a type of factory does not make.
func checkTypes(of Type, wanted []string) error {
	for i, kind := range wanted {
		if !factoryrecord.Makes(typesOf(of), factoryrecord.KindOf(kind), "") {
			return errs.Invalid("/content_types/"+strconv.Itoa(i), "is not made by a factory of type %s, which makes "+
				"%s. Create a factory of type musician for it", of, strings.Join(typesOf(of), ", "))
		}
	}
	return nil
}

// Service creates and changes factories.
type Service struct {
	db  *store.DB
	now func() time.Time
}

// NewService makes the service on the state table. It makes no call.
func NewService(db *store.DB, now func() time.Time) *Service { return &Service{db, now} }

// Find reads a factory of the caller's account and mode; one that was deleted is not found.
func (s *Service) Find(ctx context.Context, factoryID string, match ...httpapi.IfMatch) (Factory, store.Item, error) {
	it, err := resource.Find(ctx, s.db, id.Factory, Kind, factoryID)
	if err != nil {
		return Factory{}, it, err
	}
	f, err := Decode(&it)
	if err != nil {
		return f, it, err
	}
	if f.State == StateDeleted {
		return f, it, errs.Missing(Kind, factoryID)
	}
	return f, it, httpapi.Matches(f.Version, match)
}

// Newest returns the newest factory of the owner's profile, and reports whether it has one.
func (s *Service) Newest(ctx context.Context, o tenant.Owner) (f Factory, found bool, err error) {
	page, err := s.db.List(ctx, store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, Kind), Limit: 1,
		Filters: map[string]string{store.ProfileFilter: string(o.Profile)},
		Keep:    func(it store.Item) bool { return factoryrecord.State(it) != StateDeleted }})
	if err != nil || len(page.Items) == 0 {
		return f, false, err
	}
	f, err = Decode(&page.Items[0])
	return f, err == nil, err
}

// FindAll reads several factories as Find does, and other items with them, in one round trip. A factory that Find would
// not find is not among the found ones. The other items are returned in the order of their keys.
func (s *Service) FindAll(ctx context.Context, ids []string, others ...store.Key) (found map[string]Factory,
	beside []store.Item, err error) {
	items, beside, err := s.findAll(ctx, ids, others...)
	if err != nil {
		return nil, nil, err
	}
	found = map[string]Factory{}
	for factoryID, it := range items {
		f, err := Decode(&it)
		if err != nil {
			return nil, nil, err
		}
		found[factoryID] = f
	}
	return found, beside, nil
}

// findAll is FindAll for the items of the factories.
func (s *Service) findAll(ctx context.Context, ids []string, others ...store.Key) (found map[string]store.Item,
	beside []store.Item, err error) {
	found, beside, err = resource.FindAll(ctx, s.db, id.Factory, ids, others...)
	maps.DeleteFunc(found, func(_ string, it store.Item) bool { return factoryrecord.State(it) == StateDeleted })
	return found, beside, err
}

// item writes the factory as an item.
func (f *Factory) item(o tenant.Owner) (store.Item, error) {
	it, err := store.NewItem(Kind, o, f.ID, f)
	if err != nil {
		return it, err
	}
	it.Filters = f.filters()
	f.watch(&it)
	return it, f.encodeFiles(&it)
}

func (f *Factory) filters() map[string]string {
	return map[string]string{"type": string(f.Type), "state": f.State}
}

// settings returns the members that a caller may change.
func (f *Factory) settings() Settings {
	return Settings{
		Name: f.Name, Language: f.Language, Description: string(f.Description), Audience: string(f.Audience),
		Tone:         string(f.Tone),
		Topics:       f.Topics,
		ContentTypes: f.ContentTypes, Models: f.Models, Replace: f.ReplaceRetiredModels,
		CaptionLine: f.AICaptionLine,
		Schedule:    f.Schedule, AutoPublish: f.AutoPublish,
		Approval: f.Approval, PlanApprove: f.PlanApprove, Quality: f.Quality,
		Making:   Making{string(f.Visuals), string(f.Music), f.DurationSeconds},
		Settings: f.Settings, TemplateID: f.TemplateID,
		State: f.State, Metadata: f.Metadata, Legal: f.Legal,
	}
}

// apply checks settings and takes them over.
func (f *Factory) apply(set Settings, now time.Time) error {
	tag, language := Language(set.Language, "")
	typed, settings := set.Settings.check(f.Type)
	if err := errs.All(language, f.checkModels(set.Models, now), set.Schedule.check(), settings,
		f.checkPlanned(set), checkTypes(f.Type, set.ContentTypes), law.CheckSettings(set.Legal)); err != nil {
		return err
	}
	if len(set.ContentTypes) == 0 {
		set.ContentTypes = typesOf(f.Type)
	}
	f.Name, f.Language, f.Description, f.Audience, f.Tone = set.Name, tag, resource.Text(set.Description),
		resource.Text(set.Audience), resource.Text(set.Tone)
	f.Topics, f.ContentTypes, f.Models = orEmpty(set.Topics), set.ContentTypes, set.Models
	f.ReplaceRetiredModels, f.AICaptionLine = set.Replace, set.CaptionLine
	f.Schedule, f.AutoPublish, f.Settings, f.State, f.Metadata = set.Schedule, set.AutoPublish, typed, set.State,
		set.Metadata.OrEmpty()
	f.Legal, f.TemplateID = set.Legal, set.TemplateID
	f.Approval = cmp.Or(set.Approval, ApprovalNone)
	f.PlanApprove = cmp.Or(set.PlanApprove, ApprovalNone)
	f.Quality = cmp.Or(set.Quality, usualQuality)
	f.Visuals, f.Music, f.DurationSeconds = resource.Text(set.Visuals), resource.Text(set.Music), set.DurationSeconds
	if f.Models == nil {
		f.Models = map[string]string{}
	}
	return nil
}

// The settings of approval.
const (
	ApprovalNone     = "none"
	ApprovalRequired = "required"
)

// checkPlanned refuses settings that have no effect yet.
func (f *Factory) checkPlanned(set Settings) error {
	if set.Models["avatar"] != "" && f.Models["avatar"] == "" {
		return errs.Invalid("/models/avatar", "has no effect, as no content has an avatar. Leave it out")
	}
	return nil
}

// Language returns a language tag (BCP 47) in canonical form, or the fallback if it is empty.
func Language(tag, fallback string) (string, error) {
	if tag == "" && fallback != "" {
		return fallback, nil
	}
	return canonical(tag, "/language")
}

// canonical returns a language tag in canonical form. param is the member that it came from.
func canonical(tag, param string) (string, error) {
	t, err := language.Parse(tag)
	if err != nil {
		return "", errs.Invalid(param, "is not a language tag (BCP 47); write it as en or de-DE")
	}
	return t.String(), nil
}

// checkModels refuses models that do not exist, are retired, or make something else. Those that the factory has stay:
// one that has ended since must not keep a caller from changing something else.
func (f *Factory) checkModels(models map[string]string, now time.Time) error {
	var found []error
	for _, kind := range slices.Sorted(maps.Keys(models)) {
		if was, has := f.Models[kind]; !has || models[kind] != was {
			found = append(found, catalog.UsableIn(f.TunedModel, kind, models[kind], "/models/"+kind, now))
		}
	}
	return errs.All(found...)
}

func (s *Schedule) check() error {
	if s == nil {
		return nil
	}
	var found []error
	if _, err := clock.Zone(s.Timezone); err != nil {
		found = append(found, errs.Invalid("/schedule/timezone", "is not an IANA time zone; write it as Europe/Berlin"))
	}
	for i, at := range s.Times {
		param := "/schedule/times/" + strconv.Itoa(i)
		if !clock.Valid(at) {
			found = append(found, errs.Invalid(param, "is not a time of day; write it as 09:30"))
		} else if slices.Contains(s.Times[:i], at) {
			found = append(found, errs.Invalid(param, "is listed twice: %s", at))
		}
	}
	s.Times = orEmpty(s.Times)
	return errs.All(append(found, s.Rest.check("/schedule"))...)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Adopt adds a factory of an export to the transaction, with the social accounts that it has here. It publishes nothing
// automatically. Media in its settings and a template that the caller does not have are left out.
func (s *Service) Adopt(ctx context.Context, tx *store.Tx, now time.Time, o tenant.Owner, f Factory,
	accounts []string) error {
	f.SocialAccountIDs, f.AutoPublish, f.ProfileID = accounts, false, o.ProfileID()
	if f.State != StatePaused {
		f.State = StateActive
	}
	set := f.settings()
	set.Models = maps.Clone(set.Models)
	f.Models = nil // those of another account are as new
	maps.DeleteFunc(set.Models, func(kind, model string) bool {
		return f.checkModels(map[string]string{kind: model}, now) != nil
	})
	if err := f.apply(set, now); err != nil {
		return err
	}
	if s.setFiles(ctx, tx, o, &f, nil) != nil {
		var err error
		if f.Settings, err = f.Settings.withoutFiles(); err != nil {
			return err
		}
		f.Files = Files{}
	}
	switch err := template.Use(ctx, s.db, tx, o, f.ID, nil, f.TemplateID); {
	case errs.CodeOf(err) == errs.NotFound:
		f.TemplateID = nil
	case err != nil:
		return err
	}
	it, err := f.item(o)
	if err != nil {
		return err
	}
	quota.Factories.Take(tx, now, &it)
	tx.Create(it, nil)
	return nil
}

// withoutFiles returns settings that name no media.
func (t TypeSettings) withoutFiles() (TypeSettings, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(t, &all); err != nil {
		return nil, err
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
		return name == "logo" || name == "intro" || name == "outro"
	})
	return json.Marshal(all)
}

// Input is the type of the body of the operation that creates a factory. Imports check what comes in by its schema.
var Input = reflect.TypeFor[createBody]()

// Describe adds the schemas that depend on a factory's type to a document: factories and
// new factories are choices between seven shapes, and changes name the settings of each.
func Describe(r *httpapi.Router) {
	schemas := r.OpenAPI().Components.Schemas.Map()
	divide(r, "Factory", "Factory of ", false)
	divide(r, "FactoryCreate", "New factory of ", true)

	members := schemas["FactoryUpdate"].Properties
	settings := &huma.Schema{Description: members["settings"].Description}
	for _, t := range typeSettings {
		name := t.Shape.Name()
		schemas[name+"Update"] = patch(schemas[name], r.OpenAPI().Components.Schemas.SchemaFromRef)
		settings.AnyOf = append(settings.AnyOf, httpapi.RefTo(name+"Update"))
	}
	settings.AnyOf = append(settings.AnyOf, &huma.Schema{Type: "null"})
	members["settings"] = settings
}

// divide makes the schema of a name a choice by type.
func divide(r *httpapi.Router, name, title string, closed bool) {
	schemas := r.OpenAPI().Components.Schemas.Map()
	base := schemas[name]
	schemas[name+"Base"] = base
	settings := base.Properties["settings"]
	delete(base.Properties, "settings")
	always := slices.Contains(base.Required, "settings")
	base.Required = slices.DeleteFunc(base.Required, func(member string) bool { return member == "settings" })
	base.AdditionalProperties = nil // each shape adds its settings
	var variants []httpapi.Variant
	for _, t := range typeSettings {
		v := httpapi.Variant{
			Value: string(t.Type), Name: text.Pascal(string(t.Type)) + name,
			Description: title + t.Who,
			Members: map[string]*huma.Schema{"settings": {Ref: r.Schema(t.Shape).Ref,
				Description: settings.Description}},
			Closed: closed,
		}
		if always || len(schemas[t.Shape.Name()].Required) > 0 {
			v.Required = []string{"settings"}
		}
		variants = append(variants, v)
	}
	schemas[name] = httpapi.Union(schemas, name+"Base", "type", variants)
}

// patch describes a merge patch of an object: every member may be left out, and null removes the optional ones.
func patch(object *huma.Schema, find func(ref string) *huma.Schema) *huma.Schema {
	s := &huma.Schema{Type: object.Type, AdditionalProperties: object.AdditionalProperties,
		Properties: map[string]*huma.Schema{}}
	for name, member := range object.Properties {
		change := *apart(member)
		if of := find(member.Ref); member.Ref != "" && of != nil {
			change = *apart(of)
		}
		if len(change.Properties) > 0 {
			change = *patch(&change, find)
			change.Description = member.Description
		}
		change.Nullable = !slices.Contains(object.Required, name)
		s.Properties[name] = &change
	}
	return s
}

// apart returns a copy of a schema that shares no part with it: those of requests and of responses are changed apart.
func apart(s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.Items, c.Properties, c.OneOf = apart(s.Items), maps.Clone(s.Properties), slices.Clone(s.OneOf)
	for name, member := range c.Properties {
		c.Properties[name] = apart(member)
	}
	for i, one := range c.OneOf {
		c.OneOf[i] = apart(one)
	}
	return &c
}

// Into writes the changed factory into the item that it was read from.
func (f *Factory) Into(it store.Item) (store.Item, error) {
	it.Filters = f.filters()
	f.watch(&it)
	if err := f.encodeFiles(&it); err != nil {
		return it, err
	}
	return it, it.Encode(f)
}

// setByUpdate says of a member that it names what must be looked up.
const setByUpdate = "is set by PATCH /v1/factories/{factory_id} only"

// Change applies a merge patch by the schema and the rules of updateFactory, and reports whether it changes anything.
func (f *Factory) Change(patch map[string]any, now time.Time) (changed bool, err error) {
	if err := httpapi.CheckPatch(reflect.TypeFor[patchBody](), patch); err != nil {
		return false, err
	}
	before, err := f.Before(now)
	if err != nil {
		return false, err
	}
	design := f.TemplateID
	set, err := httpapi.Merge(f.settings(), patch)
	if err != nil {
		return false, err
	}
	was, err := f.Settings.named()
	if err != nil {
		return false, err
	}
	if err := f.apply(set, now); err != nil {
		return false, err
	}
	if !resource.Equal(design, f.TemplateID) {
		return false, errs.Invalid("/template_id", setByUpdate)
	}
	named, err := f.Settings.named()
	if err != nil {
		return false, err
	}
	for _, m := range members {
		if named[m.name] != was[m.name] {
			return false, errs.Invalid(m.param(), setByUpdate)
		}
	}
	return before.Changes(f)
}

// Under returns a digest of the values that a merge patch would replace. Changes of other members leave it as it is.
func (f *Factory) Under(patch map[string]any) (string, error) {
	raw, err := json.Marshal(f.settings())
	if err != nil {
		return "", err
	}
	var set any
	if err := json.Unmarshal(raw, &set); err != nil {
		return "", err
	}
	if raw, err = json.Marshal(replaced(set, patch)); err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

// replaced returns the part of a document that a merge patch replaces.
func replaced(doc, patch any) any {
	members, ok := patch.(map[string]any)
	was, object := doc.(map[string]any)
	if !ok || !object {
		return doc
	}
	part := map[string]any{}
	for name, change := range members {
		part[name] = replaced(was[name], change)
	}
	return part
}

// PatchSchema returns the JSON Schema of a merge patch of some members of a factory, for
// those who write one without the document.
func PatchSchema(of Type, members ...string) (json.RawMessage, error) {
	schemas := huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)
	body := schemas.Schema(reflect.TypeFor[patchBody](), false, "")
	schema.Expand(schemas, body)
	all := body.Properties
	maps.DeleteFunc(all, func(name string, _ *huma.Schema) bool { return !slices.Contains(members, name) })
	if all["settings"] != nil {
		settings := schemas.Schema(shapeOf(of), false, "")
		schema.Expand(schemas, settings)
		all["settings"] = patch(settings, schemas.SchemaFromRef)
	}
	httpapi.EmbeddedTexts().Registered(schemas, "#/")
	for name, s := range all {
		if s.Ref != "" {
			all[name] = schemas.SchemaFromRef(s.Ref)
		}
	}
	return json.Marshal(&huma.Schema{Type: huma.TypeObject, Properties: all, AdditionalProperties: false})
}

// CreateShape returns the JSON Schema of the body of createFactory. SettingsShapes has the settings by type.
func CreateShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[createBody](), "metadata")
}

// everyType is the name of the settings that all types have, in SettingsShapes.
const everyType Type = "every_type"

// SettingsShapes returns the JSON Schemas of the settings by the types of factories. Those that every type has are
// there once, as every_type: readers pay for each repetition.
func SettingsShapes() (map[Type]json.RawMessage, error) {
	var shared []string
	of := reflect.TypeFor[Branding]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		shared = append(shared, name)
	}
	all := map[Type]json.RawMessage{}
	var err error
	if all[everyType], err = httpapi.Shape(of); err != nil {
		return nil, err
	}
	for _, t := range typeSettings {
		if all[t.Type], err = httpapi.Shape(t.Shape, shared...); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ChangeShape returns the JSON Schema of the body of updateFactory.
func ChangeShape() (json.RawMessage, error) {
	return httpapi.Shape(reflect.TypeFor[patchBody](), "metadata")
}

// ChangeFrom is updateFactory with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) ChangeFrom(ctx context.Context, tx *store.Tx, factoryID string, body any) (out Factory, err error) {
	f, it, err := s.Find(ctx, factoryID)
	if err != nil {
		return out, err
	}
	if err := httpapi.CheckPatch(reflect.TypeFor[patchBody](), body); err != nil {
		return out, errs.Below("/body", err)
	}
	set, err := httpapi.Merge(f.settings(), body)
	if err != nil {
		return out, errs.Below("/body", err)
	}
	out, err = s.change(ctx, tx, it, f, set)
	return out, errs.Below("/body", err)
}

// Check checks a body of createFactory, a parsed JSON value, as the operation does. Places
// in errors begin with the member body.
func (s *Service) Check(ctx context.Context, body any) error {
	_, err := s.CreateFrom(ctx, &store.Tx{}, body)
	return err
}

// CreateFrom is createFactory with a parsed JSON value as its body. Places in errors begin with the member body.
func (s *Service) CreateFrom(ctx context.Context, tx *store.Tx, body any) (Factory, error) {
	b, err := httpapi.Member[createBody]("body", body)
	if err != nil {
		return Factory{}, err
	}
	f, err := s.make(ctx, tx, b)
	return f, errs.Below("/body", err)
}

// Decode reads the factory of an item.
func Decode(it *store.Item) (f Factory, err error) {
	if err := it.Decode(&f); err != nil {
		return f, err
	}
	f.Approval = cmp.Or(f.Approval, ApprovalNone) // it may be older than the member
	f.PlanApprove = cmp.Or(f.PlanApprove, ApprovalNone)
	f.Quality = cmp.Or(f.Quality, usualQuality) // it may be older than the member
	if raw := it.Attributes[catalog.TrainedAttribute]; raw != "" {
		if err := json.Unmarshal([]byte(raw), &f.TunedModel); err != nil {
			return f, fmt.Errorf("factory: trained model of %s: %w", f.ID, err)
		}
	}
	return f, f.decodeFiles(it)
}

// TrainedText returns the factory's trained model if it is its text model, and nil otherwise.
func (f *Factory) TrainedText() *catalog.TunedModel {
	if f.TunedModel == nil || f.Models[string(provider.KindText)] != f.TunedModel.ID {
		return nil
	}
	return f.TunedModel
}

// TextModel returns the id in the catalog of the factory's text model, empty without
// one, and the endpoint of a trained model, which is called in its place.
func (f *Factory) TextModel() (modelID, endpoint string) {
	if t := f.TrainedText(); t != nil {
		return t.BaseModel, t.Endpoint
	}
	return f.Models[string(provider.KindText)], ""
}

// lookEvery is the time between two looks at the models of a factory. A release may tell of an end that was not known
// when the factory was written.
const lookEvery = 7 * 24 * time.Hour

// namePartition is the partition of store.ByDue that lists the factories of all accounts that name a model, by the time
// of the next look at these.
const namePartition = "factories#models"

// announcedAttribute is the attribute of a factory's item with the models whose end was announced, separated by commas.
const announcedAttribute = "retiring_told"

// Retirement is the object of the event model.retiring: a model that a factory names and that ends.
type Retirement struct {
	// Id of the model.
	ID string `json:"id" example:"nano-banana-pro"`
	// Id of the factory that names the model.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Profile that the factory belongs to. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Kind of generation that the factory names it for.
	Kind string `json:"kind" enum:"text,image,video,music,voice,avatar"`
	// Time from which on its provider no longer has it.
	RetiresAt resource.Time `json:"retires_at"`
	// Id of the model to use instead. Null if there is none.
	Successor *string `json:"successor" example:"nano-banana-2.1"`
	// Whether the factory lets a successor take the place of the model, as far as that costs no more.
	ReplaceRetiredModels bool `json:"replace_retired_models"`
}

// Ends returns the nearest end of the models that the factory names, and the first time from which on one of them is
// advised against, for the headers of an answer.
func (f Factory) Ends() (deprecated, end time.Time) {
	for _, named := range f.Models {
		from, until := catalog.Ending(named)
		deprecated, end = earlier(deprecated, from), earlier(end, until)
	}
	return deprecated, end
}

// earlier returns the earlier of two times, of which the zero time stands for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// watch plans the next look at the models of a factory: at once if one of them ends soon, so that the event follows
// the change that names it.
func (f *Factory) watch(it *store.Item) {
	it.Due = store.Key{}
	if len(f.Models) == 0 || f.State == StateDeleted {
		return
	}
	at := f.UpdatedAt.Time
	if len(f.retiring(at, told(*it))) == 0 {
		at = at.Add(lookEvery)
	}
	it.Due = store.DueAt(namePartition, at, f.ID)
}

func told(it store.Item) []string {
	return strings.FieldsFunc(it.Attributes[announcedAttribute], func(r rune) bool { return r == ',' })
}

// retiring returns the models of the factory that end soon and whose end was not announced yet.
func (f *Factory) retiring(now time.Time, told []string) (ending []Retirement) {
	for _, kind := range slices.Sorted(maps.Keys(f.Models)) {
		m, ok := catalog.Find(f.Models[kind])
		if t := f.TunedModel; t != nil && t.ID == f.Models[kind] {
			m, ok = catalog.Find(t.BaseModel)
		}
		if !ok || m.RetiresAt == nil || slices.Contains(told, m.ID) ||
			m.RetiresAt.Sub(now) > m.Notice()+lookEvery {
			continue
		}
		ending = append(ending, Retirement{ID: m.ID, FactoryID: f.ID, ProfileID: f.ProfileID, Kind: kind,
			RetiresAt: *m.RetiresAt, Successor: m.Successor, ReplaceRetiredModels: f.ReplaceRetiredModels})
	}
	return ending
}

// WarnRetiring emits the event model.retiring for each model that ends soon and that a factory names, once for each
// factory and model, and returns the number of events. A factory that fails stays in the list for the next call.
func WarnRetiring(ctx context.Context, db *store.DB, now time.Time) (warned int, err error) {
	return db.EachDue(ctx, namePartition, now, func(it store.Item) (int,
		error) {
		return warnRetiring(ctx, db, it, now)
	})
}

func warnRetiring(ctx context.Context, db *store.DB, it store.Item, now time.Time) (int, error) {
	f, err := Decode(&it)
	if err != nil {
		return 0, err
	}
	tx := &store.Tx{}
	known := told(it)
	ending := f.retiring(now, known)
	for _, one := range ending {
		if err := event.Add(tx, now, it.Owner, event.ModelRetiring, one); err != nil {
			return 0, err
		}
		known = append(known, one.ID)
	}
	if len(ending) > 0 {
		if it.Attributes == nil {
			it.Attributes = map[string]string{}
		}
		it.Attributes[announcedAttribute] = strings.Join(known, ",")
	}
	// Nothing that callers see changes, so the version stays.
	it.Due = store.DueAt(namePartition, now.Add(lookEvery), f.ID)
	tx.Replace(it)
	return len(ending), db.Commit(ctx, tx)
}
