package platform

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/content-automation/api/pkg/adapter/platform/texts"
	"github.com/content-automation/api/pkg/media"
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
	case a.SecondMessage != "":
		f.text("caption", a.SecondMessage, rule.Rest)
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
	if limit.InCaption && written > 0 {
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

// SplitHashtags returns what the platform would not show as the hashtags that a post names, with the member of each:
// parts of words, or plain text. It takes such a post. Fit returns what it refuses.
func SplitHashtags(name string, p Post, c Capabilities) []Problem {
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
				"that is not too long.", f.label, tag)
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
	for _, name := range o.names() {
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

// Form is what the documents of a platform say of the codecs of videos. An empty member sets no bound. What is not
// known of a video is the platform's to check.
type Form struct {
	// Pictures and Sounds are the codecs that the platform takes.
	Pictures, Sounds []media.Codec
	// Chroma is the sampling of colors, and MaxDepth bounds the bits of a sample.
	Chroma   string
	MaxDepth int
	// MaxRate bounds the frames in a second.
	MaxRate float64
	// LowComplexity takes AAC of the profile LC alone.
	LowComplexity bool
	// MaxChannels and MaxSampleRate bound the sound.
	MaxChannels, MaxSampleRate int
	// Uncut reports whether the platform ignores or refuses edit lists.
	Uncut bool
}

// Meta is the form of Instagram and Threads
// (developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media, and
// developers.facebook.com/docs/threads/overview).
var Meta = Form{Pictures: []media.Codec{media.H264, media.HEVC}, Sounds: []media.Codec{media.AAC}, Chroma: "4:2:0",
	MaxRate: 60, MaxChannels: 2, MaxSampleRate: 48_000, Uncut: true}

// form checks the codecs of a video.
func (f *fitting) form(param string, m media.Movie, form Form) {
	const convert = "Convert the video, or send fit, which does."
	p, s := m.Picture, m.Sound
	takes := func(what, this string) {
		f.add(param, "%s takes videos %s; this %s. %s", f.label, what, this, convert)
	}
	switch {
	case p.Codec == "": // it is not known
	case len(form.Pictures) > 0 && !slices.Contains(form.Pictures, p.Codec):
		takes("in "+labels(form.Pictures), "is in "+p.Codec.Label())
	case form.Chroma != "" && p.Chroma != "" && p.Chroma != form.Chroma:
		takes("with the colors in "+form.Chroma, fmt.Sprintf("is %s with %s%s", p.Codec.Label(), p.Chroma,
			profile(p.Profile)))
	case form.MaxDepth > 0 && p.Depth > form.MaxDepth:
		takes(fmt.Sprintf("with %d bits a sample", form.MaxDepth), fmt.Sprintf("is %s with %d%s", p.Codec.Label(),
			p.Depth, profile(p.Profile)))
	}
	const slack = 0.5
	if form.MaxRate > 0 && p.Rate > form.MaxRate+slack {
		takes(fmt.Sprintf("of up to %.0f frames a second", form.MaxRate), fmt.Sprintf("has %.0f", p.Rate))
	}
	switch {
	case s.Codec == "":
	case len(form.Sounds) > 0 && !slices.Contains(form.Sounds, s.Codec):
		takes("with sound in "+labels(form.Sounds), "has "+s.Codec.Label())
	case form.LowComplexity && s.Codec == media.AAC && s.Profile != "" && s.Profile != "LC":
		takes("with sound in AAC-LC", "has "+s.Profile+"-AAC")
	case form.MaxChannels > 0 && s.Channels > form.MaxChannels:
		takes(fmt.Sprintf("with sound of up to %d channels", form.MaxChannels), fmt.Sprintf("has %d", s.Channels))
	case form.MaxSampleRate > 0 && s.Rate > form.MaxSampleRate:
		takes(fmt.Sprintf("with sound of up to %d Hz", form.MaxSampleRate), fmt.Sprintf("has %d", s.Rate))
	}
}

func profile(name string) string {
	if name == "" {
		return ""
	}
	return ", the profile " + name
}

func labels(all []media.Codec) string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Label()
	}
	return strings.Join(names, " or ")
}

// Recut returns a problem for each video of a post whose edit list the platform does not follow. It may take such a
// post, and show what was cut off, or the sound at another time.
func Recut(name string, p Post, c Capabilities) []Problem {
	f := &fitting{platform: name, label: c.Label}
	for i, m := range p.Media {
		if limit := c.Kinds[p.Kind].Video; m.Video() && limit != nil && limit.Form.Uncut && m.Movie.Edited {
			f.add(fmt.Sprintf("media[%d]", i), "%s takes videos without an edit list, and that of media[%d] leaves "+
				"out or moves a part: it may be shown, or be heard at another time. Send fit, which makes a video "+
				"without one.", f.label, i)
		}
	}
	return f.problems
}

// ArrangedText is the text of a post in the arrangement of its platform.
type ArrangedText struct {
	Title         string
	Body          string   // caption, with the hashtags if they belong to it
	SecondMessage string   // separate message that follows the media
	Tags          []string // hashtags that are separate from the caption
	// Replies are the texts of the posts that follow the first one in a thread.
	Replies []string
}

// Posts returns the texts of the messages or posts that have the text.
func (a ArrangedText) Posts() []string {
	all := append([]string{a.Body}, a.Replies...)
	if a.SecondMessage != "" {
		all = append(all, a.SecondMessage)
	}
	return all
}

// Parts returns the number of messages or posts that have the text.
func (a ArrangedText) Parts() int { return len(a.Posts()) }

// Arrange places the caption and hashtags as the platform requires. If the caption is too long for the media and the
// platform allows a separate message, Arrange divides it at the end of a paragraph, else of a sentence, else of a word.
func Arrange(p Post, c Capabilities) ArrangedText {
	rule := c.Rule(p)
	a := ArrangedText{Title: strings.TrimSpace(p.Title), Body: strings.TrimSpace(lineEnds.Replace(p.Caption))}
	if c.Hashtags.Tags {
		a.Tags = p.Hashtags
	} else if len(p.Hashtags) > 0 {
		a.Body = strings.TrimSpace(a.Body + "\n\n#" + strings.Join(p.Hashtags, " #"))
	}
	if len(p.Media) == 0 && rule.Rest.Max > 0 {
		return a // a message without media, which may be as long as the rest
	}
	if rule.Rest.Max > 0 && rule.Caption.Length(a.Body) > rule.Caption.Max {
		a.Body, a.SecondMessage = divide(a.Body, rule.Caption)
	}
	if p.Options.Thread && rule.Thread > 0 {
		var parts []string
		for rest := a.Body; rest != "" || len(parts) == 0; {
			first := rest
			if !rule.Caption.holds(rest) {
				first, rest = divide(rest, rule.Caption)
			} else {
				rest = ""
			}
			parts = append(parts, first)
		}
		a.Body, a.Replies = parts[0], parts[1:]
	}
	return a
}

// lineEnds makes line ends those of platforms, which keep no others: a post is found again by its text.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Length returns the length of a text in the unit of the limit, as a reader sees the text.
func (t Text) Length(s string) int { return t.Unit.Length(t.plain(s)) }

// plain returns what a reader sees of a text.
func (t Text) plain(s string) string {
	if t.Markup == HTML {
		return texts.Plain(s)
	}
	return s
}

// holds reports whether a text is within the limit.
func (t Text) holds(s string) bool {
	return t.Length(s) <= t.Max && (t.MaxBytes == 0 || len(s) <= t.MaxBytes)
}

// divide divides a text into a beginning within the limit and the rest. It cuts no tag, no link and, if there is a
// choice, no word.
func divide(s string, limit Text) (first, rest string) {
	plain := limit.plain(s)
	first = limit.Unit.cut(plain, limit.Max)
	if limit.MaxBytes > 0 {
		first = Bytes.cut(first, limit.MaxBytes)
	}
	if first == "" {
		return s, "" // a character or a link alone exceeds the limit, which Fit refuses
	}
	// An earlier end would leave the media with hardly any text.
	at := pause(plain, len(first), len(first)/3, "\n\n", "\n")
	if limit.Markup == "" {
		return strings.TrimSpace(plain[:at]), strings.TrimSpace(plain[at:])
	}
	return texts.Divide(s, len(strings.TrimRightFunc(plain[:at], unicode.IsSpace)),
		len(plain)-len(strings.TrimLeftFunc(plain[at:], unicode.IsSpace)))
}

// Unit is the unit of the length of a text.
type Unit string

// The units.
const (
	Runes Unit = "characters"
	UTF16 Unit = "utf16_units"
	Bytes Unit = "bytes"
	// Graphemes are what readers see as characters: an emoji of several code points is one.
	Graphemes Unit = "graphemes"
	// EmojiBytes are characters, where an emoji counts as its bytes.
	EmojiBytes Unit = "characters_and_bytes_of_emoji"
	// Weighted is the length of X: 23 for a link, 2 for an emoji and for a character of the scripts
	// of East Asia, and 1 for others.
	Weighted Unit = "weighted_characters"
)

// Name returns the unit in words.
func (u Unit) Name() string {
	if u == "" {
		u = Runes
	}
	return strings.ReplaceAll(string(u), "_", " ")
}

// Rule says what counts for more than one in the unit, in a clause, or "" if every character counts one.
func (u Unit) Rule() string {
	switch u {
	case UTF16:
		return "an emoji counts 2 or more"
	case Bytes:
		return "a Cyrillic, Greek, Hebrew or Arabic letter counts 2, others up to 3, and an emoji 4 or more"
	case Graphemes:
		return "an emoji counts 1"
	case EmojiBytes:
		return "an emoji counts 4 or more"
	case Weighted:
		return "a Chinese, Japanese or Korean character and an emoji count 2, and a link counts 23"
	}
	return ""
}

// PerCharacter returns the most that a letter of a script counts in the unit. The script is a code of ISO 15924, and
// the emojis of a text are not considered.
func (u Unit) PerCharacter(script string) int {
	switch u {
	case Bytes:
		return 3
	case Weighted:
		letter, known := letters[script]
		if !known {
			return 2
		}
		return texts.RuneWeight(letter)
	}
	return 1
}

// letters has a letter of each script that X counts as one character.
var letters = map[string]rune{"Latn": 'e', "Cyrl": 'я', "Grek": 'ω', "Armn": 'ա', "Hebr": 'א', "Arab": 'م', "Deva": 'अ',
	"Beng": 'অ', "Guru": 'ਅ', "Gujr": 'અ', "Taml": 'அ', "Telu": 'అ', "Knda": 'ಅ', "Mlym": 'അ', "Sinh": 'අ', "Thai": 'ก',
	"Laoo": 'ກ', "Mymr": 'က', "Geor": 'ა'}

// Length returns the length of a text in the unit.
func (u Unit) Length(s string) (n int) {
	switch u {
	case UTF16:
		for _, r := range s {
			n += max(utf16.RuneLen(r), 1)
		}
		return n
	case Bytes:
		return len(s)
	case Graphemes:
		return uniseg.GraphemeClusterCount(s)
	case EmojiBytes:
		for _, c := range clusters(s) {
			if emoji(c) {
				n += len(c)
				continue
			}
			for _, r := range c { // a letter may have parts of an emoji after it
				if partOfEmoji(r) {
					n += utf8.RuneLen(r)
				} else {
					n++
				}
			}
		}
		return n
	case Weighted:
		return texts.Weight(s)
	default:
		return utf8.RuneCountInString(s)
	}
}

// clusters are the grapheme clusters of a text, each with the offset of its end.
func clusters(s string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		state, end := -1, 0
		for rest := s; rest != ""; {
			var c string
			if n := alone(rest); n > 0 {
				c, rest, state = rest[:n], rest[n:], -1
			} else {
				c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
			}
			if end += len(c); !yield(end, c) {
				return
			}
		}
	}
}

// alone returns the length of the first character of a text if it is a cluster for sure, else 0: a letter before
// another one, of ASCII, Latin or Cyrillic. Most characters are.
func alone(s string) int {
	first, n := utf8.DecodeRuneInString(s)
	next, _ := utf8.DecodeRuneInString(s[n:])
	if plain(first) && (n == len(s) || plain(next)) {
		return n
	}
	return 0
}

func plain(r rune) bool {
	return r >= ' ' && r <= '~' || r >= '\u00C0' && r < '\u0300' || r >= '\u0400' && r < '\u0483'
}

// emoji reports whether a grapheme cluster is an emoji.
func emoji(cluster string) bool {
	first, size := utf8.DecodeRuneInString(cluster)
	if size == len(cluster) {
		return partOfEmoji(first)
	}
	return first >= 0x1F000 && first <= 0x1FAFF || strings.ContainsAny(cluster, "\uFE0F\u20E3")
}

// partOfEmoji reports whether a character is an emoji or joins the parts of one.
func partOfEmoji(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r >= 0x2190 && r < 0x2C00 &&
		unicode.Is(unicode.So, r) || r == 0x200D || r == 0xFE0F || r == 0x20E3
}

// cut returns the longest beginning of s that has at most n units and ends between two grapheme clusters, and not in a
// link.
func (u Unit) cut(s string, n int) string {
	end := 0
	if u == Weighted {
		end = heaviest(s, n)
	} else {
		length := 0
		for at, c := range clusters(s) {
			if length += u.Length(c); length > n {
				break
			}
			end = at
		}
	}
	// No link has a space.
	from := strings.LastIndexFunc(s[:end], unicode.IsSpace) + 1
	to := len(s)
	if i := strings.IndexFunc(s[end:], unicode.IsSpace); i >= 0 {
		to = end + i
	}
	for _, l := range Links(s[from:to]) {
		if from+l.Start < end && end < from+l.End {
			return s[:from+l.Start]
		}
	}
	return s[:end]
}

// heaviest returns the offset of the end of the last grapheme cluster up to which a text has at most n weighted
// characters. A link has a weight of its own, so that the weights of clusters do not add up to that of the text.
func heaviest(s string, n int) int {
	ends := []int{0}
	for end := range clusters(s) {
		ends = append(ends, end)
	}
	i := sort.Search(len(ends), func(i int) bool { return Weighted.Length(s[:ends[i]]) > n })
	return ends[max(i-1, 0)]
}

// Cut shortens a text to at most n units, at the end of a sentence or of a word if one is in its second half.
func (u Unit) Cut(s string, n int) string {
	if u.Length(s) <= n {
		return s
	}
	first := u.cut(s, n)
	return strings.TrimSpace(s[:pause(s, len(first), len(first)/2, "\n")])
}

// The signs that end a sentence: those before a space, those of scripts without spaces, and what may follow them.
const (
	sentenceEnds = ".!?…"
	scriptEnds   = "。！？｡．।॥؟۔።፧។။"
	closingSigns = "\"')]»”’」』）】》〉"
	clauseEnds   = "、，；：،؛"
)

// pause returns the best offset up to end at which a text can be divided: the last of the breaks, else the end of a
// sentence, else a space, else the end of a clause or of a word. An offset is used if it is greater than least;
// otherwise, the text is divided at end.
func pause(s string, end, least int, breaks ...string) int {
	first := s[:end]
	for _, b := range breaks {
		if i := strings.LastIndex(first, b); i > least {
			return i
		}
	}
	if i := sentence(s, end); i > least {
		return i
	}
	if i := strings.LastIndexByte(first, ' '); i > least {
		return i
	}
	if i := strings.LastIndexAny(first, clauseEnds); i > least {
		return i + width(s[i:])
	}
	if i := word(s, end); i > least {
		return i
	}
	return end
}

// sentence returns the end of the last sentence that ends up to an offset, or 0.
func sentence(s string, end int) (at int) {
	for i := 0; i < end; {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		native := strings.ContainsRune(scriptEnds, r)
		if !native && !strings.ContainsRune(sentenceEnds, r) {
			continue
		}
		for i < end {
			r, size := utf8.DecodeRuneInString(s[i:])
			if !strings.ContainsRune(closingSigns, r) {
				break
			}
			i += size
		}
		next, _ := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(next) || native && (i < end || !strings.ContainsRune(closingSigns, next)) {
			at = i
		}
	}
	return at
}

// word returns the end of the last word that ends up to an offset. A word of Japanese begins where Hiragana ends, if
// that is not far before the offset.
func word(s string, end int) (at int) {
	phrase, offset, state := 0, 0, -1
	for rest := s; rest != ""; {
		var w string
		if w, rest, state = uniseg.FirstWordInString(rest, state); offset+len(w) > end {
			break
		}
		offset += len(w)
		before, _ := utf8.DecodeLastRuneInString(w)
		next, _ := utf8.DecodeRuneInString(rest)
		if at = offset; unicode.Is(unicode.Hiragana, before) && !unicode.Is(unicode.Hiragana, next) {
			phrase = offset
		}
	}
	if phrase > end/2 {
		return phrase
	}
	return at
}

// width returns the size of the first character of a text.
func width(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// Link is a part of a text that a platform shows as a link.
type Link = texts.Link

// Links returns the links in a text by the rules that most platforms share. Capabilities.Reader has those of a
// platform.
func Links(s string) []Link { return texts.General.Links(s) }

// WrittenTags returns the hashtags in a text by the rules that most platforms share.
func WrittenTags(s string) []texts.Part { return texts.General.Hashtags(s) }
