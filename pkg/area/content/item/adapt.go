package item

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// roleAdapt is the part that words the texts of the item anew for platforms.
const roleAdapt role = "adapt"

const (
	// The tokens of an answer: of each platform, and of the rest.
	tokensPerVariant, tokensOfVariants = 800, 100
	// The longest texts that are adapted, in characters.
	longestTitle, longestCaption = 200, 2200
)

// adapted is a post for a platform, as the model writes it.
type adapted struct {
	Platform string   `json:"platform"`
	Title    string   `json:"title"`
	Text     string   `json:"caption"`
	Hashtags []string `json:"hashtags"`
}

type adaptedPosts struct {
	Posts []adapted `json:"posts"`
}

// adaptRequest returns the request to word texts for the platforms of the item.
func (r prompter) adaptRequest(t provider.Text) (req provider.Request, err error) {
	told := prompt.Adapting{Language: r.Language, Channel: r.Brief.Voice, Title: t.Title,
		Caption: provider.Clip(t.Caption, longestCaption), Hashtags: t.Hashtags}
	var sample adaptedPosts
	for _, name := range r.Adapt {
		p, _ := registry.Find(name)
		target, takes := prompt.TargetOf(p.Capabilities, platform.Kind(r.Kind))
		if !takes {
			continue
		}
		told.Names, told.Targets = append(told.Names, name), append(told.Targets, target)
		sample.Posts = append(sample.Posts, adapted{name, t.Title, p.Capabilities.Label + ": " + t.Caption, t.Hashtags})
	}
	asked := told.Prompt()
	answer, err := json.Marshal(sample)
	return provider.Request{Kind: provider.KindText, Prompt: asked.User, PromptVersion: asked.Version,
		Language: r.Language, Form: &provider.Form{System: asked.System,
			Tokens: tokensOfVariants + len(r.Adapt)*tokensPerVariant, Sample: answer}}, err
}

// adaptForeseen returns the greatest request to word the texts. Its price does not depend on texts that are not written
// yet.
func (r prompter) adaptForeseen() provider.Request {
	most := provider.Text{Title: strings.Repeat("x", longestTitle), Caption: strings.Repeat("x", longestCaption)}
	req, err := r.adaptRequest(most)
	if err != nil {
		return provider.Request{Kind: provider.KindText} // it has texts alone, which can be encoded
	}
	return req
}

// PlanAdapt adds the part that adapts the texts, if any are to be.
func (r Attempt) PlanAdapt(offer catalog.Offer, live bool) error {
	if len(r.Adapt) == 0 {
		return nil
	}
	return r.choose(offer, step{role: roleAdapt, kind: provider.KindText}, live)
}

// vary makes the texts that the model has adapted variants of the item. Texts of the caller stay. A text that the
// guards refuse is left out: the platform gets that of the item, which they have checked.
func (r maker) vary(made []generate.Made, now time.Time) {
	i := slices.IndexFunc(r.Parts, func(p part) bool { return p.Role == roleAdapt })
	if i < 0 || i >= len(made) {
		return
	}
	var posts adaptedPosts
	if json.Unmarshal(made[i].Object, &posts) != nil {
		return // the item is as good without
	}
	for _, post := range posts.Posts {
		p, known := registry.Find(post.Platform)
		before := r.Variants[post.Platform]
		caption := strings.TrimSpace(post.Text)
		if !known || !slices.Contains(r.Adapt, post.Platform) || before.Caption != nil || caption == "" {
			continue
		}
		if r.refuses(post, now) {
			metric.Count("RefusedVariants", "platform", post.Platform)
			continue
		}
		v := Variant{Media: before.Media, Title: before.Title, Hashtags: before.Hashtags, Adapted: true,
			PromptVersion: prompt.Version(prompt.Adapt)}
		if v.Hashtags == nil {
			v.Hashtags = tagsOf(post.Hashtags, p.Capabilities.Hashtags.Max)
		}
		rule := p.Capabilities.Kinds[platform.Kind(r.Kind)]
		room := rule.Caption.Max + rule.Rest.Max - utf8.RuneCountInString(strings.Join(v.Hashtags, " #")) - 4
		// A character takes up to two units of UTF-16.
		for n := min(room, longestCaption); ; n /= 2 {
			caption = provider.Clip(caption, n)
			if rule.Caption.Unit.Length(caption) <= room {
				break
			}
		}
		v.Caption = &caption
		if title := provider.Clip(strings.Join(strings.Fields(post.Title), " "), rule.Title.Max); v.Title == nil &&
			title != "" {
			v.Title = &title
		}
		r.Variants[post.Platform] = v
	}
}

// refuses reports whether the guards refuse a post, which may state what the item and its inputs do.
func (r prompter) refuses(post adapted, now time.Time) bool {
	rules := r.rules(now)
	rules.Facts, rules.Sourced = append(rules.Facts, r.Title, r.Caption, strings.Join(r.Hashtags, " ")), false
	if len(guard.Check([]guard.Field{{Text: r.Caption}}, guard.Rules{Language: r.Language, Now: now,
		Facts: []string{r.Caption}})) > 0 {
		rules.Language = "" // the caller has written the post in another one
	}
	fields := []guard.Field{{Path: "/title", Text: post.Title}, {Path: "/caption", Text: post.Text}}
	for _, tag := range post.Hashtags {
		fields = append(fields, guard.Field{Path: "/hashtags", Text: tag, Tag: true})
	}
	return len(guard.Check(fields, rules)) > 0
}

// tagsOf returns the hashtags of an answer that are single words, at most as many as a platform takes.
func tagsOf(raw []string, most int) []string {
	tags := []string{}
	for _, tag := range raw {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "#")
		if tag != "" && !strings.ContainsAny(tag, "# \t\n,<>@") && len(tag) <= 100 && !slices.Contains(tags, tag) &&
			len(tags) < min(most, 30) {
			tags = append(tags, tag)
		}
	}
	return tags
}
