package item

import (
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/generate"
)

// newsType is the type of factories whose content informs the public.
const newsType = "news"

// The kinds of ids of people, whose approval is a review: those of an account, and those who open a review link.
var reviewers = []string{"usr_", "rvl_"}

// reviewed reports whether a person has approved the item.
func reviewed(r *Record) bool {
	if r.Item.Approval.State != Approved || r.Item.Approval.By == nil {
		return false
	}
	for _, prefix := range reviewers {
		if strings.HasPrefix(*r.Item.Approval.By, prefix) {
			return true
		}
	}
	return false
}

// publishedAt returns the time for which rules are read: that of the publication, as far as it is known.
func publishedAt(r *Record) time.Time {
	if r.Item.PublishAt != nil && r.Item.PublishAt.After(r.Item.UpdatedAt.Time) {
		return r.Item.PublishAt.Time
	}
	return r.Item.UpdatedAt.Time
}

// applies reports whether a rule is in force where and when the item is published.
func applies(r *Record, id string) bool {
	return law.RuleOf(id).InForce(r.Brief.Region, publishedAt(r))
}

// drawsLabel reports whether finished media that are composed have the label of generated media.
func drawsLabel(r *Record) bool {
	composed := !r.Item.Provided() || r.Item.Fitted() && !r.Item.Labelled
	return composed && r.Item.DeepFake && applies(r, law.DeepFakeLabel)
}

// shownNotice returns what finished media have to show, or an empty text.
func shownNotice(r *Record) string {
	var all []string
	if r.Item.AdMarking != nil {
		all = append(all, law.AdLabel)
	}
	if drawsLabel(r) {
		all = append(all, law.Label(r.Item.Language))
	}
	return strings.Join(all, " · ")
}

// withNotice returns a composition that shows a notice.
func withNotice(c generate.Composition, notice string) generate.Composition {
	switch of := c.(type) {
	case generate.Video:
		of.Notice = notice
		return of
	case generate.Picture:
		of.Notice = notice
		return of
	case generate.Carousel:
		of.Notice = notice
		return of
	case generate.MusicClip:
		of.Notice = notice
		return of
	}
	return c
}

// notices returns the lines that rules of law require in the text of its post on a platform, and the one by which its
// factory declares generated content where nothing but the text can. An empty platform stands for each.
func notices(r *Record, on string) (lines []string) {
	if r.Brief.Type == newsType && !r.Item.Provided() && !reviewed(r) && applies(r, law.PublicDisclosure) {
		lines = append(lines, law.Disclosure(r.Item.Language))
	}
	if r.Item.AIGenerated && r.Brief.CaptionLine && len(lines) == 0 && silent(on) {
		lines = append(lines, law.Label(r.Item.Language)+".")
	}
	if m := law.MarkingOf(r.Item.AdMarking); m != nil {
		lines = append(lines, m.Line())
	}
	return lines
}

// silent reports whether only the text of a post can tell that AI has made it.
func silent(on string) bool {
	row, _ := registry.Find(on)
	return on == "" || row.Capabilities.Origin.Silent()
}

// WithNotices returns a text of a post on a platform with the lines that it must have, without those that it has
// already.
func WithNotices(r *Record, text, on string) string {
	for _, line := range notices(r, on) {
		if !strings.Contains(text, line) {
			text = strings.TrimSpace(text + "\n\n" + line)
		}
	}
	return text
}

// noticeLength returns the characters that such lines take in a text.
func noticeLength(r *Record, on string) string {
	if text := WithNotices(r, "", on); text != "" {
		return "\n\n" + text
	}
	return ""
}
