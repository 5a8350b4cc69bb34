package wire

import (
	"encoding/json"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// spoken are the members in which platforms explain a refusal to a person, the best first: error_user_msg of Meta,
// error_msg and error_text of VK, detail of X and Rutube, error_description of RFC 6749, description of Telegram, and
// message of all others. An error that is an object has them, too.
var spoken = []string{"error_user_msg", "error_msg", "error_text", "detail", "error_description", "description",
	"message"}

// most bounds the explanations of one refusal, which some platforms give for each wrong member.
const most = 5

// said returns the platform's explanation of a refusal without the secrets of the call, or an empty text.
func said(a Answer, secrets []string) string {
	var body any
	if json.Unmarshal(a.Body, &body) != nil {
		return ""
	}
	text := strings.Join(distinct(explanations(body)), " ")
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s)} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "[removed]")
			}
		}
	}
	return text
}

// explanations returns the explanations in a body: those of an object, of its error and of its errors, or those of each
// member in the form of Rutube, {"title": ["…"]}.
func explanations(body any) (all []string) {
	switch b := body.(type) {
	case string:
		if b = strings.TrimSpace(plain(b)); b != "" {
			return []string{b}
		}
	case []any:
		for _, one := range b {
			all = append(all, explanations(one)...)
		}
		return all
	case map[string]any:
		return ofObject(b)
	}
	return nil
}

func ofObject(b map[string]any) (all []string) {
	if inner, ok := b["error"].(map[string]any); ok {
		if all = ofObject(inner); len(all) > 0 {
			return all
		}
	}
	for _, member := range spoken {
		if all = explanations(b[member]); len(all) > 0 {
			break
		}
	}
	if listed, ok := b["errors"].([]any); ok {
		all = append(all, explanations(listed)...)
	}
	if len(all) > 0 {
		return all
	}
	for _, member := range slices.Sorted(maps.Keys(b)) {
		texts, ok := b[member].([]any)
		if !ok || member == "errors" || member == "request_params" {
			continue
		}
		for _, one := range texts {
			text, ok := one.(string)
			if !ok {
				continue
			}
			if member != "non_field_errors" {
				text = member + ": " + text
			}
			all = append(all, plain(text))
		}
	}
	if len(all) > 0 {
		return all
	}
	// A platform that explains nothing has at least named the error.
	for _, member := range []string{"error", "code"} {
		if name, ok := b[member].(string); ok && name != "" {
			return []string{name}
		}
	}
	return nil
}

// distinct returns the first explanations, each once.
func distinct(all []string) (some []string) {
	for _, text := range all {
		if !slices.Contains(some, text) && len(some) < most {
			some = append(some, text)
		}
	}
	return some
}

var tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`</?[A-Za-z!][^<>]*>`) })

// plain removes the tags of HTML from an explanation, such as those of the links in Google's. It keeps a tag in quotes,
// because that is what the explanation is about.
func plain(text string) string {
	text = html.UnescapeString(text)
	var b strings.Builder
	end := 0
	for _, at := range tag().FindAllStringIndex(text, -1) {
		b.WriteString(text[end:at[0]])
		if quoted := strings.HasSuffix(text[:at[0]], `"`) && strings.HasPrefix(text[at[1]:], `"`); quoted {
			b.WriteString(text[at[0]:at[1]])
		}
		end = at[1]
	}
	return b.String() + text[end:]
}
