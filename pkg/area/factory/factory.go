// Package factory holds content factories: their content, audience, voice and schedule. There are exactly seven types,
// each with settings of its own. Start with Factory in factory.go; operations.go has the operations.
package factory

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata"

	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/record/resource"
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
	Settings     TypeSettings      `json:"settings"`
	State        string            `json:"state"`
	Metadata     resource.Metadata `json:"metadata"`
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
	// Profile that it belongs to, with all that it makes. Null: the account as a whole.
	ProfileID *tenant.Profile `json:"profile_id"`
	// Ids of the social accounts that it publishes to.
	SocialAccountIDs []string `json:"social_account_ids" nullable:"false"`
	// Settings of the factory's type.
	Settings TypeSettings `json:"settings"`
	// Trained is its trained model, if it has one.
	Trained *catalog.Trained `json:"-"`
	// Files are the files of the media that its settings name.
	Files Files `json:"-"`
	// Steered says that somebody who may not publish has changed what its items say. Those that would be published
	// automatically wait for an approval.
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

// NewService makes the service.
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
		Settings: f.Settings,
		State:    f.State, Metadata: f.Metadata, Legal: f.Legal,
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
	f.Legal = set.Legal
	f.Approval = cmp.Or(set.Approval, ApprovalNone)
	f.PlanApprove = cmp.Or(set.PlanApprove, ApprovalNone)
	f.Quality = cmp.Or(set.Quality, usualQuality)
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
			found = append(found, catalog.UsableIn(f.Trained, kind, models[kind], "/models/"+kind, now))
		}
	}
	return errs.All(found...)
}

// Zone returns the time zone with a name of the IANA database.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" { // Local depends on the machine
		return nil, fmt.Errorf("factory: %q is no time zone", name)
	}
	return time.LoadLocation(name)
}

func (s *Schedule) check() error {
	if s == nil {
		return nil
	}
	var found []error
	if _, err := Zone(s.Timezone); err != nil {
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
	return errs.All(found...)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Adopt adds a factory of an export to the transaction, with the social accounts that it has here. It publishes nothing
// automatically. Media in its settings that the caller does not have are left out.
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
