package platform

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/content-automation/api/pkg/adapter/platform/texts"
)

// Problem is a reason for which a platform does not take a post.
type Problem struct {
	Platform string
	Param    string // member of the post, such as caption or media[2]
	Message  string // in whole sentences, with the limit
}

// fitting collects the problems of a post.
type fitting struct {
	platform string
	label    string
	problems []Problem
}

func (f *fitting) add(param, format string, args ...any) {
	f.problems = append(f.problems, Problem{f.platform, param, fmt.Sprintf(format, args...)})
}

// Fit returns the reasons for which the platform does not take a post, or nil if it takes the post.
// A text that Arrange can adapt is no problem.
func Fit(name string, p Post, c Capabilities) []Problem {
	f := &fitting{platform: name, label: c.Label}
	rule, ok := c.Kinds[p.Kind]
	if !ok {
		f.add("kind", "%s does not take the kind %s.", f.label, p.Kind)
		return f.problems
	}
	f.texts(p, c, c.Rule(p))
	f.hashtags(p, c)
	f.files(p, rule)
	f.options(p, c)
	return f.problems
}

func (f *fitting) texts(p Post, c Capabilities, rule Rule) {
	a := Arrange(p, c)
	if rule.Title.Max > 0 {
		f.text("title", a.Title, rule.Title)
	}
	for _, text := range a.Posts() {
		f.named("caption", text, rule.Caption, c.Reader)
	}
	switch {
	case len(p.Media) == 0 && rule.Rest.Max > 0:
		f.text("caption", a.Body, rule.Rest)
	case a.Rest != "":
		f.text("caption", a.Rest, rule.Rest)
	case p.Options.Thread && len(a.Replies) >= max(rule.Thread, 1):
		f.add("caption", "%s takes threads of up to %d posts; the caption needs %d.", f.label, rule.Thread,
			len(a.Replies)+1)
	default:
		for _, text := range a.Posts() {
			f.text("caption", text, rule.Caption)
		}
	}
	if len(p.Media) == 0 && a.Body == "" {
		f.add("caption", "%s takes no post without a text or media.", f.label)
	}
	if p.Options.FirstComment != "" && c.Comment.Max > 0 {
		f.text("options.first_comment", p.Options.FirstComment, c.Comment)
		f.named("options.first_comment", p.Options.FirstComment, c.Comment, c.Reader)
	}
	for i, m := range p.Media {
		if m.Alt != "" && c.Alt.Max > 0 {
			f.text(fmt.Sprintf("media[%d].alt_text", i), m.Alt, c.Alt)
		}
	}
}

func (f *fitting) text(param, s string, limit Text) {
	unit := limit.Unit
	if unit == "" {
		unit = Runes
	}
	switch n := limit.Length(s); {
	case s == "" && limit.Required:
		f.add(param, "%s requires a %s.", f.label, param)
	case n > limit.Max:
		with := ""
		if param == "caption" {
			with = ", with the hashtags that belong to it"
		}
		f.add(param, "%s takes up to %d %s here; there are %d%s.", f.label, limit.Max,
			strings.ReplaceAll(string(unit), "_", " "), n, with)
	case limit.MaxBytes > 0 && len(s) > limit.MaxBytes:
		f.add(param, "%s takes up to %d bytes here; there are %d.", f.label, limit.MaxBytes, len(s))
	case limit.Forbidden != "" && strings.ContainsAny(s, limit.Forbidden):
		f.add(param, "%s does not take the characters %s.", f.label, limit.Forbidden)
	}
}

// named checks the numbers of links, mentions and cashtags of a text that is published. Where a platform does not say
// what it counts, what any reader would count counts.
func (f *fitting) named(param, s string, limit Text, r texts.Reader) {
	seen := limit.plain(s)
	for _, b := range []struct {
		what  string
		most  int
		count func() int
	}{
		{"different " +
			"links", limit.MaxLinks, func() int { return max(different(r.Links(seen), seen), texts.Addresses(seen)) }},
		{"mentions of accounts", limit.MaxMentions, func() int {
			return max(len(r.Mentions(seen)), texts.Signs(seen, texts.At))
		}},
		{"cashtags", limit.MaxCashtags, func() int { return len(r.Cashtags(seen)) }},
	} {
		if b.most == 0 {
			continue
		}
		if n := b.count(); n > b.most {
			f.add(param, "%s takes up to %d %s in a text; there are %d.", f.label, b.most, b.what, n)
		}
	}
}

// different returns the number of different addresses of links.
func different(links []Link, s string) int {
	all := make([]string, len(links))
	for i, l := range links {
		all[i] = l.Address(s)
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}

func (f *fitting) hashtags(p Post, c Capabilities) {
	tags, limit := p.Hashtags, c.Hashtags
	n, where := len(tags), ""
	written := len(c.Reader.Hashtags(p.Caption))
	if limit.Strict {
		written = max(written, texts.Signs(p.Caption, texts.Hash))
	}
	if limit.Written && written > 0 {
		n, where = n+written, fmt.Sprintf(", %d of them in the caption", written)
	}
	if n > limit.Max {
		f.add("hashtags", "%s takes up to %d hashtags; there are %d%s.", f.label, limit.Max, n, where)
	}
	if n := tagLength(tags); limit.Total > 0 && n > limit.Total {
		f.add("hashtags", "%s takes hashtags of up to %d characters in all; there are %d.", f.label, limit.Total, n)
	}
	for i, tag := range tags {
		if tag == "" || strings.ContainsAny(tag, "#＃,<>") || strings.ContainsFunc(tag, unicode.IsSpace) {
			f.add(fmt.Sprintf("hashtags[%d]", i), "A hashtag is one word, without #.")
		}
	}
}

// Halved returns what the platform would not show as the hashtags that a post names, with the member of each: parts of
// words, or plain text. It takes such a post. Fit returns what it refuses.
func Halved(name string, p Post, c Capabilities) []Problem {
	f := &fitting{platform: name, label: c.Label}
	for i, tag := range p.Hashtags {
		if c.Hashtags.Tags || c.Reader.Tag(tag) {
			continue
		}
		param := fmt.Sprintf("hashtags[%d]", i)
		if read := c.Reader.Hashtags("#" + tag); len(read) > 0 && read[0].Start == 0 {
			f.add(param, "%s shows #%s of the hashtag #%s, and the rest as plain text. Use letters, digits and "+
				"underscores.", f.label, read[0].Text, tag)
		} else {
			f.add(param, "%s shows the hashtag #%s as plain text. Use a word with a letter, without other signs, "+
				"that is "+
				"not too long.", f.label, tag)
		}
	}
	return f.problems
}

// tagLength returns the length of a list of tags as YouTube counts it. YouTube includes the commas
// between tags, and the quotes around tags with a space.
func tagLength(tags []string) int { return Runes.Length(strings.Join(tags, ",")) }

func (f *fitting) files(p Post, rule Rule) {
	if n := len(p.Media); n < rule.MinMedia || n > rule.MaxMedia {
		f.add("media", "%s takes %d to %d media for the kind %s; there are %d.", f.label, rule.MinMedia,
			rule.MaxMedia, p.Kind, n)
	}
	for i, m := range p.Media {
		param := fmt.Sprintf("media[%d]", i)
		limit, what := rule.Image, "image"
		if m.Video() {
			limit, what = rule.Video, "video"
		}
		if limit == nil {
			f.add(param, "%s takes no %s for the kind %s.", f.label, what, p.Kind)
			continue
		}
		f.file(param, m, *limit)
	}
}

func (f *fitting) file(param string, m Media, limit File) {
	if len(limit.MIMEs) > 0 && !slices.Contains(limit.MIMEs, m.MIME) {
		f.add(param+".mime_type", "%s takes %s; this is %s.", f.label, strings.Join(limit.MIMEs, ", "), m.MIME)
	}
	if m.Bytes <= 0 {
		f.add(param+".bytes", "The file is empty.")
	}
	if limit.MaxBytes > 0 && m.Bytes > limit.MaxBytes {
		f.add(param+".bytes", "%s takes up to %d bytes; this has %d.", f.label, limit.MaxBytes, m.Bytes)
	}
	if m.Width > 0 && m.Height > 0 { // else the platform checks it
		f.size(param, m.Width, m.Height, limit)
	}
	if m.Video() {
		f.form(param, m.Movie, limit.Form)
	}
	if m.Video() && (m.Duration < limit.MinTime || limit.MaxTime > 0 && m.Duration > limit.MaxTime) {
		f.add(param+".duration_seconds", "%s takes videos of %s; this has %s.", f.label, span(limit), m.Duration)
	}
}

// size checks the width and the height of a file.
func (f *fitting) size(param string, width, height int, limit File) {
	if !limit.shaped(width, height) {
		f.add(param, "%s takes ratios of width to height from %.2f to %.2f; this has %.2f.", f.label, limit.MinRatio,
			limit.MaxRatio, float64(width)/float64(height))
	}
	short, long := min(width, height), max(width, height)
	for _, b := range []struct {
		what        string
		n           int
		least, most int
	}{
		{"of width and height together", width + height, 0, limit.MaxSides},
		{"in width", width, 0, limit.MaxWidth},
		{"on the shorter side", short, limit.MinShort, limit.MaxShort},
		{"on the longer side", long, 0, limit.MaxLong},
		{"in all", width * height, 0, limit.MaxPixels},
	} {
		switch {
		case b.n < b.least:
			f.add(param, "%s takes at least %d pixels %s; this has %d.", f.label, b.least, b.what, b.n)
		case b.most > 0 && b.n > b.most:
			f.add(param, "%s takes up to %d pixels %s; this has %d.", f.label, b.most, b.what, b.n)
		}
	}
}

// shaped reports whether a size has a permitted ratio. The sides are whole numbers, so that a ratio may need a part of
// a pixel more.
func (l File) shaped(width, height int) bool {
	whole := func(side float64) int { return int(math.Ceil(side - 1e-6)) }
	return (l.MinRatio == 0 || height <= whole(float64(width)/l.MinRatio)) &&
		(l.MaxRatio == 0 || width <= whole(float64(height)*l.MaxRatio))
}

func span(limit File) string {
	if limit.MaxTime == 0 {
		return fmt.Sprintf("at least %s", limit.MinTime)
	}
	return fmt.Sprintf("%s to %s", limit.MinTime, limit.MaxTime)
}

// lacks returns the message that posts of a kind do not have an option.
func (c Capabilities) lacks(kind Kind, o Option) string {
	if slices.Contains(c.Options, o) {
		return fmt.Sprintf("%s does not support %s for the kind %s.", c.Label, o, kind)
	}
	return fmt.Sprintf("%s does not support %s.", c.Label, o)
}

func (f *fitting) options(p Post, c Capabilities) {
	o := p.Options
	for _, name := range o.wanted() {
		if !c.Supports(p.Kind, name) {
			f.add("options."+string(name), "%s", c.lacks(p.Kind, name))
		}
	}
	if o.Undeclared && o.Generated {
		f.add("options."+string(OptionGenerated), "must be true, or left out: the content was made by AI")
	}
	if o.Privacy != "" && !slices.Contains(c.Privacies, o.Privacy) {
		f.add("options.privacy", "%s does not have the privacy %s.", f.label, o.Privacy)
	}
	if o.CoverAt < 0 || o.CoverAt%time.Millisecond != 0 {
		f.add("options.cover_at", "The frame of the cover is not a time of the video in milliseconds.")
	}
}
