package item

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
)

// plain requests pictures without text, which models seldom spell right.
const plain = "No text, letters, logos or watermarks."

// foreseen returns the request of a part as far as its price and the limits of its model depend on
// it. Unknown parts have their greatest size.
func (r prompter) foreseen(p part) provider.Request {
	if p.Role == roleAdapt {
		return r.adaptForeseen()
	}
	if p.Role == roleExcerpt {
		return r.excerptRequest()
	}
	described := provider.Clip(r.Prompt, longestPrompt(p.Model))
	req := provider.Request{Kind: p.Kind, Prompt: r.Prompt, Language: r.Language, AspectRatio: p.Ratio}
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
		if req.Prompt, req.Seconds = described, p.Seconds; p.Role == roleItem && r.Given.Has(Script) {
			req.Lyrics = r.Script
		}
	case provider.KindVoice:
		req.Prompt, req.Voice, req.Seconds, req.Marks = strings.Repeat("x", provider.MaxScript(p.Seconds)), p.Voice,
			p.Seconds, true
		if r.Given.Has(Script) && r.Excerpt == nil {
			req.Prompt = r.Script
		}
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

// request returns the request of the n-th part of the record. made holds the results of the
// parts before it.
func (r maker) request(n int, made []generate.Made, sign Signer) (req provider.Request, err error) {
	if n >= len(r.Parts) {
		return req, fmt.Errorf("item: %s has no part %d", r.ID, n)
	}
	p := r.Parts[n]
	req = r.foreseen(p)
	text := r.words(made)
	if p.Role == roleAdapt {
		r.write(made) // of a copy of the item, which is read anew for each step
		return r.adaptRequest(provider.Text{Title: r.Title, Caption: r.Caption, Hashtags: r.Hashtags})
	}
	if p.Role == roleExcerpt {
		return req, nil
	}
	if err := r.checkWritten(text); err != nil {
		return req, err
	}
	switch p.Role {
	case roleText, roleScript: // all of it is foreseen
	case roleReview:
		r.judge(&req, text)
	case roleRewrite:
		r.rewrite(&req, made)
	case roleVoice:
		if !r.Given.Has(Script) {
			req.Prompt = provider.Clip(text.Script(), provider.MaxScript(p.Seconds))
		}
	case roleMusic:
		req.Prompt = promptOf(p, "Calm instrumental music that stays in the background of a video, no vocals.",
			r.Prompt, r.Brief.Sound)
	default:
		req.Prompt = r.shows(p, text, req.Lyrics != "")
	}
	switch {
	case p.FromStill:
		err = r.startFrom(&req, p, made, sign)
	case p.FromPhoto:
		req.ImageURL, err = sign(r.Brief.Product.Photos[0])
	}
	return req, err
}

// shows returns the prompt of a picture, clip or track of the item's own.
func (r prompter) shows(p part, text provider.Text, sings bool) string {
	headline := sentence("Its headline, to set the scene only", text.Title)
	switch {
	case p.Kind == provider.KindMusic:
		style := "Instrumental music, no vocals."
		if sings {
			style = "A song."
		}
		return promptOf(p, style, cmp.Or(text.Sound, r.Prompt), r.Brief.Sound)
	case p.Role == roleCover && text.Style == "":
		return promptOf(p, "Cover of a piece of music.", r.Prompt, headline, r.Brief.Sound, r.look(), plain)
	}
	wanted, shown, described := r.wanted(p, text)
	manner := []string{r.look(), plain}
	if text.Style != "" {
		manner = append([]string{sentence("Style of all", text.Style), sentence("Characters", text.Characters)}, manner...)
	}
	switch {
	case described:
		return promptOf(p, wanted, shown, manner...)
	case shown != "":
		return promptOf(p, wanted, r.Prompt, append([]string{sentence("This one shows", shown)}, manner...)...)
	default:
		return promptOf(p, wanted, r.Prompt, append([]string{headline}, manner...)...)
	}
}

// wanted describes a picture or clip, and the subject of its slide or scene. It reports whether the subject is the
// writer's description of the picture.
func (r prompter) wanted(p part, text provider.Text) (what, shows string, described bool) {
	what = "Picture for social media."
	switch {
	case r.Kind == Carousel && p.Number > 0:
		shows = r.Slides[p.Number-1].Text
		if p.Number <= len(text.Slides) {
			slide := text.Slides[p.Number-1]
			if !r.givenSlide(p.Number - 1) {
				shows = slide.Heading
			}
			shows, described = cmp.Or(slide.Visual, shows), slide.Visual != ""
		}
		return fmt.Sprintf("Picture %d of %d of a row for social media, all in one style.", p.Number,
			len(r.Slides)), shows, described
	case r.Kind == Video:
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
	if r.Kind != Video && len(text.Pictures) > 0 {
		shows, described = text.Pictures[0].Visual, true
	}
	if p.Role == roleStill {
		what = "First frame of: " + what
	}
	return what, shows, described
}

// startFrom has a clip start from the picture that was made for it.
func (r prompter) startFrom(req *provider.Request, p part, made []generate.Made, sign Signer) (err error) {
	n, still := r.madeBy(made, roleStill, p.Number)
	if still == nil {
		return fmt.Errorf("item: %s has no picture for its clip", r.ID)
	}
	req.ImageURL, err = sign(*still)
	req.ImageRatio = r.Parts[n].Ratio
	return err
}

// written returns the text that was made, or an empty one if there is none yet.
func written(made []generate.Made) provider.Text {
	for _, m := range slices.Backward(made) { // a text that was written again follows the first
		if m.Text != nil {
			return *m.Text
		}
	}
	return provider.Text{}
}

// madeBy returns the number of the part of a role, and of a slide or scene, and its file,
// or nil if there is none yet.
func (p *Pipeline) madeBy(made []generate.Made, want role, number int) (n int, file *media.File) {
	for n, m := range made {
		if n < len(p.Parts) && p.Parts[n].Role == want && p.Parts[n].Number == number && len(m.Files) > 0 {
			return n, &m.Files[0]
		}
	}
	return 0, nil
}

// promptOf returns the prompt for a picture, clip or track: its form, its subject and its
// manner. A prompt that is too long loses the end of its subject, which keeps at least half
// of the room.
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
