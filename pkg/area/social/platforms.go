package social

import (
	"context"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
)

// platformID is the id of a platform.
type platformID string

// Schema describes the id in the OpenAPI document, and restricts requests to known ids.
func (platformID) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(registry.Names()) }

type platformsInput struct {
	httpapi.SliceInput
}

// Platform is a platform as callers see it.
type Platform struct {
	// Id of the platform.
	ID string `json:"id"`
	// Name of the platform.
	Name string `json:"name" example:"YouTube"`
	// How an account is connected: see connectSocialAccount.
	Connect string `json:"connect" enum:"oauth2,bot_token,password"`
	// Whether accounts can be connected: the operator of the service, or you, have an application with the platform,
	// where it needs one: see createApplication.
	Configured bool `json:"configured"`
	// Whether the platform documents its interface badly, so that it may stop working without notice.
	Beta bool `json:"beta"`
	// What each kind of content may have.
	Accepts []Accept `json:"accepts" nullable:"false"`
	// Maximum number of hashtags. 0: none.
	MaxTags int `json:"max_hashtags"`
	// Options that publishing to the platform takes.
	Options []string `json:"options" nullable:"false"`
	// Values of the option privacy. The first is the default.
	Privacies []string `json:"privacies" nullable:"false"`
	// Metrics that the platform has.
	Metrics []string `json:"metrics" nullable:"false"`
	// Members of listAccountMetrics that the platform has.
	AccountHas []string `json:"account_metrics" nullable:"false"`
	// Whether the platform tells the figures of an account of earlier days. Otherwise, they are read once a day from
	// the connection on.
	History bool `json:"account_history"`
	// Whether the platform lists the posts that an account has had before it was connected, for importPosts.
	Past bool `json:"past_posts"`
	// Whether media may show no logo and no name of a brand. Finished media of a factory with an account of the
	// platform are made without, unless its logo_places say otherwise, and others are refused.
	Plain bool `json:"plain_media"`
	// Whether the text of published posts can be changed.
	Edits bool `json:"edits_posts"`
	// Whether published posts can be deleted.
	Deletes bool `json:"deletes_posts"`
	// How the platform learns that AI has made a post.
	AIDeclaration AIDeclaration `json:"ai_declaration"`
	// What can be done with the comments on posts.
	Comments Comments `json:"comments"`
	// Maximum number of posts of an account in 24 hours. Null: no known limit.
	DailyLimit *int `json:"daily_limit"`
	// Unit of daily_limit.
	DailyLimitUnit string `json:"daily_limit_unit" enum:"posts"`
	// What else to know.
	Notes []string `json:"notes" nullable:"false"`
}

// AIDeclaration tells how a platform learns that AI has made a post. A post uses each way that the platform has.
type AIDeclaration struct {
	// Whether a member of the post declares it: see the option is_aigc.
	Flag bool `json:"flag"`
	// Marks in files that the platform reads: iptc is the digital source type of IPTC, c2pa are Content Credentials.
	FileMarks []string `json:"file_marks" enum:"iptc,c2pa" nullable:"false"`
	// Whether only the caption can say it, because the platform has neither.
	CaptionOnly bool `json:"caption_only"`
}

// Comments tells what can be done with the comments on posts of a platform.
type Comments struct {
	Abilities
	// Limit of a reply.
	MaxReply TextLimit `json:"max_reply"`
}

// Accept bounds the posts of one kind.
type Accept struct {
	// Kind of content.
	Kind string `json:"kind" enum:"post,video,carousel,story,music_clip"`
	// Title.
	Title TextLimit `json:"title"`
	// Caption. A longer one is refused, but where the platform takes the rest as a message of its own.
	Caption TextLimit `json:"caption"`
	// Maximum length of a caption whose end is published as a message of its own. 0: none is.
	LongestIn2 int `json:"max_with_rest"`
	// Maximum number of posts of a thread, with the option thread. 1: the platform has no threads.
	MaxPosts int `json:"max_posts"`
	// Minimum number of media.
	MinMedia int `json:"min_media"`
	// Maximum number of media.
	MaxMedia int `json:"max_media"`
	// Limits of each image. Null: none is taken.
	Image *FileLimit `json:"image"`
	// Limits of each video. Null: none is taken.
	Video *FileLimit `json:"video"`
	// Options of the platform that posts of the kind do not take.
	Without []string `json:"without_options" nullable:"false"`
}

// TextLimit bounds a text.
type TextLimit struct {
	// Maximum length. 0: there is no such text.
	Max int `json:"max"`
	// Unit of the length. graphemes: what readers see as characters. weighted_characters: 23 for a link, 2 for an emoji
	// and for a character of the scripts of East Asia, 1 for others.
	Unit string `json:"unit" format:"text-unit"`
	// Further maximum of the length in bytes of UTF-8. Null: none.
	MaxBytes *int `json:"max_bytes"`
	// Whether it is required.
	Required bool `json:"required"`
	// Maximum number of different links in a text. Null: none.
	MaxLinks *int `json:"max_links"`
	// Maximum number of mentions of accounts in a text. Null: none.
	MaxMentions *int `json:"max_mentions"`
	// Maximum number of cashtags, such as $ACME, in a text. Null: none.
	MaxCashtags *int `json:"max_cashtags"`
}

// FileLimit bounds a file.
type FileLimit struct {
	// Media types.
	MIMETypes []string `json:"mime_types" nullable:"false"`
	// Maximum size in bytes.
	MaxBytes int64 `json:"max_bytes"`
	// Minimum of width divided by height. Null: none.
	MinRatio *float64 `json:"min_aspect_ratio"`
	// Maximum of width divided by height. Null: none.
	MaxRatio *float64 `json:"max_aspect_ratio"`
	// Maximum of width and height together, in pixels. Null: none.
	MaxSides *int `json:"max_sides_pixels"`
	// Maximum width in pixels. Null: none.
	MaxWidth *int `json:"max_width_pixels"`
	// Minimum of the shorter of width and height, in pixels. Null: none.
	MinShort *int `json:"min_shorter_side_pixels"`
	// Maximum of the shorter of width and height, in pixels. Null: none.
	MaxShort *int `json:"max_shorter_side_pixels"`
	// Maximum of the longer of width and height, in pixels. Null: none.
	MaxLong *int `json:"max_longer_side_pixels"`
	// Maximum of width multiplied by height. Null: none.
	MaxPixels *int `json:"max_pixels"`
	// Minimum duration. Null: none.
	MinSeconds *float64 `json:"min_seconds"`
	// Maximum duration. Null: none.
	MaxSeconds *float64 `json:"max_seconds"`
}

func (s *Service) listPlatforms(ctx context.Context, in *platformsInput) (httpapi.Page[Platform], error) {
	var all []Platform
	var own []string
	looked, p := false, auth.FromContext(ctx)
	for _, name := range s.platforms.Names() {
		mode := p.Mode
		configured, err := s.platforms.Configured(ctx, mode, name)
		if err != nil {
			return httpapi.Page[Platform]{},
				errs.Wrap(err, errs.ProviderUnavailable, "The settings of the platforms cannot be read at the "+
					"moment. Try again in a few seconds.")
		}
		if !configured && !looked {
			if own, err = s.ownPlatforms(ctx, p.Owner); err != nil {
				return httpapi.Page[Platform]{}, err
			}
			looked = true
		}
		configured = configured || slices.Contains(own, name)
		adapter, _ := s.platforms.Of(mode, name)
		all = append(all, show(name, configured, adapter.Capabilities()))
	}
	return httpapi.Slice(ctx, all, nil, in.SliceInput, func(p Platform) string { return p.ID })
}

func show(name string, configured bool, c platform.Capabilities) Platform {
	p := Platform{
		ID: name, Name: c.Label, Connect: string(c.Connect), Configured: configured, Beta: c.Beta, Accepts: []Accept{},
		Comments:      Comments{AbilitiesOf(c), textLimit(c.Comments.Text)},
		AIDeclaration: AIDeclaration{c.Origin.Flag, texts(c.Origin.Reads), c.Origin.Silent()},
		Plain:         c.Plain, Edits: c.Edits, Deletes: c.Deletes,
		MaxTags: c.Hashtags.Max, Options: texts(c.Options),
		Privacies: texts(c.Privacies), Metrics: texts(c.Metrics), AccountHas: texts(c.Account.Names),
		DailyLimitUnit: "posts", History: c.Account.History, Past: c.Past.Page > 0, Notes: texts(c.Notes),
	}
	if c.DailyPosts > 0 {
		p.DailyLimit = &c.DailyPosts
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Kinds)) {
		rule := c.Kinds[kind]
		a := Accept{
			Kind: string(kind), Title: textLimit(rule.Title), Caption: textLimit(rule.Caption),
			MaxPosts: max(rule.Thread, 1), MinMedia: rule.MinMedia, MaxMedia: rule.MaxMedia,
			Image: fileLimit(rule.Image),
			Video: fileLimit(rule.Video), Without: texts(rule.Without),
		}
		if rule.Rest.Max > 0 {
			a.LongestIn2 = rule.Caption.Max + rule.Rest.Max
		}
		p.Accepts = append(p.Accepts, a)
	}
	return p
}

// texts returns a list of texts that is never nil.
func texts[T ~string](list []T) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = string(v)
	}
	return all
}

func textLimit(t platform.Text) TextLimit {
	if t.Unit == "" {
		t.Unit = platform.Runes
	}
	return TextLimit{Max: t.Max, Unit: string(t.Unit), Required: t.Required, MaxBytes: bound(t.MaxBytes),
		MaxLinks: bound(t.MaxLinks), MaxMentions: bound(t.MaxMentions), MaxCashtags: bound(t.MaxCashtags)}
}

func fileLimit(f *platform.File) *FileLimit {
	if f == nil {
		return nil
	}
	return &FileLimit{
		MIMETypes: f.MIMEs, MaxBytes: f.MaxBytes, MinRatio: bound(f.MinRatio), MaxRatio: bound(f.MaxRatio),
		MaxSides: bound(f.MaxSides), MaxWidth: bound(f.MaxWidth), MinShort: bound(f.MinShort),
		MaxShort: bound(f.MaxShort), MaxLong: bound(f.MaxLong), MaxPixels: bound(f.MaxPixels),
		MinSeconds: bound(f.MinTime.Seconds()), MaxSeconds: bound(f.MaxTime.Seconds()),
	}
}

// bound returns a bound, or nil for 0, which bounds nothing.
func bound[T int | float64](v T) *T {
	if v == 0 {
		return nil
	}
	return &v
}
