package item

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
)

// occasions say to a text model what its text goes with.
var occasions = map[string]string{
	"post":        "Now write a post that goes with one picture.",
	"carousel":    "Now write a post with a row of pictures to swipe through: each slide's heading carries one thought, and together they tell one story.",
	"short video": "Now write a short video: its script, spoken by one person, begins with what makes people stay, and the caption is posted below it.",
	"long video":  "Now write a video: its script is spoken by one person, and the caption is posted below it.",
	"story":       "Now write a story that is seen for seconds: a very short caption, one thought.",
	"story clip":  "Now write a story that is seen for seconds: a very short caption, one thought.",
	"music clip":  "Now write the post that presents a new piece of instrumental music: the title is the name of the piece.",
}

// plain asks for pictures without text: models seldom spell it right.
const plain = "No text, letters, logos or watermarks."

// foreseen returns the request of a part as far as its price and the limits of its
// model depend on it. What is not known yet has its greatest size.
func (r *Record) foreseen(p part) provider.Request {
	described := provider.Clip(r.Prompt, longestPrompt(p.Model))
	req := provider.Request{Kind: p.Kind, Prompt: r.Prompt, Language: r.Language, AspectRatio: p.Ratio}
	switch p.Kind {
	case provider.KindText:
		req.Instructions = r.Brief.Voice + "\n\n" + occasions[r.Shape]
		req.ScriptSeconds = p.Seconds
		if r.Kind == Carousel {
			req.Slides = len(r.Slides)
		}
	case provider.KindImage:
		req.Prompt, req.Count = described, 1
	case provider.KindVideo:
		req.Prompt, req.Seconds = described, p.Seconds
		if p.FromStill {
			req.ImageURL = "https://still" // signed when it is made
		}
	case provider.KindMusic:
		req.Prompt, req.Seconds = described, p.Seconds
	case provider.KindVoice:
		req.Prompt, req.Voice = strings.Repeat("x", provider.MaxScript(p.Seconds)), p.Voice
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

// request returns the request of the n-th part of the record. made is what the parts
// before it have made.
func (r *Record) request(n int, made []generate.Made, sign Signer) (req provider.Request, err error) {
	if n >= len(r.Parts) {
		return req, fmt.Errorf("item: %s has no part %d", r.ID, n)
	}
	p := r.Parts[n]
	req = r.foreseen(p)
	text := written(made)
	headline := sentence("Its headline, to set the scene only", text.Title)
	switch p.Role {
	case roleVoice:
		req.Prompt = provider.Clip(text.Script, provider.MaxScript(p.Seconds))
	case roleCaptions:
		voice := r.fileOf(made, roleVoice)
		if voice == nil {
			return req, fmt.Errorf("item: %s has no voice for its captions", r.ID)
		}
		req.Prompt, req.Spoken = text.Script, time.Duration(voice.DurationSeconds*float64(time.Second))
	case roleSlide:
		heading := r.Slides[p.Slide-1].Text
		if !r.givenSlide(p.Slide-1) && p.Slide <= len(text.Slides) {
			heading = text.Slides[p.Slide-1]
		}
		req.Prompt = promptOf(p, fmt.Sprintf("Picture %d of %d of a row for social media, all in one style.", p.Slide, len(r.Slides)),
			r.Prompt, sentence("This one shows", heading), r.Brief.Look, plain)
	case roleStill:
		req.Prompt = promptOf(p, "First frame of a video for social media.", r.Prompt, headline, r.Brief.Look, plain)
	case roleCover:
		req.Prompt = promptOf(p, "Cover of a piece of music.", r.Prompt, headline, r.Brief.Sound, r.Brief.Look, plain)
	case roleItem:
		err = r.requestItem(&req, p, made, headline, sign)
	}
	return req, err
}

// requestItem completes the request of the part that the item's model makes.
func (r *Record) requestItem(req *provider.Request, p part, made []generate.Made, headline string, sign Signer) (err error) {
	switch p.Kind {
	case provider.KindImage:
		req.Prompt = promptOf(p, "Picture for social media.", r.Prompt, headline, r.Brief.Look, plain)
	case provider.KindMusic:
		req.Prompt = promptOf(p, "Instrumental music, no vocals.", r.Prompt, r.Brief.Sound)
	case provider.KindVideo:
		said := sentence("A speaker off screen says", provider.Clip(written(made).Script, maxManner))
		req.Prompt = promptOf(p, "Video for social media.", r.Prompt, said, r.Brief.Look, plain)
		if !p.FromStill {
			return nil
		}
		still := r.fileOf(made, roleStill)
		if still == nil {
			return fmt.Errorf("item: %s has no picture for its clip", r.ID)
		}
		req.ImageURL, err = sign(*still)
		req.ImageRatio = r.Parts[slices.IndexFunc(r.Parts, func(p part) bool { return p.Role == roleStill })].Ratio
	}
	return err
}

// written returns the text that was made, or an empty one if there is none yet.
func written(made []generate.Made) provider.Text {
	for _, m := range made {
		if m.Text != nil {
			return *m.Text
		}
	}
	return provider.Text{}
}

// fileOf returns the file that the part of a role has made, or nil if there is none yet.
func (r *Record) fileOf(made []generate.Made, want role) *media.File {
	for n, m := range made {
		if n < len(r.Parts) && r.Parts[n].Role == want && len(m.Files) > 0 {
			return &m.Files[0]
		}
	}
	return nil
}

// promptOf returns the prompt for a picture, clip or track: what is wanted, its
// subject and its manner. A prompt that is too long loses the end of its subject, which
// keeps at least half of the room.
func promptOf(p part, wanted, subject string, manner ...string) string {
	rest := sentences(" ", manner...)
	const subjectOf = "Subject"
	limit := longestPrompt(p.Model)
	room := max(limit-utf8.RuneCountInString(wanted+rest+subjectOf+": . ")-1, limit/2)
	all := sentences(" ", wanted, sentence(subjectOf, provider.Clip(strings.Join(strings.Fields(subject), " "), room)), rest)
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
