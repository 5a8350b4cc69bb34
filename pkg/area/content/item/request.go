package item

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/theme"
)

const (
	// The tokens of an answer: of each platform, and of the rest.
	tokensPerVariant, tokensOfVariants = 800, 100
	// The longest texts that are adapted, in characters.
	longestTitle, longestCaption = 200, 2200
)

// adaptation is a post for a platform, as the model writes it.
type adaptation struct {
	Platform string   `json:"platform"`
	Title    string   `json:"title"`
	Text     string   `json:"caption"`
	Hashtags []string `json:"hashtags"`
}

type adaptations struct {
	Posts []adaptation `json:"posts"`
}

// adaptRequest returns the request to word texts for the platforms of the item.
func (r *writer) adaptRequest(t provider.Text) (req provider.Request, err error) {
	told := prompt.Adapting{Language: r.item.Language, Channel: r.brief.Voice, Title: t.Title,
		Caption: provider.Clip(t.Caption, longestCaption), Hashtags: t.Hashtags,
		Facts: r.ofWriter(&provider.Request{}).Facts()}
	var sample adaptations
	for _, name := range r.attempt.Adapt {
		p, _ := registry.Find(name)
		target, takes := prompt.TargetOf(p.Capabilities, platform.Kind(r.item.Kind))
		if !takes {
			continue
		}
		told.Names, told.Targets = append(told.Names, name), append(told.Targets, target)
		sample.Posts = append(sample.Posts, adaptation{name, t.Title, p.Capabilities.Label + ": " + t.Caption,
			t.Hashtags})
	}
	asked := told.Prompt()
	answer, err := json.Marshal(sample)
	return provider.Request{Kind: provider.KindText, Prompt: asked.User, PromptVersion: asked.Version,
		Language: r.item.Language, Form: &provider.Form{System: asked.System,
			Tokens: tokensOfVariants + len(r.attempt.Adapt)*tokensPerVariant, Sample: answer}}, err
}

// adaptForeseen returns the greatest request to word the texts. Its price does not depend on texts that are not written
// yet.
func (r *writer) adaptForeseen() provider.Request {
	most := provider.Text{Title: strings.Repeat("x", longestTitle), Caption: strings.Repeat("x", longestCaption)}
	req, err := r.adaptRequest(most)
	if err != nil {
		return provider.Request{Kind: provider.KindText} // it has texts alone, which can be encoded
	}
	return req
}

// foreseen returns the request of a part as far as its price and the limits of its model depend on
// it. Unknown parts have their greatest size.
func (r *writer) foreseen(p part) provider.Request {
	if p.Role == roleAdapt {
		return r.adaptForeseen()
	}
	if p.Role == roleExcerpt {
		return r.excerptRequest()
	}
	described := provider.Clip(r.item.Prompt, longestPrompt(p.Model))
	req := provider.Request{Kind: p.Kind, Prompt: r.item.Prompt, Language: r.item.Language, AspectRatio: p.Ratio}
	switch p.Kind {
	case provider.KindText:
		r.ask(p, &req)
	case provider.KindImage:
		req.Prompt, req.Count = described, 1
		if p.FromPhoto {
			req.ImageURL = "https://photo" // signed when it is made
		}
	case provider.KindVideo:
		req.Prompt, req.Seconds = described, p.Seconds
		if p.FromStill {
			req.ImageURL = "https://still" // signed when it is made
		}
	case provider.KindMusic:
		if req.Prompt, req.Seconds = described, p.Seconds; p.Role == roleItem && r.callerTexts.Has(Script) {
			req.Lyrics = string(r.item.Script)
		}
	case provider.KindVoice:
		req.Prompt, req.Voice, req.Seconds, req.Marks = strings.Repeat("x", provider.MaxScript(p.Seconds)), p.Voice,
			p.Seconds, true
		if r.callerTexts.Has(Script) && r.attempt.Excerpt == nil {
			req.Prompt = string(r.item.Script)
		}
	}
	return req
}

// foreseenCall returns the request of a call of a part as foreseen does. Texts that are not written yet are as long as
// they can be.
func (r *writer) foreseenCall(p part, name string) provider.Request {
	req := r.foreseen(p)
	switch name {
	case askSecond:
		r.askAnother(&req, strings.Repeat("x", longestHook))
	case askChoose, askChooseBack, askCompare, askCompareBack:
		text := longestAnswer(req)
		r.compare(&req, text, text)
	case askReview:
		r.judge(&req, longestAnswer(req))
	case askRewrite:
		req.Repair = &provider.Repair{Answer: longestAnswer(req).Caption}
	}
	return req
}

// Signer signs the address of a file for providers that fetch it.
type Signer func(media.File) (string, error)

// SignedBy returns the Signer of a function. It needs no context: a function has its
// credentials in its environment, so signing makes no request.
func SignedBy(s *media.Signer) Signer {
	return func(f media.File) (string, error) { return s.URL(context.Background(), f.Key, f.MIMEType) }
}

// plain requests pictures without text, which models seldom spell right.
const plain = "No text, letters, logos or watermarks."

// hasPhotos reports whether there is a photo of the item's product.
func (r *writer) hasPhotos() bool { return r.brief.Product != nil && len(r.brief.Product.Photos) > 0 }

// look returns the description of the look of the pictures for a model of pictures.
func (r *writer) look() string {
	if r.brief.Product == nil {
		return r.brief.Look
	}
	return sentences(" ", r.brief.Product.look(), r.brief.Look)
}

// shows returns the prompt of a picture, clip or track of the item's own.
func (r *writer) shows(p part, text provider.Text, sings bool) string {
	headline := sentence("Its headline, to set the scene only", text.Title)
	switch {
	case p.Kind == provider.KindMusic:
		style := "Instrumental music, no vocals."
		if sings {
			style = "A song."
		}
		return promptOf(p, style, cmp.Or(text.Sound, r.item.Prompt), r.brief.Sound)
	case p.Role == roleCover && text.Style == "":
		return promptOf(p, "Cover of a piece of music.", r.item.Prompt, headline, r.brief.Sound, r.look(), plain)
	}
	wanted, shown, described := r.pictureSubject(p, text)
	manner := []string{r.framing(p), r.room(p), r.look(), plain}
	if text.Style != "" {
		manner = append([]string{sentence("Style of all", text.Style), sentence("Characters", text.Characters)},
			manner...)
	}
	switch {
	case described:
		return promptOf(p, wanted, shown, manner...)
	case shown != "":
		return promptOf(p, wanted, r.item.Prompt, append([]string{sentence("This one shows", shown)}, manner...)...)
	default:
		return promptOf(p, wanted, r.item.Prompt, append([]string{headline}, manner...)...)
	}
}

// framings are those of the scenes of a video in turn, so that four scenes are four pictures.
var framings = []string{"wide, with the whole place", "close, on hands or on what is done",
	"a detail that fills the picture", "at eye level, a few steps away"}

// framing names the framing of a scene.
func (r *writer) framing(p part) string {
	if r.item.Kind != Video || p.Number < 1 {
		return ""
	}
	return sentence("Framing, unless the subject names another one", framings[(p.Number-1)%len(framings)])
}

// room asks for calm room where texts are drawn over a picture, by its layout in the design of the brand.
func (r *writer) room(p part) string {
	const calm = "Leave the %s of the picture calm, without faces and objects: text is drawn there."
	design, _ := theme.Own("")
	if b := r.brief.Brand; b != nil && b.Design != nil {
		design = b.Design
	} else if own, ok := theme.Own(themeOf(b)); ok {
		design = own
	}
	layout := design.Post
	switch slides := len(r.item.Slides); {
	case p.Role == roleCover:
		return ""
	case r.item.Kind == Video:
		return fmt.Sprintf(calm, "upper quarter and the lower third")
	case r.item.Kind == Story:
		layout = design.Story
	case r.item.Kind == Carousel && p.Number == slides:
		layout = design.Last
	case r.item.Kind == Carousel && p.Number > 1:
		layout = design.Slides[(p.Number-2)%len(design.Slides)]
	case r.item.Kind == Post && !r.brief.Headlined:
		return ""
	}
	if part := layout.Over(); part != "" {
		return fmt.Sprintf(calm, part+" half")
	}
	return ""
}

// themeOf returns the name of the theme of a brand.
func themeOf(b *generate.Brand) string {
	if b == nil {
		return ""
	}
	return b.Theme
}

// pictureSubject describes a picture or clip, and the subject of its slide or scene. It reports whether the subject is
// the writer's description of the picture.
func (r *writer) pictureSubject(p part, text provider.Text) (what, shows string, described bool) {
	what = "Picture for social media."
	switch {
	case r.item.Kind == Carousel && p.Number > 0:
		shows = r.item.Slides[p.Number-1].Text
		if p.Number <= len(text.Slides) {
			slide := text.Slides[p.Number-1]
			if !r.callerTexts.slide(p.Number - 1) {
				shows = slide.Heading
			}
			shows, described = cmp.Or(slide.Visual, shows), slide.Visual != ""
		}
		return fmt.Sprintf("Picture %d of %d of a row for social media, all in one style.", p.Number,
			len(r.item.Slides)), shows, described
	case r.item.Kind == Video:
		what = fmt.Sprintf("Scene %d of %d of a video for social media, all in one style.", p.Number, len(text.Scenes))
		if p.Number > 0 && p.Number <= len(text.Scenes) {
			scene := text.Scenes[p.Number-1]
			shows, described = cmp.Or(scene.Visual, scene.Text), scene.Visual != "" && text.Style != ""
		}
	case p.Role == roleCover:
		what = "Cover of a piece of music."
	case p.Kind == provider.KindVideo:
		what = "Video for social media."
	}
	if r.item.Kind != Video && len(text.Pictures) > 0 {
		shows, described = text.Pictures[0].Visual, true
	}
	if p.Role == roleStill {
		what = "First frame of: " + what
	}
	return what, shows, described
}

// startFrom has a clip start from the picture that was made for it.
func (r *writer) startFrom(req *provider.Request, p part, made []generate.PartResult, sign Signer) (err error) {
	n, still := r.attempt.madeBy(made, roleStill, p.Number)
	if still == nil {
		return fmt.Errorf("item: %s has no picture for its clip", r.item.ID)
	}
	req.ImageURL, err = sign(*still)
	req.ImageRatio = r.attempt.Parts[n].Ratio
	return err
}

// promptOf returns the prompt for a picture, clip or track: its form, its subject and its manner. A prompt that is too
// long loses the end of its subject, which keeps at least half of the room.
func promptOf(p part, wanted, subject string, manner ...string) string {
	rest := sentences(" ", manner...)
	const subjectOf = "Subject"
	limit := longestPrompt(p.Model)
	room := max(limit-utf8.RuneCountInString(wanted+rest+subjectOf+": . ")-1, limit/2)
	all := sentences(" ", wanted, sentence(subjectOf, provider.Clip(strings.Join(strings.Fields(subject), " "), room)),
		rest)
	return provider.Clip(all, limit)
}

// longestPrompt returns the greatest number of characters in a prompt for a model.
func longestPrompt(model string) int {
	m, _ := catalog.Find(model) // an unknown model has no bounds
	if bounds := m.Capabilities.PromptCharacters; len(bounds) == 2 {
		return min(bounds[1], maxPrompt)
	}
	return maxPrompt
}

// WrittenTexts returns the request to the text model for the item, and the texts that the item
// has now, with the changes of the caller. It returns false if the item has no texts.
func (r *Record) WrittenTexts() (asked provider.Request, text provider.Text, ok bool) {
	i := r.Attempt.textPart()
	if i < 0 || !slices.Contains(writtenStates, r.Item.State) || r.Item.Title == "" || r.Item.Caption == "" {
		return asked, text, false
	}
	for _, s := range r.Item.Slides {
		if s.Text == "" {
			return asked, text, false
		}
	}
	w := writerOf(r)
	if text = *w.texts(); r.CallerTexts.Has(Script) {
		text.Scenes = nil // they were not requested
	}
	w.memory = &memory{} // it held what an earlier prompt said about the channel
	return w.foreseen(r.Attempt.Parts[i]), text, true
}

// aim is what a text is written for.
type aim struct {
	// main are the platforms of the caption, and short those that have a version of their own, written with it.
	main  []prompt.Target
	short []prompt.PlatformName
}

// limits returns the limits of the caption.
func (a aim) limits(language string) prompt.Limits { return prompt.Strictest(a.main, language) }

// aimAt divides the platforms that the item may be published on. Those with texts of their own, adapted or by the
// caller, do not bound the caption, as long as there are others.
func (r *writer) aimAt(names []string) aim {
	var all, shared []prompt.PlatformName
	for _, row := range registry.Rows() {
		t, takes := prompt.TargetOf(row.Capabilities, platform.Kind(r.item.Kind))
		if !takes || !slices.Contains(names, row.Name) {
			continue
		}
		named := prompt.Naming(row.Name, t, r.item.Language)
		if all = append(all, named); !r.hasOwn(row.Name) {
			shared = append(shared, named)
		}
	}
	var a aim
	if len(shared) == 0 {
		a.main, _ = prompt.Divide(all, r.item.Language)
	} else {
		a.main, a.short = prompt.Divide(shared, r.item.Language)
	}
	if r.callerTexts.Has(Caption) {
		a.short = nil
	}
	for i := range a.short {
		l := &a.short[i].Limits
		l.Caption = max(l.Caption-utf8.RuneCountInString(noticeLength(r.record, a.short[i].Name)), 1)
	}
	return a
}

// hasOwn reports whether a platform has texts of its own: by the caller, or by the model that adapts them.
func (r *writer) hasOwn(name string) bool {
	v := r.item.Variants[name]
	return slices.Contains(r.attempt.Adapt, name) || v.Caption != nil && !v.Adapted
}

// derive makes the short versions that were written variants of the item. Members of variants that the caller has
// given stay.
func (r *maker) derive(t provider.Text) {
	for _, s := range t.Short {
		row, known := registry.Find(s.Platform)
		if v := r.item.Variants[s.Platform]; known && !r.writer.hasOwn(s.Platform) {
			tags := r.item.Hashtags
			if v.Hashtags != nil {
				tags = v.Hashtags
			}
			v.Hashtags = tags[:min(len(tags), tagsOn(row, r.item.Kind))]
			caption := fitText(r.record, row, s.Caption, v.Hashtags)
			v.Caption, v.Adapted, v.PromptVersion = &caption, true, r.item.PromptVersion
			if r.item.Variants == nil {
				r.item.Variants = map[string]Variant{}
			}
			r.item.Variants[s.Platform] = v
		}
	}
}

// tagsOn returns the number of hashtags that posts have on a platform.
func tagsOn(row registry.Row, kind Kind) int {
	t, _ := prompt.TargetOf(row.Capabilities, platform.Kind(kind)) // the caller knows that it takes the kind
	return t.Tags
}

// fitText shortens a text to the room that a platform has beside hashtags and notices, by its own count.
func fitText(r *Record, row registry.Row, caption string, tags []string) string {
	rule := row.Capabilities.Kinds[platform.Kind(r.Item.Kind)]
	return rule.Caption.Unit.Cut(caption, rule.Caption.Max+rule.Rest.Max-takenRoom(r, row, tags))
}

// takenRoom returns the room that hashtags and notices take in the caption of a platform. A platform without a list of
// hashtags has them in the caption.
func takenRoom(r *Record, row registry.Row, tags []string) int {
	rule, n := row.Capabilities.Kinds[platform.Kind(r.Item.Kind)], 0
	if !row.Capabilities.Hashtags.Tags && len(tags) > 0 {
		n = rule.Caption.Unit.Length("\n\n#" + strings.Join(tags, " #"))
	}
	return n + rule.Caption.Unit.Length(noticeLength(r, row.Name))
}

// bounds returns the limits of the texts on the platforms that the item may be published on. A platform that divides a
// long caption takes both parts.
func (r *writer) bounds(rows []registry.Row, t provider.Text) (all []guard.Limit) {
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Name
	}
	a := r.aimAt(names)
	for _, row := range rows {
		rule := row.Capabilities.Kinds[platform.Kind(r.item.Kind)]
		caption, path, tags := rule.Caption, "/caption", t.Hashtags
		switch {
		case slices.ContainsFunc(a.short, func(p prompt.PlatformName) bool { return p.Name == row.Name }):
			path, tags = "/variants/"+row.Name+"/caption", tags[:min(len(tags), tagsOn(row, r.item.Kind))]
		case !slices.ContainsFunc(a.main, func(p prompt.Target) bool { return p.Label == row.Capabilities.Label }):
			path = ""
		}
		if caption.Max = max(caption.Max+rule.Rest.Max-takenRoom(r.record, row, tags), 0); path != "" {
			all = append(all, guard.Limit{Path: path, Text: caption, Target: row.Capabilities.Label})
		}
		all = append(all, guard.Limit{Path: "/title", Text: rule.Title, Target: row.Capabilities.Label})
	}
	return all
}

// lacking returns the platforms that have no version of the caption although they need one: their accounts came after
// the writer was asked.
func (r *writer) lacking(rows []registry.Row, t provider.Text) (labels []string) {
	var names []string
	for _, row := range rows {
		names = append(names, row.Name)
	}
	for _, p := range r.aimAt(names).short {
		if !slices.ContainsFunc(t.Short, func(s provider.Short) bool { return s.Platform == p.Name }) {
			labels = append(labels, p.Label)
		}
	}
	return labels
}

// took returns the seconds that scenes of the origin take together, by their indexes.
func (r *writer) took(indexes []int) int {
	var all []Scene
	for _, i := range indexes {
		all = append(all, sceneOf(provider.Scene(r.record.Origin.Scenes[i])))
	}
	return spokenSeconds(scriptOf(all))
}

// leastExcerpt returns the least seconds of the chosen scenes: a writer can retell any.
func (r *writer) leastExcerpt() int {
	if r.attempt.UsesCopies {
		return leastSpoken
	}
	return 1
}

// window returns the indexes of the scenes one after another that come nearest to the length, without those of some
// numbers. It returns nil if there are none.
func (r *writer) window(without []int) (best []int) {
	e := r.attempt.Excerpt
	for first := range e.Numbers {
		for last := first; last < len(e.Numbers) && e.Numbers[last]-e.Numbers[first] == last-first; last++ {
			if slices.Contains(without, e.Numbers[last]) {
				break
			}
			var run []int
			for i := first; i <= last; i++ {
				run = append(run, i)
			}
			if n := r.took(run); n >= r.leastExcerpt() && n <= e.Seconds && (best == nil || n > r.took(best)) {
				best = run
			}
		}
	}
	return best
}

// usual returns the indexes of the scenes that are chosen without the model: the best window, or else the shortest
// scene.
func (r *writer) usual() []int {
	for _, without := range [][]int{r.attempt.Excerpt.UsedScenes, nil} {
		if best := r.window(without); best != nil {
			return best
		}
	}
	shortest := 0
	for i := range r.record.Origin.Scenes {
		if r.took([]int{i}) < r.took([]int{shortest}) {
			shortest = i
		}
	}
	return []int{shortest}
}

// excerpt is the answer of the model.
type excerpt struct {
	Idea   string `json:"idea"`
	Scenes []int  `json:"scenes"`
}

// chosenScenes returns the indexes of the scenes that an answer chooses, or its problems.
func (r *writer) chosenScenes(answer json.RawMessage) (indexes []int, problems []string) {
	var a excerpt
	if json.Unmarshal(answer, &a) != nil || len(a.Scenes) == 0 {
		return nil, []string{`"scenes" must have the numbers of the chosen scenes`}
	}
	e := r.attempt.Excerpt
	avoids := r.window(e.UsedScenes) != nil
	for i, n := range a.Scenes {
		index := slices.Index(e.Numbers, n)
		switch {
		case index < 0:
			problems = append(problems, fmt.Sprintf("there is no scene %d", n))
		case slices.Contains(indexes, index):
			problems = append(problems, fmt.Sprintf("scene %d is there twice", n))
		case i > 1 && n < a.Scenes[i-1]:
			problems = append(problems, fmt.Sprintf("scene %d follows scene %d: after the first one, scenes keep "+
				"their order",
				n, a.Scenes[i-1]))
		case avoids && slices.Contains(e.UsedScenes, n):
			problems = append(problems, fmt.Sprintf("scene %d is in another short video", n))
		default:
			indexes = append(indexes, index)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if takes, least := r.took(indexes), r.leastExcerpt(); takes > e.Seconds || takes < least {
		return nil, []string{fmt.Sprintf("the scenes take %d seconds together, and must take %d to %d", takes, least,
			e.Seconds)}
	}
	return indexes, nil
}

// excerptRequest returns the request to choose the scenes. Before it is known which of them are used, all count as
// used, so that the price is for the longest prompt.
func (r *writer) excerptRequest() provider.Request {
	e := r.attempt.Excerpt
	told := prompt.Excerpting{Language: r.record.Origin.Language, Request: r.item.Prompt, Channel: r.brief.Voice,
		Title: r.record.Origin.Title, Least: r.leastExcerpt(), Most: e.Seconds, Whole: r.attempt.UsesCopies}
	for i, s := range r.record.Origin.Scenes {
		told.Scenes = append(told.Scenes, prompt.ExcerptScene{Number: e.Numbers[i], OriginScene: s,
			Seconds: math.Round(provider.SpokenLength(s.Text).Seconds()*10) / 10,
			InUse:   !e.ScenesRead || slices.Contains(e.UsedScenes, e.Numbers[i])})
	}
	asked := told.Prompt()
	sample := excerpt{Idea: r.record.Origin.Title}
	for _, i := range r.usual() {
		sample.Scenes = append(sample.Scenes, e.Numbers[i])
	}
	answer, _ := json.Marshal(sample) // it has numbers and a text
	return provider.Request{Kind: provider.KindText, Prompt: asked.User, PromptVersion: asked.Version,
		Language: r.item.Language, Form: &provider.Form{System: asked.System, Tokens: prompt.ExcerptTokens,
			Sample: answer}}
}
