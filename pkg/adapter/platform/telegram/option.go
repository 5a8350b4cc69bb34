package telegram

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/content-automation/api/pkg/adapter/platform"
)

// These options are members of the shape of Telegram alone.
const (
	optionFormat  platform.Option = "format"
	optionProtect platform.Option = "protect"
	optionPreview platform.Option = "link_preview"
)

// formatHTML is the value of the option format for texts in HTML.
const formatHTML = "html"

// Options are the options of posts on Telegram, as callers send them.
type Options struct {
	platform.Visible
	platform.Quiet
	// How the caption is written. html: with the tags b, i, u, s, code, pre, blockquote, tg-spoiler and a with href; <,
	// > and & are written as &lt;, &gt; and &amp;. Absent: plain text.
	Format string `json:"format,omitempty" enum:"plain,html"`
	// Lets readers neither forward nor save the post.
	Protect bool `json:"protect,omitempty"`
	// Whether the preview of the first link is shown below a post without media. Absent: true.
	LinkPreview *bool `json:"link_preview,omitempty"`
}

// optionsOf returns the options of a post.
func optionsOf(o platform.Options) Options {
	own, _ := o.Own.(Options)
	return own
}

// markup returns the markup of a text with the options. Telegram counts a text after it has read the markup.
func markup(o platform.Options) platform.Markup {
	if optionsOf(o).Format == formatHTML {
		return platform.HTML
	}
	return ""
}

// params returns the parameters that the options add to a call that sends a message or changes its text.
func (o Options) params(sends, text bool) map[string]any {
	all := map[string]any{}
	if o.Format == formatHTML {
		all["parse_mode"] = "HTML"
	}
	if sends && o.Silent {
		all["disable_notification"] = true
	}
	if sends && o.Protect {
		all["protect_content"] = true
	}
	if text && o.LinkPreview != nil && !*o.LinkPreview {
		all["link_preview_options"] = map[string]bool{"is_disabled": true}
	}
	return all
}

// tags are the tags of a text.
var tags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<(/?)([a-z-]+)((?: [a-z]+="[^"<>]*")?)>`)
})

// formats are the tags that Telegram takes, and attributes the one attribute of some.
var (
	formats = []string{"b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "code", "pre", "blockquote",
		"tg-spoiler", "a"}
	attributes = map[string]string{"a": "href", "code": "class"}
)

// malformed returns what is wrong with a text in HTML, or "".
func malformed(text string) string {
	var open []string
	for _, m := range tags().FindAllStringSubmatch(text, -1) {
		closes, name, attribute := m[1] != "", m[2], strings.TrimSpace(m[3])
		known, _, _ := strings.Cut(attribute, "=")
		switch {
		case !slices.Contains(formats, name):
			return "has the tag " + name + ", which Telegram does not take. It takes " + strings.Join(formats, ", ") +
				"."
		case attribute != "" && (closes || attributes[name] != known), name == "a" && !closes && attribute == "":
			return "has the tag " + name + " with a wrong attribute: only a has one, href."
		case !closes:
			open = append(open, name)
		case len(open) == 0 || open[len(open)-1] != name:
			return "closes the tag " + name + ", which is not the one that was opened last."
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return "does not close the tag " + open[len(open)-1] + "."
	}
	rest := tags().ReplaceAllString(text, "")
	if strings.ContainsAny(rest, "<>") {
		return "has a < or > that belongs to no tag: write &lt; or &gt;."
	}
	if strings.TrimSpace(html.UnescapeString(rest)) == "" && text != "" {
		return "has tags, and no text."
	}
	return ""
}

// refuses returns what is wrong with the options of a post.
func refuses(p platform.Post) (found []platform.Problem) {
	own := optionsOf(p.Options)
	if own.LinkPreview != nil && len(p.Media) > 0 {
		found = append(found, platform.Wrong(Name, optionPreview, "is of posts without media: a post with media shows "+
			"no preview of a link."))
	}
	if own.Format != formatHTML {
		return found
	}
	arranged := platform.Arrange(p, platform.Capabilities{Kinds: kinds, Hashtags: hashtags, Markup: markup})
	if arranged.Rest != "" {
		found = append(found, platform.Wrong(Name, optionFormat, "is taken for a caption of up to 1,024 characters "+
			"with "+
			"media: a longer one becomes two messages, and its tags could be cut."))
	}
	if wrong := malformed(p.Caption); wrong != "" {
		found = append(found, platform.Problem{Platform: Name, Param: "caption", Message: "With " +
			"options.telegram.format " +
			"html, the caption " + wrong})
	}
	return found
}
