package content

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var (
	_ = format.Define("prompt", format.Format{Shortest: 1, Longest: 4000,
		Example: "Our new trail running shoe, made of recycled nets"})
	_ = format.Define("music", format.Format{Pattern: "^(none|generated|med_[0-9a-z]{26})$", Longest: 64,
		Wanted: "none, generated or the id of a media: bring your music in by POST /v1/media first"})
	_ = format.Define("cover", format.Format{Pattern: "^(generated|med_[0-9a-z]{26})$", Longest: 64,
		Wanted: "generated or the id of a media: bring the picture in by POST /v1/media first"})
	_ = format.Define("script", format.Format{Name: format.NotBlank, Longest: 4000,
		Example: "We pulled these nets out of the sea. Now they carry you up the hill."})
	_ = format.Define("scene-text", format.Format{Name: format.NotBlank, Shortest: 1, Longest: 1000,
		Example: "We pulled these nets out of the sea."})
	_ = format.Define("scene-picture", format.Format{Name: format.NotBlank, Longest: 300,
		Example: "Fishermen haul a torn net on board at dawn"})
)

type createBody struct {
	// Factory that makes the item. It sets the voice.
	FactoryID string `json:"factory_id" example:"fac_01h455vb4pex5vsknk084sn02q"`
	// Kind of content.
	Kind item.Kind `json:"kind" enum:"post,video,carousel,story,music_clip" example:"post"`
	// What the content is about. Required unless source is provided or from_content_item_id is sent, whose prompt is
	// the default then.
	Prompt string `json:"prompt,omitempty" format:"prompt"`
	// Format of a video: short (9:16, the default) or long (16:9). For kind video only.
	Format string `json:"format,omitempty" enum:"short,long"`
	// Where its media and texts come from: models, or you. With provided, send media, or a post of text alone; it is
	// generated at once, at no cost.
	Source string `json:"source,omitempty" enum:"generated,provided" default:"generated"`
	// Id of a generated content item to retell: in another kind, language, format or factory of the same profile. The
	// writer keeps its message and facts. Its texts are read now: later changes of it have no effect. Its product and
	// language are the defaults.
	From string `json:"from_content_item_id,omitempty" maxLength:"64" example:"cnt_01h455vb4pex5vsknk084sn02q"`
	// Numbers of the scenes or slides of from_content_item_id to retell, from 1, in their new order. Absent: all; for a
	// short video, or a story that is a clip, of a longer video, the service chooses the scenes.
	Parts []fromPart `json:"from_parts,omitempty" minItems:"1" maxItems:"40" uniqueItems:"true" nullable:"false"`
	// Uses copies of the pictures, clips and generated music of from_content_item_id, whose kind must be the same. Only
	// the texts, the voice and what is missing are made and charged: a video is translated and spoken again. In the
	// same language, the words of its scenes stay as they are.
	Reuse bool `json:"reuse,omitempty"`
	// Language of its texts (BCP 47). Absent: the factory's.
	Language string `json:"language,omitempty" maxLength:"35"`
	Texts
	// Id of the model for the pictures, clips or track. Absent: the factory's, or else the default of the catalog. With
	// a video model, a story is a clip; with visuals stills, a video needs an image model.
	Model string `json:"model,omitempty" maxLength:"100"`
	// Quality of the texts. draft: one call of the cheapest model. standard: the best way to write them that costs at
	// most a tenth of the other parts, often by a better model, and for videos with a second look that may have them
	// written again. best: the best model, always with a second look. The price includes the second look. A text model
	// of the factory writes in each quality. Absent: the factory's.
	Quality string `json:"quality,omitempty" enum:"draft,standard,best"`
	// Length in seconds. A script of your own determines it. With reuse, of a video: less than that of
	// from_content_item_id, of which the service chooses scenes then. Of short videos 10 to 60 (default 20), of long
	// ones 30 to 180 (60), of music clips 15 to 60 (30), of stories that are clips 5 to 15 (5). Not for other kinds.
	DurationSeconds *int `json:"duration_seconds,omitempty" minimum:"5" maximum:"180" example:"20"`
	// What is seen in a video: clips of the model, or pictures with a slow movement, which cost a fraction. Absent:
	// clips. For kind video only.
	Visuals string `json:"visuals,omitempty" enum:"clips,stills"`
	// What is heard under the voice of a video: none, generated, or the id of your media of type audio (MP3 or WAV, up
	// to 15 minutes; it is repeated where it is shorter). Absent: none. For kind video only.
	Music string `json:"music,omitempty" format:"music" example:"generated"`
	// Cover of a music clip: generated, or the id of your media of type image. Absent: generated. For kind music_clip
	// only.
	Cover string `json:"cover,omitempty" format:"cover" example:"generated"`
	// Id of a running experiment of the factory. It assigns the item one arm of each factor at random, except of
	// factors that the body sets itself or that do not apply to the kind of the item. An experiment that has ended or
	// used up its budget assigns no arm.
	ExperimentID string `json:"experiment_id,omitempty" maxLength:"64" example:"exp_01h455vb4pex5vsknk084sn02q"`
	// Id of an active product of the factory that the item presents: its name, price and running promotion are in the
	// texts, and its photos in the pictures.
	ProductID string `json:"product_id,omitempty" maxLength:"64" example:"prd_01h455vb4pex5vsknk084sn02q"`
	// Id of a promotion of the product that has not ended. Absent: the active one with the lowest price, if there is
	// one. Needs product_id.
	PromotionID string `json:"promotion_id,omitempty" maxLength:"64" example:"prm_01h455vb4pex5vsknk084sn02q"`
	// Ids of your media, in order, with source provided: up to one image of a post, 2 to 10 images or videos of a
	// carousel, one video of a video, one image or video of a story. They stay as long as the item. Absent: a post of
	// text alone.
	Media []string `json:"media,omitempty" maxItems:"10" uniqueItems:"true" nullable:"false"`
	// How to fit your pictures or your video to the shape of the kind, with source provided: none publishes them as
	// they are, pad shows them whole before a background, crop cuts them. A video of up to 3 minutes keeps its length
	// and sound; a wide one becomes 16:9, any other 9:16. Not for videos in a carousel.
	Fit string `json:"fit,omitempty" enum:"none,pad,crop" default:"none"`
	// Whether your media were made by AI, with source provided: it is declared where a platform asks.
	AIGenerated bool `json:"ai_generated,omitempty"`
	// Marking of advertising, for countries that require it. What has one is advertising: its posts begin to show the
	// label, and their texts name the advertiser. Absent: that of the factory, or else of its profile.
	AdMarking *profile.AdMarking `json:"ad_marking,omitempty"`
	// Whether its media would falsely appear to show persons, objects, places or events as they are, such as an avatar
	// of a person. Where the region of the factory requires it, finished media have a visible label.
	DeepFake bool `json:"deep_fake,omitempty"`
	// Whether media of your own have such a label already, with source provided and deep_fake.
	Labelled bool `json:"labelled,omitempty"`
	// What differs on a platform or on a social account of the factory, by its id. The variant of an account goes
	// before that of its platform.
	Variants variants `json:"variants,omitempty" nullable:"false"`
	// Has the text model word the texts for each platform of its social_account_ids, or else of the accounts of its
	// factory. It makes variants, in one call that is part of the price. Captions of your own variants stay.
	Adapt bool `json:"adapt,omitempty"`
	// Time at which it is published, once it is generated: in the future, within 180 days. If it is generated later, it
	// is published then. Or next_slot, the next time of the schedule of its factory that is free on the accounts. Needs
	// the scope content:publish as well. Absent: it is not scheduled, unless its factory has auto_publish.
	PublishAt *publishTime `json:"publish_at,omitempty" example:"2027-01-15T09:30:00Z"`
	// Ids of the social accounts to publish to. Needs publish_at. Absent: those of its factory, without those that
	// cannot publish it.
	Accounts []string `json:"social_account_ids,omitempty" format:"accounts" nullable:"false"`
	// Options of the post, by platform. Needs publish_at.
	Options platformOptions `json:"options,omitempty"`
	// Simulated result. For test keys only.
	Sandbox *item.Rehearsal `json:"sandbox,omitempty"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`

	slot *prompt.Plan // of a plan's item
	// trial are the arms of its experiment.
	trial *item.Trial
}

// fromPart is the number of a scene or slide.
type fromPart int

// Schema describes the number in the OpenAPI document.
func (fromPart) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, 40.0
	s := &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}
	s.PrecomputeMessages()
	return s
}

// choices returns the options of generation, without the file of the caller's music.
func (b *createBody) choices() item.Options {
	return item.Options{Model: b.Model, DurationSeconds: b.DurationSeconds, Visuals: b.Visuals, Music: b.Music,
		Cover: b.Cover, Script: said(b.Script), Scenes: scenesOf(b.Scenes)}
}

type sceneBody struct {
	// What is said.
	Text string `json:"text" format:"scene-text"`
	// What is seen. Absent: the model of the pictures is told what is said, and a correction keeps what is seen.
	Visual string `json:"visual,omitempty" format:"scene-picture"`
	// Short text that is drawn at the top of the scene. Absent: none.
	OnScreen string `json:"on_screen,omitempty" format:"not-blank" maxLength:"80"`
}

func scenesOf(bodies []sceneBody) (scenes []item.Scene) {
	for _, b := range bodies {
		scenes = append(scenes, item.Scene{Text: b.Text, Visual: resource.Text(b.Visual),
			OnScreen: resource.Text(b.OnScreen)})
	}
	return scenes
}

type slideBody struct {
	// Heading of the slide. Absent: generated.
	Text string `json:"text,omitempty" format:"line-not-blank" maxLength:"200"`
	// Text below the heading, in smaller letters; empty: none. Needs text. Absent: generated, or none below a heading
	// of your own.
	Body *string `json:"body,omitempty" format:"line" maxLength:"200"`
}

// body returns the text below the heading.
func (s slideBody) body() string {
	if s.Body == nil {
		return ""
	}
	return strings.TrimSpace(*s.Body)
}

type createInput struct {
	Body createBody
}

// check refuses members that do not fit the kind or the key.
func (b *createBody) check(mode tenant.Mode) error {
	return errs.All(checkRehearsal(b.Sandbox, mode), b.Rules())
}

// Rules refuses members that do not fit the kind.
func (b *createBody) Rules() error {
	found := []error{b.ownRules(), law.CheckMarking(b.AdMarking)}
	if b.Format != "" && b.Kind != item.Video {
		found = append(found, errs.Invalid("/format", "is for kind video only"))
	}
	found = append(found, b.Texts.check(b.Kind)...)
	if b.From == "" {
		const needs = "needs from_content_item_id, the content item to retell"
		if b.Parts != nil {
			found = append(found, errs.Invalid("/from_parts", needs))
		}
		if b.Reuse {
			found = append(found, errs.Invalid("/reuse", needs))
		}
	}
	for i, slide := range b.Slides {
		if slide.Body != nil && *slide.Body != "" && slide.Text == "" {
			found = append(found, errs.Invalid(fmt.Sprintf("/slides/%d/body", i), "needs text, the heading above it"))
		}
	}
	if b.Labelled && (b.Source != item.SourceProvided || !b.DeepFake) {
		found = append(found, errs.Invalid("/labelled", "needs source provided and deep_fake"))
	}
	if b.PublishAt == nil {
		if b.Accounts != nil {
			found = append(found, errs.Invalid("/social_account_ids", "needs publish_at, the time to publish it"))
		}
		if b.Options != nil {
			found = append(found, errs.Invalid("/options", "needs publish_at, the time to publish it"))
		}
	}
	if b.PromotionID != "" && b.ProductID == "" {
		found = append(found, errs.Invalid("/promotion_id", "needs product_id, the product that the item presents"))
	}
	if b.Source == item.SourceProvided {
		return errs.All(found...)
	}
	found = append(found, b.choices().Check(b.Kind, cmp.Or(b.Format, item.FormatShort)))
	return errs.All(found...)
}

// Texts are the texts of an item that a caller can write. The table bodyTexts decides which of them a body takes. It is
// exported because huma reads exported fields only, embedded ones too.
type Texts struct {
	Title        *string     `json:"title,omitempty" format:"line-not-blank" maxLength:"200"`
	Headline     *string     `json:"headline,omitempty" format:"line-not-blank" maxLength:"100"`
	ShowHeadline *bool       `json:"show_headline,omitempty"`
	Caption      *string     `json:"caption,omitempty" format:"not-blank" maxLength:"5000"`
	Hashtags     []Hashtag   `json:"hashtags,omitempty" maxItems:"30" uniqueItems:"true" nullable:"false"`
	Script       *string     `json:"script,omitempty" format:"script"`
	Scenes       []sceneBody `json:"scenes,omitempty" minItems:"1" maxItems:"40" nullable:"false"`
	Slides       []slideBody `json:"slides,omitempty" minItems:"2" maxItems:"10" nullable:"false"`
}

// bodyText is a text that bodies take.
type bodyText struct {
	name string
	// kind is the only kind that has it, or empty if several have it.
	kind item.Kind
	// generatedOnly reports whether it is for generated content only.
	generatedOnly bool
	docs
}

// docs are the documentation of a text in the bodies of a new item, of a further attempt, of a change and of a variant.
// A body does not take a text without one.
type docs struct{ create, again, change, variant string }

var bodyTexts = []bodyText{
	{"title", "", false, docs{create: "Absent: generated",
		again:  "Absent: unchanged if it is yours or with reuse, otherwise generated",
		change: "Null: generated by the next attempt", variant: "Title there. Null: the item's"}},
	{"headline", item.Post, true, docs{
		create: "Words that are drawn on the picture of a post. Absent: generated, if show_headline. For kind post " +
			"only",
		again: "Words that are drawn on the picture of a post. Absent: unchanged if they are yours or with reuse, " +
			"otherwise generated if they are shown"}},
	{"show_headline", item.Post, true, docs{
		create: "Whether words are drawn on the picture of a post. Absent: if headline is sent, or the setting " +
			"post_headlines of the factory is true. For kind post only",
		again: "Whether words are drawn on the picture of a post. Absent: unchanged, or true if headline is sent"}},
	{"caption", "", false, docs{create: "Absent: generated", change: "Null: generated by the next attempt",
		variant: "Text there. Null: the item's"}},
	{"hashtags", "", false, docs{create: "Hashtags, without the #. Absent: generated",
		change:  "Hashtags, without the #. Null: generated by the next attempt",
		variant: "Hashtags there, without the #. Null: the item's"}},
	{"script", "", true, docs{
		create: "What is said in a video, word for word; it is divided into scenes at the ends of its sentences. Of " +
			"a music clip, the lyrics, for a model that requires them. Absent: generated",
		again: "What is said in a video, or the lyrics of a music clip, as of a new item. Absent: unchanged if it is " +
			"yours or with reuse, otherwise generated"}},
	{"scenes", "", true, docs{create: "The script in scenes of your own, instead of script. For kind video only",
		again: "The script in scenes, instead of script; with reuse as many as the item has"}},
	{"slides", item.Carousel, true, docs{
		create: "Slides of a carousel. Absent: five, with generated headings. For kind carousel only",
		again: "Texts of the slides of a carousel, as many as it has. Those without text and body stay; a slide that " +
			"has text or body keeps the other one with reuse"}},
}

// described describes the texts of a body in its schema, and leaves out those without documentation.
func described(s *huma.Schema, nullable bool, doc func(docs) string) *huma.Schema {
	for _, t := range bodyTexts {
		if d := doc(t.docs); d != "" {
			s.Properties[t.name].Description, s.Properties[t.name].Nullable = d, nullable
		} else {
			delete(s.Properties, t.name)
		}
	}
	return s
}

// TransformSchema describes the texts in the OpenAPI document.
func (createBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Properties["headline"].Examples = []any{"From the sea to the trail"}
	return described(s, false, func(d docs) string { return d.create })
}

// TransformSchema describes the texts in the OpenAPI document.
func (regenerateBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return described(s, false, func(d docs) string { return d.again })
}

// TransformSchema describes the texts in the OpenAPI document.
func (patchBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return described(s, true, func(d docs) string { return d.change })
}

// TransformSchema describes the texts in the OpenAPI document.
func (variantBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return described(s, true, func(d docs) string { return d.variant })
}

// said returns a text, which is empty if it is absent.
func said(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// sent returns the texts that a body has. An empty text is absent.
func (t *Texts) sent() iter.Seq2[bodyText, any] {
	return func(yield func(bodyText, any) bool) {
		all := reflect.ValueOf(t).Elem()
		for i := range all.NumField() {
			name, _, _ := strings.Cut(all.Type().Field(i).Tag.Get("json"), ",")
			value := all.Field(i).Interface()
			text, plain := value.(*string)
			if all.Field(i).IsZero() || plain && *text == "" {
				continue
			}
			row := slices.IndexFunc(bodyTexts, func(t bodyText) bool { return t.name == name })
			if !yield(bodyTexts[row], value) {
				return
			}
		}
	}
}

// check refuses texts that do not fit the kind.
func (t *Texts) check(kind item.Kind) (found []error) {
	for text := range t.sent() {
		if text.kind == "" || kind == text.kind || text.name == "show_headline" && said(t.Headline) != "" {
			continue
		}
		be := "is"
		if text.name == "slides" {
			be = "are"
		}
		found = append(found, errs.Invalid("/"+text.name, "%s for kind %s only", be, text.kind))
	}
	if kind == item.Post && said(t.Headline) != "" && t.ShowHeadline != nil && !*t.ShowHeadline {
		found = append(found, errs.Invalid("/headline", "is not drawn if show_headline is false. Leave one of the "+
			"two out"))
	}
	return found
}

// into sets the members of an item that are as the body has them.
func (b *createBody) into(r *item.Record) {
	b.Texts.into(r)
	r.Item.Experiment, r.Item.DeepFake, r.Item.Labelled = b.trial, b.DeepFake, b.Labelled
}

// into sets the texts of an item that its caller has written, apart from its script and slides.
func (t *Texts) into(r *item.Record) {
	for text, value := range t.sent() {
		switch v := value.(type) {
		case *string:
			if place := r.Item.Plain(item.Text(text.name)); place != nil {
				*place = resource.Text(*v)
				r.CallerTexts.Set(true, item.Text(text.name))
			}
		case []Hashtag:
			r.Item.Hashtags = plainTags(v)
			r.CallerTexts.Set(len(v) > 0, item.Hashtags)
		}
	}
}

// own returns the texts, which are published.
func (t *Texts) own() (all owns) {
	for text, value := range t.sent() {
		at := "/" + text.name
		switch v := value.(type) {
		case *string:
			all.add(at, *v)
		case []Hashtag:
			for _, tag := range v {
				all.add(at, string(tag))
			}
		case []sceneBody:
			for i, s := range v {
				all.add(fmt.Sprintf("%s/%d", at, i), s.Text, s.OnScreen)
			}
		case []slideBody:
			for i, s := range v {
				all.add(fmt.Sprintf("%s/%d", at, i), s.Text, s.body())
			}
		}
	}
	return all
}

// plainTags returns hashtags as items have them.
func plainTags(tags []Hashtag) []string {
	all := []string{}
	for _, tag := range tags {
		all = append(all, string(tag))
	}
	return all
}

// platformOptions are the options of the post on each platform, by its id.
type platformOptions map[string]*item.PublishOptions

// Schema describes the options in the OpenAPI document, and restricts requests to the options of each platform.
func (platformOptions) Schema(r huma.Registry) *huma.Schema {
	const name = "PlatformOptions"
	if r.Map()[name] == nil {
		s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
		for _, p := range registry.Rows() {
			if p.Capabilities.Shape != nil {
				s.Properties[p.Name] = shapeOf(r, p)
			}
		}
		s.PrecomputeMessages()
		r.Map()[name] = s
	}
	return httpapi.RefTo(name)
}

// shapeOf describes the options of a platform.
func shapeOf(r huma.Registry, p registry.Row) *huma.Schema {
	name := text.Pascal(p.Name) + "Options"
	if r.Map()[name] == nil {
		s := huma.SchemaFromType(r, reflect.TypeOf(p.Capabilities.Shape))
		if privacy := s.Properties["privacy"]; privacy != nil {
			privacy.Enum = httpapi.Enum(p.Capabilities.Privacies).Enum
			privacy.PrecomputeMessages()
		}
		s.PrecomputeMessages()
		r.Map()[name] = s
	}
	ref := httpapi.RefTo(name)
	ref.Description = "Options on " + p.Capabilities.Label
	return ref
}

// Describe describes the options that publications show in the document: members of all platforms.
func Describe(r *httpapi.Router) {
	schemas := r.OpenAPI().Components.Schemas.Map()
	shown := schemas["PublishOptions"]
	*shown = huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, p := range registry.Rows() {
		shape := schemas[text.Pascal(p.Name)+"Options"]
		if shape == nil {
			continue
		}
		r.DescribeMembers(shape, reflect.TypeOf(p.Capabilities.Shape))
		for name, member := range shape.Properties {
			known := shown.Properties[name]
			if known == nil {
				c := *member
				if c.Items != nil { // what requests and responses share would be that of responses
					items := *c.Items
					c.Items = &items
				}
				shown.Properties[name] = &c
				continue
			}
			for _, v := range member.Enum {
				if !slices.Contains(known.Enum, v) {
					known.Enum = append(slices.Clone(known.Enum), v)
				}
			}
		}
	}
}

// Hashtag is a hashtag without its #: one word. All platforms show letters, digits and underscores, with a letter among
// them. validatePublishing says which platform shows less of another one.
type Hashtag string

// Schema describes a hashtag in the OpenAPI document.
func (Hashtag) Schema(huma.Registry) *huma.Schema {
	shortest, longest := 1, 100
	s := &huma.Schema{
		Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest,
		Pattern: `^[^\s#@\x00-\x1F\x7F]+$`, PatternDescription: "one word without #",
		Examples: []any{"trailrunning"},
	}
	s.PrecomputeMessages()
	return s
}

// variantBody is what differs on a platform or an account.
type variantBody struct {
	Texts
	// Ids of your media that are published there, in order. Null: the item's.
	Media []string `json:"media,omitempty" minItems:"1" maxItems:"10" uniqueItems:"true" nullable:"true"`
	// Id of your image that a video there shows before it plays. Null: the item's poster.
	Cover *string `json:"cover,omitempty"`
}

// variants are the variants of a body, by the ids of platforms and social accounts.
type variants map[string]variantBody

// variantsPatch are variants in a merge patch: null removes one.
type variantsPatch map[string]*variantBody

// Schema describes the variants of a patch in the OpenAPI document.
func (variantsPatch) Schema(r huma.Registry) *huma.Schema {
	one := *r.Schema(reflect.TypeFor[variantBody](), false, "")
	one.Nullable = true
	s := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &one, Nullable: true}
	one.PrecomputeMessages()
	s.PrecomputeMessages()
	return s
}

func (v variants) items() map[string]item.Variant {
	all := map[string]item.Variant{}
	for key, b := range v {
		one := item.Variant{Title: b.Title, Caption: b.Caption, Media: b.Media, Cover: b.Cover}
		if b.Hashtags != nil {
			one.Hashtags = plainTags(b.Hashtags)
		}
		all[key] = one
	}
	return all
}

// variantMembers returns the members of variants that name media.
func variantMembers(all map[string]item.Variant) (members []incoming.Member) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		for i, mediaID := range all[key].Media {
			members = append(members, incoming.Member{Param: "/variants/" + key + "/media/" + strconv.Itoa(i),
				Value: mediaID, Type: media.Image, Others: []media.Type{media.Video}})
		}
		if cover := all[key].Cover; cover != nil {
			members = append(members, incoming.Member{Param: "/variants/" + key + "/cover", Value: *cover,
				Type: media.Image})
		}
	}
	return members
}

// checkVariants refuses too many variants, and those that are for neither a platform nor a social account.
func checkVariants(all map[string]item.Variant) error {
	found := []error{errs.InvalidIf(len(all) > item.MaxVariants, "/variants", "may have %d entries at most; there are "+
		"%d", item.MaxVariants, len(all))}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		_, known := registry.Find(key)
		found = append(found, errs.InvalidIf(!known && !id.Valid(id.SocialAccount, key), "/variants/"+key, "is not a "+
			"platform or the id of a social account. Platforms are %s", strings.Join(registry.Names(), ", ")))
	}
	return errs.All(found...)
}

// checkSong refuses a music clip of a factory that makes no songs.
func checkSong(kind item.Kind, of factory.Type) error {
	return errs.InvalidIf(kind == item.MusicClip && !prompt.Makes(string(of), prompt.Song), "/kind", "must not be "+
		"music_clip for a factory of type %s. Make a post or a video of the subject, or make the music with a factory "+
		"of type musician", of)
}

// vary checks variants, and makes them those of an item. The accounts that they name are among the attached ones, and
// the references have their items.
func (s *Service) vary(o tenant.Owner, r *item.Record, all map[string]item.Variant, attached []string,
	a references) error {
	found := []error{checkVariants(all)}
	if all == nil { // a patch has removed them
		all = map[string]item.Variant{}
	}
	files, platforms := map[string]media.File{}, map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if !id.Valid(id.SocialAccount, key) {
			continue
		}
		it := a.accounts[key]
		if !slices.Contains(attached, key) || !social.Is(it, o) {
			found = append(found, errs.Invalid("/variants/"+key, "is not attached to the factory of the item. Attach "+
				"the account, or name it in social_account_ids"))
			continue
		}
		platforms[key] = it.Filters["platform"]
	}
	for _, m := range variantMembers(all) {
		f, err := a.media.File(m)
		if f.Role = media.Final; err == nil {
			files[m.Value] = f
		}
		found = append(found, err)
	}
	if err := errs.All(found...); err != nil {
		return err
	}
	for key, v := range all {
		if before, ok := r.Item.Variants[key]; ok {
			same := before
			same.Adapted = v.Adapted
			if v.Adapted = v.Adapted && reflect.DeepEqual(same, v); !v.Adapted {
				v.PromptVersion = ""
			}
			all[key] = v
		}
	}
	r.Item.Variants, r.VariantFiles, r.VariantPlatforms = all, files, platforms
	return s.fitVariants(o.Mode, r)
}

// adapted returns the platforms for which the texts of a body are adapted, without those whose caption the
// caller gives.
func (a *references) adapted(b *createBody, f factory.Factory) (platforms []string, err error) {
	if !b.Adapt {
		return nil, nil
	}
	ids := b.Accounts
	if len(ids) == 0 {
		ids = f.SocialAccountIDs
	}
	for _, accountID := range ids {
		it, ok := a.accounts[accountID]
		if !ok {
			continue
		}
		p, _ := registry.Find(it.Filters["platform"])
		_, takes := p.Capabilities.Kinds[platform.Kind(b.Kind)]
		if takes && !slices.Contains(platforms, p.Name) && b.Variants[p.Name].Caption == nil {
			platforms = append(platforms, p.Name)
		}
	}
	if len(platforms) == 0 {
		return nil, errs.Invalid("/adapt", "finds no platform to adapt the texts for. Attach social accounts to the "+
			"factory that take the kind, or leave it out")
	}
	slices.Sort(platforms)
	return platforms, nil
}

// fitVariants refuses members of variants that their platforms do not take.
func (s *Service) fitVariants(mode tenant.Mode, r *item.Record) error {
	var found []errs.Detail
	seen := publication.Foreseen(r)
	for _, key := range r.Item.VariantKeys() {
		pub := item.Publication{Platform: key}
		if of := r.VariantPlatforms[key]; of != "" {
			pub = item.Publication{Platform: of, SocialAccountID: key}
		}
		limits, ok := s.Capabilities(mode, pub.Platform)
		if !ok {
			continue
		}
		all, _ := publication.Fit(seen, &pub, limits)
		for _, d := range all {
			if strings.HasPrefix(d.Param, "/variants/"+key+"/") {
				found = append(found, d)
			}
		}
	}
	if len(found) == 0 {
		return nil
	}
	return errs.InvalidFields(found...)
}

// Capabilities returns the limits of a platform.
func (s *Service) Capabilities(mode tenant.Mode, name string) (platform.Capabilities, bool) {
	adapter, ok := s.platforms.Of(mode, name)
	if !ok {
		return platform.Capabilities{}, false
	}
	return adapter.Capabilities(), true
}

// limits returns the limits of the platforms of a mode, which are empty for those that the service does not have.
func (s *Service) limits(mode tenant.Mode) func(string) platform.Capabilities {
	return func(name string) platform.Capabilities {
		limits, _ := s.Capabilities(mode, name)
		return limits
	}
}

// patchVariants checks the variants of a patch, and holds their media instead of the earlier ones.
func (s *Service) patchVariants(ctx context.Context, tx *store.Tx, o tenant.Owner, r *item.Record,
	all map[string]item.Variant) error {
	before := r.MediaIDs()
	var keys []store.Key
	for key := range all {
		if id.Valid(id.SocialAccount, key) {
			keys = append(keys, store.IDKey(key))
		}
	}
	members := variantMembers(all)
	for _, mediaID := range before {
		members = append(members, incoming.Member{Value: mediaID})
	}
	factories, beside, err := s.factories.FindAll(ctx, []string{r.Item.FactoryID}, slices.Concat(keys,
		incoming.Keys(members))...)
	if err != nil {
		return err
	}
	a := references{accounts: map[string]store.Item{}, media: incoming.Of(o, beside[len(keys):])}
	for i, key := range keys {
		a.accounts[key.PK] = beside[i]
	}
	attached := slices.Concat(factories[r.Item.FactoryID].SocialAccountIDs, r.Item.SocialAccountIDs)
	if err := s.vary(o, r, all, attached, a); err != nil {
		return err
	}
	held := map[string]int{}
	for _, mediaID := range before {
		held[mediaID]--
	}
	for _, mediaID := range r.MediaIDs() {
		held[mediaID]++
	}
	return a.media.Hold(tx, s.now(), held)
}

// release adds to the transaction that an item that is deleted shows no media of the caller.
func (s *Service) release(ctx context.Context, tx *store.Tx, r *item.Record) error {
	held, members := map[string]int{}, []incoming.Member{}
	for _, mediaID := range r.MediaIDs() {
		held[mediaID], members = -1, append(members, incoming.Member{Value: mediaID})
	}
	given, err := incoming.Read(ctx, s.db, members)
	if err != nil {
		return err
	}
	return given.Hold(tx, s.now(), held)
}

// preview sets what is published where.
func (s *Service) preview(ctx context.Context, r *item.Record, v *item.Item) {
	mode := auth.FromContext(ctx).Mode
	v.Previews = publication.Previews(r, func(name string) (platform.Capabilities, bool) {
		return s.Capabilities(mode, name)
	})
}
