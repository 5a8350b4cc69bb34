package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/content-automation/api/clients/internal/form"
	"github.com/content-automation/api/pkg/base/text"
)

// Values of TypeScript. An entry is a member of an object, and code is written as it is.
type (
	entry struct {
		key   string
		value any
	}
	props []entry
	array []any
	code  string
)

// get returns the value of a member, or nil.
func (o props) get(key string) any {
	for _, e := range o {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// insert returns the object with one more member, behind its type.
func (o props) insert(key string, value any) props {
	at := slices.IndexFunc(o, func(e entry) bool { return e.key == "type" })
	return slices.Insert(slices.Clone(o), at+1, entry{key, value})
}

// byName orders fields and options as their lists show them.
func byName(a, b any) int {
	name := func(v any) string {
		o := v.(props)
		if title, ok := o.get("displayName").(string); ok {
			return strings.ToLower(title)
		}
		return strings.ToLower(o.get("name").(string))
	}
	return strings.Compare(name(a), name(b))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// literal writes a value in one line, or else in a line for each of its members.
func literal(indent string, v any) string {
	var parts []string
	begin, end := "{", "}"
	inner := indent + "  "
	switch v := v.(type) {
	case code:
		return string(v)
	case string:
		return single(v)
	case props:
		for _, e := range v {
			parts = append(parts, tsName(e.key)+": "+literal(inner, e.value))
		}
	case array:
		begin, end = "[", "]"
		for _, one := range v {
			parts = append(parts, literal(inner, one))
		}
	default:
		return fmt.Sprint(v)
	}
	if len(parts) == 0 {
		return begin + end
	}
	line := begin + " " + strings.Join(parts, ", ") + " " + end
	if begin == "[" {
		line = begin + strings.Join(parts, ", ") + end
	}
	if !strings.Contains(line, "\n") && len(indent)+len(line) <= 100 {
		return line
	}
	return begin + "\n" + inner + strings.Join(parts, ",\n"+inner) + ",\n" + indent + end
}

// single writes a text in single quotes.
func single(text string) string {
	text = strings.NewReplacer(`\`, `\\`, "\n", " ").Replace(text)
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `\'`) + "'"
}

var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func tsName(name string) string {
	if plainName.MatchString(name) {
		return name
	}
	return single(name)
}

// capitals are the words that are written in capitals, and small those that are not at all.
var (
	capitals = map[string]string{"id": "ID", "ids": "IDs", "url": "URL", "api": "API", "ip": "IP", "sku": "SKU", "vk": "VK",
		"mime": "MIME", "sha256": "SHA256", "ai": "AI", "http": "HTTP", "youtube": "YouTube", "tiktok": "TikTok",
		"rutube": "RuTube", "json": "JSON", "openai": "OpenAI", "elevenlabs": "ElevenLabs", "heygen": "HeyGen"}
	small = []string{"to", "of", "a", "the", "by", "at", "in", "on", "per", "for", "and", "or", "from"}
)

// n8nTitle writes a name in title case.
func n8nTitle(name string) string {
	words := text.Words(name)
	for i, w := range words {
		switch {
		case capitals[w] != "":
			words[i] = capitals[w]
		case i == 0 || i == len(words)-1 || !slices.Contains(small, w):
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// n8nResource returns the name of a resource in the singular.
func n8nResource(name string) string {
	switch title := n8nTitle(name); {
	case name == "content":
		return "Content Item"
	case name == "analytics": // which has no singular
		return title
	case strings.HasSuffix(title, "ies"):
		return strings.TrimSuffix(title, "ies") + "y"
	default:
		return strings.TrimSuffix(title, "s")
	}
}

// n8nOperation returns the title and the value of an operation.
func n8nOperation(o form.Operation) (title, value string) {
	if o.Name == "list" {
		return "Get Many", "getAll"
	}
	if of, ok := strings.CutPrefix(o.Name, "list"); ok {
		return "Get Many " + n8nTitle(of), o.Name
	}
	return n8nTitle(o.Name), o.Name
}

// n8nAction writes the summary of an operation as an action.
func n8nAction(summary string) string {
	summary, _, _ = strings.Cut(n8nWords(strings.TrimSuffix(summary, ".")), ", ")
	if of, ok := strings.CutPrefix(summary, "List "); ok {
		return "Get many " + strings.TrimPrefix(of, "the ")
	}
	return summary
}

// firstSentence returns the first sentence of a text.
func firstSentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text, _, _ = strings.Cut(text, ". ")
	return text
}

// n8nOptions returns the options of an enumeration.
func n8nOptions(values []string) array {
	var all []any
	for _, v := range values {
		name := n8nTitle(v)
		switch area, all := strings.CutSuffix(v, ".*"); {
		case v == "*":
			name = "All"
		case all:
			name = n8nTitle(area) + " (All)"
		}
		all = append(all, props{{"name", name}, {"value", v}})
	}
	slices.SortFunc(all, byName)
	return all
}

// n8nChoose is the description that n8n asks for where the choice is loaded.
const n8nChoose = `Choose from the list, or specify IDs using an ` +
	`<a href="https://docs.n8n.io/code/expressions/">expression</a>`

var miscased = regexp.MustCompile(`\b([iI]ds?|[uU]rls?|[jJ]son)\b`)

// n8nWords writes ID, URL and JSON in capitals.
func n8nWords(text string) string {
	return miscased.ReplaceAllStringFunc(text, func(word string) string {
		upper := strings.ToUpper(word)
		if strings.HasSuffix(upper, "S") {
			return upper[:len(upper)-1] + "s"
		}
		return upper
	})
}

// n8nDoc writes a description: one sentence has no full stop, several have one each.
func n8nDoc(text string) string {
	text = strings.TrimSuffix(strings.TrimSpace(n8nWords(strings.ReplaceAll(text, "\n", " "))), ".")
	text = strings.NewReplacer("`", "", "<", "&lt;", ">", "&gt;").Replace(text)
	if text == "" {
		return ""
	}
	if strings.Contains(text, ". ") {
		text += "."
	}
	first := []rune(text)
	return string(unicode.ToUpper(first[0])) + string(first[1:])
}

// n8nFieldDoc returns the description of a field, with what its form asks for.
func n8nFieldDoc(doc, kind, shape, hint string) string {
	parts := []string{strings.TrimSuffix(strings.TrimSpace(strings.ReplaceAll(doc, ", separated by commas", "")), ".")}
	if kind == "boolean" && !strings.HasPrefix(doc, "Whether") {
		rest := []rune(strings.TrimPrefix(parts[0], "true: "))
		parts[0] = "Whether this applies: " + string(unicode.ToLower(rest[0])) + string(rest[1:])
	}
	switch {
	case shape == "list" && kind == "string":
		parts = append(parts, "Several values are separated by commas")
	case kind == "json" && hint != "":
		parts = append(parts, hint)
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return n8nDoc(strings.Join(parts, ". "))
}
