package item

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
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
	case r.attempt.Shape == "story clip":
		return fmt.Sprintf(calm, "upper quarter")
	case r.item.Kind == Story:
		layout = design.Story
	case r.item.Kind == Carousel && p.Number == slides:
		layout = design.Last
	case r.item.Kind == Carousel && p.Number > 1:
		layout = design.Slides[(p.Number-2)%len(design.Slides)]
	case r.item.Kind == Post && !r.record.Headlined:
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
