package content

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
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
	// drawn are the arms of its experiment.
	drawn *item.Trial
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
