// Package captions makes the captions of a spoken script as WebVTT. Its cues divide
// the length of the speech in proportion to their texts. It makes no call, costs
// nothing and answers at once.
package captions

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/provider"
)

// Name is the provider's name.
const Name = "captions"

const (
	// maxLine is how many characters one line of a caption has at most, and
	// maxLines how many lines are shown at once: what players and people manage.
	maxLine  = 42
	maxLines = 2
	// maxSpoken bounds the speech, far above what is made here.
	maxSpoken = 10 * time.Hour
)

// Provider makes captions.
type Provider struct{}

var _ provider.Provider = (*Provider)(nil)

// New makes the provider.
func New() *Provider { return &Provider{} }

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// Capabilities implements provider.Provider. The same request always returns the same
// captions.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{ClientToken: true, Kinds: map[provider.Kind]provider.Capability{provider.KindCaptions: {}}}
}

// Submit implements provider.Provider: the prompt is the script, and Spoken how long
// it takes to be spoken.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if err := ctx.Err(); err != nil {
		return provider.Submission{}, err
	}
	if err := req.Validate(p.Capabilities()); err != nil {
		return provider.Submission{}, err
	}
	cues := divide(req.Prompt)
	// Each cue is shown for a millisecond at least: they are timed in these.
	if len(cues) == 0 || req.Spoken < time.Duration(len(cues))*time.Millisecond || req.Spoken > maxSpoken {
		return provider.Submission{}, &provider.Error{
			Kind: provider.BadInput, Code: "invalid_input", Message: fmt.Sprintf("A speech of %v is too short for the captions of this script.", req.Spoken),
		}
	}
	return provider.Submission{Result: &provider.Result{Media: []provider.File{provider.FileOf([]byte(webvtt(cues, req.Spoken)))}}}, nil
}

// Poll implements provider.Provider. There is no handle that it could be asked for.
func (p *Provider) Poll(ctx context.Context, _ provider.Handle) (provider.Status, error) {
	return provider.Status{}, unknown(ctx)
}

// Fetch implements provider.Provider.
func (p *Provider) Fetch(ctx context.Context, _ provider.Handle) (provider.Result, error) {
	return provider.Result{}, unknown(ctx)
}

// Cancel implements provider.Provider.
func (p *Provider) Cancel(ctx context.Context, _ provider.Handle) error { return unknown(ctx) }

func unknown(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return &provider.Error{Kind: provider.BadInput, Code: "unknown_generation", Message: "Captions are made at once, so there is no generation to poll."}
}

// cue is what is shown at once: its lines.
type cue []string

// length is how much of the speech a cue is, in characters.
func (c cue) length() int {
	n := 0
	for _, line := range c {
		n += utf8.RuneCountInString(line)
	}
	return n
}

// divide divides a script into cues. No cue extends beyond the end of a sentence.
func divide(script string) []cue {
	var cues []cue
	for _, sentence := range sentences(script) {
		for lines := wrap(sentence); len(lines) > 0; {
			n := min(maxLines, len(lines))
			cues = append(cues, cue(lines[:n]))
			lines = lines[n:]
		}
	}
	return cues
}

// sentences divides a script where sentences end.
func sentences(script string) []string {
	var all []string
	begin, ended := 0, false
	for i, r := range script {
		switch {
		case strings.ContainsRune("。！？", r): // no space follows these
			all = append(all, script[begin:i+utf8.RuneLen(r)])
			begin, ended = i+utf8.RuneLen(r), false
		case strings.ContainsRune(".!?…", r):
			ended = true
		case ended && unicode.IsSpace(r):
			all = append(all, script[begin:i])
			begin, ended = i, false
		case !strings.ContainsRune(`"'”’»)`, r):
			ended = false
		}
	}
	return append(all, script[begin:])
}

// wrap puts a sentence into lines, between words; a word that is longer than a line,
// as in languages without spaces, is divided.
func wrap(sentence string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(sentence) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= maxLine {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		letters := []rune(word)
		for ; len(letters) > maxLine; letters = letters[maxLine:] {
			lines = append(lines, string(letters[:maxLine]))
		}
		line = string(letters)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// escape escapes the special characters of a cue.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// webvtt writes the cues one after the other over the whole of the speech.
func webvtt(cues []cue, spoken time.Duration) string {
	all := 0
	for _, c := range cues {
		all += c.length()
	}
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	var begin time.Duration
	said := 0
	for i, c := range cues {
		said += c.length()
		end := (spoken * time.Duration(said) / time.Duration(all)).Truncate(time.Millisecond)
		// Cues after this one need a millisecond each, too.
		end = min(max(end, begin+time.Millisecond), spoken.Truncate(time.Millisecond)-time.Duration(len(cues)-1-i)*time.Millisecond)
		fmt.Fprintf(&b, "\n%s --> %s\n%s\n", stamp(begin), stamp(end), escape.Replace(strings.Join(c, "\n")))
		begin = end
	}
	return b.String()
}

// stamp is a time as WebVTT has it.
func stamp(d time.Duration) string {
	ms := d.Milliseconds()
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}
